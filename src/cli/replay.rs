//! `weir replay FILE`: send a day of requests through the gateway and straight to the upstream, and compare.

use std::path::PathBuf;
use std::process::ExitCode;

/// What to send.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSONL of {`at_ms`, path, headers, body, group}
    pub file: PathBuf,
}

/// Runs to the end of the file.
#[expect(clippy::unused_async, reason = "the replayer lands with `replay`")]
pub async fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build cannot replay yet")
}
