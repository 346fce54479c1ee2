//! `weir explain A B --task T`: what each tier and the guard say of two texts.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};

use crate::config::{Config, Loader, Overrides};
use crate::domain::{Score, Sharing, TaskName};
use crate::embed::{EmbedState, Embedder, OnnxEmbedder};
use crate::matching::{Difference, Explanation, MatchPolicy, Matcher, Steps, TierReport};
use crate::meter::Meter;
use crate::text::Lexicon;

/// The two texts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The first question
    pub a: String,
    /// The second question
    pub b: String,
    /// Task type whose policy applies
    #[arg(long, value_name = "T", default_value = "default")]
    pub task: String,
    /// Configuration file (TOML); without one the defaults hold
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Prints what each tier and the guard say; exit 0 whatever that is.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (_, loaded) = Loader::start(args.config.as_deref(), Overrides::default())?;
    let policy = policy_of(&loaded.config, &args.task)?;
    let semantic = similarity(&loaded.config, &args.a, &args.b).await;
    if let Err(reason) = &semantic {
        eprintln!("no embeddings: {reason:#}");
    }
    let matcher = Matcher::new(Arc::new(Lexicon::load()));
    let explanation = matcher.explain(&policy, &args.a, &args.b, semantic.ok());
    if args.json {
        println!("{}", serde_json::to_string_pretty(&explanation)?);
    } else {
        print!("{}", for_people(&args.task, &explanation));
    }
    Ok(ExitCode::SUCCESS)
}

fn policy_of(config: &Config, task: &str) -> anyhow::Result<MatchPolicy> {
    let policies = config.policies()?;
    let name = TaskName::new(task);
    if !policies.iter().any(|(known, _)| *known == name) {
        let known: Vec<_> = policies.iter().map(|(known, _)| known.as_str()).collect();
        bail!("unknown task {task:?}; known are: {}", known.join(", "));
    }
    Ok(policies.of(&name).matching(Sharing::ByMeaning))
}

/// The cosine of the two embeddings, or why there is none.
async fn similarity(config: &Config, a: &str, b: &str) -> anyhow::Result<Score> {
    let embedder = OnnxEmbedder::start(&config.embedder, Meter::new());
    match embedder.loaded().await {
        EmbedState::Ready => {}
        EmbedState::Failed(reason) => bail!("{reason}"),
        EmbedState::Off | EmbedState::Loading => bail!("the embedder is switched off"),
    }
    let one = embedder.embed(a).await.context("of the first text")?;
    let other = embedder.embed(b).await.context("of the second text")?;
    Ok(one.cosine(&other))
}

fn for_people(task: &str, explanation: &Explanation) -> String {
    let mut out = String::new();
    push_steps(&mut out, "A", &explanation.a);
    push_steps(&mut out, "B", &explanation.b);
    out.push('\n');
    for report in &explanation.tiers {
        push_tier(&mut out, report);
    }
    if !explanation.differences.is_empty() {
        out.push_str("\ndifferences\n");
    }
    for difference in &explanation.differences {
        push_difference(&mut out, difference);
    }
    let verdict = match (explanation.share, explanation.decided_by, explanation.veto) {
        (true, Some(tier), _) => format!("may share one answer ({tier})"),
        (_, Some(tier), Some(veto)) => format!("must not share: {tier} proposes it, the guard refuses ({veto})"),
        _ => "must not share: no tier proposes it".to_owned(),
    };
    let _ = writeln!(out, "\ntask {task}: {verdict}");
    out
}

fn push_steps(out: &mut String, name: &str, steps: &Steps) {
    let _ = writeln!(out, "{name}  normal     {}", steps.normal);
    let _ = writeln!(out, "   canonical  {}", steps.canonical);
    let _ = writeln!(out, "   reading    {}", steps.reading.join(" | "));
}

fn push_tier(out: &mut String, report: &TierReport) {
    let score = report.score.map_or("-".to_owned(), |score| score.to_string());
    let opinion = match (report.threshold, report.proposes) {
        (None, _) => "off".to_owned(),
        (Some(least), true) => format!("proposes (at least {least})"),
        (Some(least), false) => format!("does not propose (at least {least})"),
    };
    let _ = writeln!(out, "{:<10} {score:>6}  {opinion}", report.tier.as_str());
}

fn push_difference(out: &mut String, difference: &Difference) {
    let opinion = difference.veto.map_or("says the same".to_owned(), |veto| format!("veto: {veto}"));
    let _ = writeln!(out, "  {:?} / {:?}: {opinion}", difference.a, difference.b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::lexicon;

    #[test]
    fn people_are_told_the_reason_and_the_words() {
        let matcher = Matcher::new(lexicon().clone());
        let policy = MatchPolicy { canonical: true, lexical: Score::new(0.2).ok(), semantic: None };
        let told = for_people("faq", &matcher.explain(&policy, "怎么把蓝牙打开", "如何把蓝牙关掉？", None));
        assert!(told.contains("the guard refuses (antonym)"), "{told}");
        assert!(told.contains("says the same") && told.contains("veto: antonym"), "{told}");
        assert!(told.contains("semantic        -  off"), "{told}");
    }
}
