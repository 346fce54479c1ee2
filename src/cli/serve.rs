//! `weir serve`: run the gateway.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::{Loader, Overrides};
use crate::{app, telemetry};

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

/// Runs until a signal stops it; exit 0 after an orderly stop.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let overrides = Overrides { upstream: args.upstream, listen: args.listen, admin: args.admin };
    let (loader, initial) = Loader::start(args.config.as_deref(), overrides)?;
    let level = telemetry::install(&initial.config.log)?;
    telemetry::quiet_panics();
    let upstream = initial.config.upstream.url.clone();
    let serving = app::start(loader, initial, level).await?;
    let stops = app::signals()?;
    println!("weir {}", env!("CARGO_PKG_VERSION"));
    println!("  callers    http://{}", serving.callers()?);
    println!("  operators  http://{}/metrics", serving.operators()?);
    println!("  upstream   {upstream}");
    serving.run(stops).await;
    Ok(ExitCode::SUCCESS)
}
