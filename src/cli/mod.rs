//! The commands. Each has a file with its `Args` and a `run`; nothing else of the crate knows about them.
//!
//! Here, and in `main`, `anyhow` is allowed: an error that reaches a command line is for a person to read.
//! Exit codes: 0 = done, 1 = failed or found wrong, 2 = the command line was not understood.

mod check;
mod explain;
mod replay;
mod serve;
mod sim;

use std::future::Future;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

/// A semantic request-coalescing gateway in front of OpenAI-compatible inference servers.
#[derive(Debug, Parser)]
#[command(name = "weir", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway
    Serve(serve::Args),
    /// Validate a configuration, or print every default
    Check(check::Args),
    /// Say what each tier and the guard think of two texts
    Explain(explain::Args),
    /// Run a simulated GPU server that speaks the OpenAI wire format
    Sim(sim::Args),
    /// Send a recorded or generated day through the gateway and compare it with a direct run
    Replay(replay::Args),
}

// === impl Cli ===

impl Cli {
    /// Runs the command to its end.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Serve(args) => on_runtime(serve::run(args)),
            Command::Check(args) => check::run(&args),
            Command::Explain(args) => on_runtime(explain::run(args)),
            Command::Sim(args) => on_runtime(sim::run(args)),
            Command::Replay(args) => on_runtime(replay::run(args)),
        }
    }
}

fn on_runtime(command: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?
        .block_on(command)
}
