//! `weir explain A B --task T`: what each tier and the guard say of two texts.

use std::fmt::Write as _;

use clap::Args;

use crate::domain::Score;
use crate::matching::{Difference, Explanation, MatchPolicy, Matcher, Steps, TierReport};

/// What the command takes. The task's policy is looked up by the caller.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// The first question
    pub a: String,
    /// The second question
    pub b: String,
    /// Task type whose thresholds apply
    #[arg(long, default_value = "default")]
    pub task: String,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Prints what each tier and the guard say. `semantic` is the cosine of the two embeddings, if an embedder
/// was at hand.
pub fn run(args: &ExplainArgs, matcher: &Matcher, policy: &MatchPolicy, semantic: Option<Score>) -> anyhow::Result<()> {
    let explanation = matcher.explain(policy, &args.a, &args.b, semantic);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&explanation)?);
    } else {
        print!("{}", for_people(&args.task, &explanation));
    }
    Ok(())
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
