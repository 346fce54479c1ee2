//! What an operator may say about the embedding model.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The section `[embedder]`. All of it is read at start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whether there is a semantic tier at all.
    pub enabled: bool,
    /// The shared library of ONNX Runtime, 1.24 or newer.
    pub runtime: PathBuf,
    /// The folder of the model: `model.onnx`, the four tokenizer files and perhaps a `model.toml`.
    pub model: PathBuf,
    /// Instead of `model`: a name from fastembed's list, such as `BGESmallZHV15`, fetched from the model hub at
    /// start into the folder `model`. Only in a build with the cargo feature `hub`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<String>,
    /// Put before every text. Without it, what `model.toml` says, else nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// How token vectors become one vector. Without it, what `model.toml` says, else the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// The longest text in tokens, prefix and special tokens included. Without it, what `model.toml` says, else 256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Threads, each with a model (and its memory) of its own.
    pub threads: usize,
    /// Texts that may wait for a thread.
    pub queue: usize,
    /// The longest time that a call waits for its embedding.
    #[serde(with = "crate::domain::duration_text")]
    pub budget: Duration,
    /// Memory for embeddings already made, in bytes.
    #[serde(with = "crate::domain::bytes_text")]
    pub cache: u64,
}

/// How the vectors of the tokens become the vector of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their mean.
    #[default]
    Mean,
    /// The first one.
    Cls,
    /// The model gives the vector of the text itself.
    None,
}

/// A value that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A number is out of its range.
    #[error("embedder.{key} is {value}, allowed are {least} to {most}")]
    Number {
        /// The key within the section.
        key: &'static str,
        /// What was given.
        value: u64,
        /// The least value allowed.
        least: u64,
        /// The greatest value allowed.
        most: u64,
    },
    /// The budget is out of its range.
    #[error("embedder.budget is {0:?}, allowed are 1ms to 10s")]
    Budget(Duration),
    /// A path is empty.
    #[error("embedder.{0} is empty; set embedder.enabled = false to run without a model")]
    EmptyPath(&'static str),
    /// The build cannot fetch models.
    #[error("embedder.hub is set, but this build is without the cargo feature `hub`")]
    NoHub,
}

// === impl Config ===

/// 20 ms is three times what the default model takes for a question of 128 tokens, and little against an
/// inference. 64 MiB are about 25,000 embeddings of 512 dimensions.
impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            runtime: "models/runtime/libonnxruntime.so".into(),
            model: "models/use-multilingual-3".into(),
            hub: None,
            prefix: None,
            pooling: None,
            max_tokens: None,
            threads: 1,
            queue: 256,
            budget: Duration::from_millis(20),
            cache: 64 << 20,
        }
    }
}

impl Config {
    /// Refuses what makes no sense. Whether the files exist is found out in the background at start: a
    /// missing model costs one tier, not the gateway.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("threads", self.threads as u64, 1, 64)?;
        in_range("queue", self.queue as u64, 1, 65_536)?;
        in_range("cache", self.cache, 0, 1 << 40)?;
        in_range("max_tokens", self.max_tokens.unwrap_or(1) as u64, 1, 32_768)?;
        if !(Duration::from_millis(1)..=Duration::from_secs(10)).contains(&self.budget) {
            return Err(ConfigError::Budget(self.budget));
        }
        if self.hub.is_some() && !cfg!(feature = "hub") {
            return Err(ConfigError::NoHub);
        }
        for (key, path) in [("runtime", &self.runtime), ("model", &self.model)] {
            if self.enabled && path.as_os_str().is_empty() {
                return Err(ConfigError::EmptyPath(key));
            }
        }
        Ok(())
    }
}

fn in_range(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(ConfigError::Number { key, value, least, most }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_accepted_and_read_back() {
        let defaults = Config::default();
        assert_eq!(defaults.check(), Ok(()));
        assert_eq!(toml::from_str::<Config>(&toml::to_string(&defaults).unwrap()), Ok(defaults));
    }

    #[test]
    fn a_value_out_of_range_is_refused_by_name() {
        for (key, config) in [
            ("threads", Config { threads: 0, ..Config::default() }),
            ("queue", Config { queue: 0, ..Config::default() }),
            ("max_tokens", Config { max_tokens: Some(0), ..Config::default() }),
            ("budget", Config { budget: Duration::ZERO, ..Config::default() }),
            ("model", Config { model: PathBuf::new(), ..Config::default() }),
        ] {
            let error = config.check().unwrap_err().to_string();
            assert!(error.contains(&format!("embedder.{key}")), "{error}");
        }
    }
    #[cfg(not(feature = "hub"))]
    #[test]
    fn a_build_without_the_hub_says_so() {
        let config = Config { hub: Some("BGESmallZHV15".into()), ..Config::default() };
        assert_eq!(config.check(), Err(ConfigError::NoHub));
    }
}
