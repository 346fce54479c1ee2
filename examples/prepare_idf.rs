//! Prepares `src/text/data/idf.tsv`, the table of how rare each term is.
//!
//! ```text
//! cargo run --release --example prepare_idf -- DICT BANKING77 CLINC150 PAWSX_EN > src/text/data/idf.tsv
//! ```
//!
//! Chinese: from the frequencies of jieba's own dictionary (`dict.txt` of the jieba-rs sources), as the share of
//! questions of typical length in which a word would stand. English: from the share of the texts of three
//! openly licensed data sets in which a word stands. A term that would be as rare as an unknown one is left
//! out. See the README beside the table for sources and licences.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::{env, fs};

use anyhow::{Context, bail};

/// IDF of a term that the table does not hold: `ln(10000)`.
const UNKNOWN: f64 = 9.210_340_371_976_184;
/// Words in a typical question.
const QUESTION: f64 = 15.0;

fn main() -> anyhow::Result<()> {
    let [dict, banking, clinc, paws] = &env::args().skip(1).collect::<Vec<_>>()[..] else {
        bail!("usage: prepare_idf DICT BANKING77 CLINC150 PAWSX_EN");
    };
    let mut table = chinese(&fs::read_to_string(dict).context("reading the dictionary")?);
    let (banking, paws) = (column(banking, &[1])?, column(paws, &[0, 1])?);
    let cased: Vec<&String> = banking.iter().chain(&paws).collect();
    let common = written_small(&cased);
    let clinc = column(clinc, &[2])?;
    let texts: Vec<&String> = cased.into_iter().chain(&clinc).collect();
    table.extend(english(&texts));
    for (term, idf) in table {
        let mark = if common.contains(&term) { "\tc" } else { "" };
        println!("{term}\t{:.0}{mark}", idf * 100.0);
    }
    Ok(())
}

fn column(file: impl AsRef<Path>, columns: &[usize]) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.as_ref().display()))?;
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    Ok(rows
        .flat_map(|row| columns.iter().filter_map(|at| row.get(*at).map(ToString::to_string)).collect::<Vec<_>>())
        .collect())
}

fn chinese(dict: &str) -> BTreeMap<String, f64> {
    let entries: Vec<(&str, f64)> = dict
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            Some((fields.next()?, fields.next()?.parse().ok()?))
        })
        .collect();
    let total: f64 = entries.iter().map(|(_, count)| count).sum();
    let in_question = |count: f64| 1.0 - (-QUESTION * count / total).exp();
    entries
        .into_iter()
        .map(|(word, count)| (word.to_owned(), -in_question(count).ln()))
        .filter(|(word, idf)| *idf < UNKNOWN - 0.5 && !word.is_ascii())
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphabetic() && c != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|w| !w.is_empty())
}

fn english(texts: &[&String]) -> BTreeMap<String, f64> {
    let mut holding: HashMap<String, u32> = HashMap::new();
    for text in texts {
        let distinct: HashSet<String> = words(text).map(str::to_ascii_lowercase).collect();
        for word in distinct {
            *holding.entry(word).or_default() += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "tens of thousands of texts")]
    let all = texts.len() as f64;
    let kept = holding.into_iter().filter(|(_, count)| *count >= 2);
    kept.map(|(word, count)| (word, (all / f64::from(count)).ln().clamp(0.01, UNKNOWN))).collect()
}

/// Words that people who use capitals write in small letters, at least once for each time that they capitalise them
/// inside a sentence: those are words, and not only names.
fn written_small(texts: &[&String]) -> HashSet<String> {
    let mut balance: HashMap<String, i64> = HashMap::new();
    for text in texts.iter().filter(|text| text.starts_with(|c: char| c.is_ascii_uppercase())) {
        for word in words(text).skip(1) {
            let small = word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'');
            *balance.entry(word.to_ascii_lowercase()).or_default() += if small { 1 } else { -1 };
        }
    }
    balance.into_iter().filter(|(_, balance)| *balance >= 0).map(|(word, _)| word).collect()
}
