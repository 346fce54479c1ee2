//! `weir sim`: a simulated GPU server.

use std::process::ExitCode;

/// How the simulated server behaves.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs until a signal stops it.
#[expect(clippy::unused_async, reason = "the simulator lands with `sim`")]
pub async fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build cannot simulate yet")
}
