//! `weir explain A B --task T`: what each tier and the guard say of two texts.

use std::process::ExitCode;
use std::sync::Arc;

use crate::domain::{Score, Sharing, TaskName};
use crate::gateway::policy::Policies;
use crate::matching::Matcher;
use crate::text::Lexicon;

/// The two texts, and whose policy applies to them.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The first question
    pub a: String,
    /// The second question
    pub b: String,
    /// Task type whose thresholds apply
    #[arg(long, value_name = "T", default_value = "default")]
    pub task: String,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Prints what each tier and the guard say, under the built-in policies.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let policy = Policies::default().of(&TaskName::new(&args.task)).matching(Sharing::ByMeaning);
    let semantic: Option<Score> = None;
    let explanation = Matcher::new(Arc::new(Lexicon::load())).explain(&policy, &args.a, &args.b, semantic);
    println!("{}", serde_json::to_string_pretty(&explanation)?);
    Ok(ExitCode::SUCCESS)
}
