//! `weir serve`: run the gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where to listen, what to stand in front of.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Base URL of the inference server, http or https, with its base path if it has one
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// Address for callers
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Address for metrics and administration
    #[arg(long, value_name = "ADDR")]
    pub admin: Option<SocketAddr>,
    /// Configuration file (TOML); without one the defaults hold
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs until a signal stops it.
#[expect(clippy::unused_async, reason = "the server lands with `app`")]
pub async fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build cannot serve yet")
}
