//! `weir check`: validate a configuration, or print every default.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::{Loader, Overrides, defaults_as_toml};

/// What to check.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Configuration file (TOML)
    #[arg(long, value_name = "FILE", default_value = "config/weir.toml")]
    pub config: PathBuf,
    /// Print every default as a configuration file, and check nothing
    #[arg(long)]
    pub defaults: bool,
}

/// Exit 0 if the configuration is sound, 1 with everything that is wrong otherwise.
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.defaults {
        print!("{}", defaults_as_toml());
        return Ok(ExitCode::SUCCESS);
    }
    match Loader::start(Some(&args.config), Overrides::default()) {
        Ok((_, loaded)) => {
            println!("{}: sound, hash {}", args.config.display(), loaded.config.hash());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            for problem in error.problems() {
                eprintln!("{problem}");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
