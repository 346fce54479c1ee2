//! Measures the matcher on labelled pairs: how many pairs that must not share do, and how many that may.
//!
//! ```text
//! cargo run --release --example measure_pairs -- FILE.tsv...
//! ```
//!
//! A file has a header line with the columns `label`, `text_a` and `text_b` (1: same meaning, 0: must not share).
//! Every pair is compared in both orders, with all tiers on, the semantic one pretending complete similarity:
//! the guard alone decides. Pairs with equal texts are left out and counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use anyhow::Context;
use tokio::time::Instant;
use weir::domain::{Score, Tier};
use weir::matching::{MatchPolicy, Matcher, Verdict};
use weir::text::Lexicon;
use weir::vector::Embedding;

fn main() -> anyhow::Result<()> {
    let matcher = Matcher::new(Arc::new(Lexicon::load()));
    let verbose = env::var_os("SHOW").is_some();
    for file in env::args().skip(1) {
        measure(&matcher, &file, verbose)?;
    }
    Ok(())
}

fn measure(matcher: &Matcher, file: &str, verbose: bool) -> anyhow::Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {file}"))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().context("no header")?.split('\t').collect();
    let column =
        |name: &str| header.iter().position(|column| *column == name).with_context(|| format!("no column {name}"));
    let (label, a, b) = (column("label")?, column("text_a")?, column("text_b")?);
    let (mut equal, mut seen, mut merged, mut took) = (0, [0; 2], [0; 2], Vec::new());
    let mut tiers: BTreeMap<Tier, u32> = BTreeMap::new();
    let mut vetoes: BTreeMap<&str, u32> = BTreeMap::new();
    for row in lines.map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row.len() == header.len()) {
        if row[a] == row[b] {
            equal += 1;
            continue;
        }
        let positive = usize::from(row[label] == "1");
        seen[positive] += 1;
        let (found, time) = verdict(matcher, row[a], row[b]);
        took.push(time);
        match found {
            Verdict::Same(found) => {
                merged[positive] += 1;
                if positive == 1 {
                    *tiers.entry(found.tier).or_default() += 1;
                } else {
                    println!("FALSE {} | {} | {}", found.tier, row[a], row[b]);
                }
            }
            Verdict::Vetoed { reason, .. } => {
                if positive == 1 && verbose {
                    println!("missed {reason} | {} | {}", row[a], row[b]);
                }
                *vetoes.entry(reason.as_str()).or_default() += u32::from(positive == 0);
            }
            Verdict::Different => {}
        }
    }
    println!("{file}: {equal} equal pairs left out");
    println!("  must not share: {} of {} merged", merged[0], seen[0]);
    println!("  may share: {} of {} merged, by {tiers:?}", merged[1], seen[1]);
    took.sort_unstable();
    println!(
        "  a comparison with features made took {:?} (median)",
        took.get(took.len() / 2).copied().unwrap_or_default()
    );
    println!("  vetoes of pairs that must not share: {vetoes:?}");
    Ok(())
}

fn verdict(matcher: &Matcher, a: &str, b: &str) -> (Verdict, Duration) {
    let policy =
        MatchPolicy { canonical: true, lexical: Some(Score::clamped(0.6)), semantic: Some(Score::clamped(0.9)) };
    let (a, b) = (matcher.features(a), matcher.features(b));
    // As if every pair meant the same to the model: the guard must hold alone.
    if let Some(direction) = Embedding::new(&[1.0]) {
        a.set_embedding(direction.clone());
        b.set_embedding(direction);
    }
    let found = matcher.compare(&policy, &a, &b);
    let began = Instant::now();
    assert_eq!(found, matcher.compare(&policy, &b, &a), "the order decides");
    (found, began.elapsed())
}
