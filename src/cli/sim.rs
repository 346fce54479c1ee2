//! `weir sim`: a simulated GPU server.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use crate::domain::duration_text;
use crate::sim::{Sim, SimConfig};

/// How the simulated server behaves.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
    /// How large and how fast it is
    #[command(flatten)]
    pub size: SimSize,
    /// Names that /v1/models lists
    #[arg(long = "model", value_name = "NAME", default_value = "sim-model")]
    pub models: Vec<String>,
    /// The only bearer key that is let in
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<String>,
}

/// Size and speed of the simulated GPU; what is not given stays as it is (the defaults are `SimConfig`'s,
/// or the replayed story's).
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SimSize {
    /// Inferences that run at once; the others wait
    #[arg(long, value_name = "N")]
    pub slots: Option<usize>,
    /// Fixed time of every inference
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    pub overhead: Option<Duration>,
    /// Time to read one prompt token
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    pub prefill: Option<Duration>,
    /// Time to write one output token
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    pub decode: Option<Duration>,
    /// Fewest tokens of an answer
    #[arg(long, value_name = "N")]
    pub output_min: Option<u32>,
    /// Most tokens of an answer
    #[arg(long, value_name = "N")]
    pub output_max: Option<u32>,
}

// === impl SimSize ===

impl SimSize {
    /// The given sizes over those of `base`.
    #[must_use]
    pub fn over(&self, base: SimConfig) -> SimConfig {
        let least = self.output_min.unwrap_or(*base.output_tokens.start());
        let most = self.output_max.unwrap_or(*base.output_tokens.end()).max(least);
        SimConfig {
            slots: self.slots.unwrap_or(base.slots),
            overhead: self.overhead.unwrap_or(base.overhead),
            prefill: self.prefill.unwrap_or(base.prefill),
            decode: self.decode.unwrap_or(base.decode),
            output_tokens: least..=most,
            ..base
        }
    }
}

/// Runs until it is interrupted.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let base = SimConfig { listen: args.listen, models: args.models, api_key: args.api_key, ..SimConfig::default() };
    let sim = Sim::start(args.size.over(base)).await.with_context(|| format!("cannot listen on {}", args.listen))?;
    println!("simulated GPU server on {}", sim.url());
    tokio::signal::ctrl_c().await.context("cannot wait for a signal")?;
    Ok(ExitCode::SUCCESS)
}
