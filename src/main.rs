//! The `weir` binary: parse the command line, run the command, turn its error into one line and an exit code.

use std::process::ExitCode;

use clap::Parser;
use weir::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("weir: {error:#}");
            ExitCode::FAILURE
        }
    }
}
