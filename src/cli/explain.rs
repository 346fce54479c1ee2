//! `weir explain A B`: what each tier and the guard say of two texts.

use std::process::ExitCode;

/// The two texts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One text
    pub a: String,
    /// The other text
    pub b: String,
    /// The task whose policy applies
    #[arg(long, value_name = "T", default_value = "default")]
    pub task: String,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Exit 0 whatever the verdict is.
pub fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build cannot explain yet")
}
