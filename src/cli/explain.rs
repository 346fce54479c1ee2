//! `weir explain A B --task T`: what each tier and the guard say of two texts.

use clap::Args;

use crate::domain::Score;
use crate::matching::{MatchPolicy, Matcher};

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
    println!("{}", serde_json::to_string_pretty(&explanation)?);
    Ok(())
}
