//! Logs: one line per record, as text or JSON, never a prompt, never a key.
//!
//! The level comes from the configuration and can be changed while running; the environment variable
//! `WEIR_LOG` wins over both, so that an operator can look closer at one process without touching a file.

mod panics;
mod repeating;

use std::io::{self, IsTerminal};

use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, ParseError};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, Registry};

pub use panics::quiet_panics;
pub use repeating::Repeating;

/// The environment variable that wins over the configured level.
pub const LEVEL_VARIABLE: &str = "WEIR_LOG";

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// For people; coloured on a terminal.
    Text,
    /// One JSON object a line.
    Json,
}

/// Section `[log]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A level (off, error, warn, info, debug, trace) or filters such as `info,weir::gateway=debug`.
    /// Default info.
    pub level: String,
    /// Default text. Read at start only.
    pub format: Format,
}

/// A level that does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("level: {text:?} is neither a level (off, error, warn, info, debug, trace) nor a list of filters")]
pub struct LevelError {
    text: String,
}

/// The logger could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The level does not read.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// There is one already.
    #[error("a logger is installed already")]
    Installed(#[from] TryInitError),
}

/// Changes the level of the running logger. The default one changes nothing.
#[derive(Clone, Debug, Default)]
pub struct LevelHandle {
    /// `None` if `WEIR_LOG` decides, or nobody installed a logger.
    filter: Option<reload::Handle<EnvFilter, Registry>>,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: Format::Text }
    }
}

impl Config {
    /// Refuses a level that does not read.
    pub fn check(&self) -> Result<(), LevelError> {
        filter(&self.level).map(drop)
    }
}

/// Installs the logger of this process, writing to standard error.
pub fn install(config: &Config) -> Result<LevelHandle, TelemetryError> {
    let from_environment = std::env::var(LEVEL_VARIABLE).ok().filter(|level| !level.is_empty());
    let (layer, handle) = reload::Layer::new(filter(from_environment.as_deref().unwrap_or(&config.level))?);
    let records = match config.format {
        Format::Text => {
            let colours = io::stderr().is_terminal();
            tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(colours).boxed()
        }
        Format::Json => tracing_subscriber::fmt::layer()
            .with_writer(io::stderr)
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
    };
    tracing_subscriber::registry().with(layer).with(records).try_init()?;
    Ok(LevelHandle { filter: from_environment.is_none().then_some(handle) })
}

/// `EnvFilter` takes any word for the name of a target; a mistyped level must not silence the log.
fn filter(level: &str) -> Result<EnvFilter, LevelError> {
    let refused = || LevelError { text: level.to_owned() };
    let single = !level.contains(['=', ',', '[']);
    if level.trim().is_empty() || (single && level.parse::<LevelFilter>().is_err()) {
        return Err(refused());
    }
    EnvFilter::try_new(level).map_err(|_: ParseError| refused())
}

// === impl LevelHandle ===

impl LevelHandle {
    /// Applies a new level at once; does nothing while `WEIR_LOG` decides.
    pub fn set(&self, level: &str) -> Result<(), LevelError> {
        let new = filter(level)?;
        if let Some(handle) = &self.filter {
            // Fails only if the subscriber is gone, and with it the log.
            let _ = handle.reload(new);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_level_is_refused_and_filters_are_taken() {
        let config = |level: &str| Config { level: level.to_owned(), ..Config::default() };
        for good in ["info", "WARN", "off", "info,weir::gateway=debug", "weir=trace"] {
            assert!(config(good).check().is_ok(), "{good}");
        }
        for bad in ["", "inof", "loud", "weir=loud"] {
            let error = config(bad).check().expect_err(bad).to_string();
            assert!(error.starts_with("level: "), "{error}");
        }
    }
}
