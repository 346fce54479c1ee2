//! How to reach the upstream, and for how long to wait for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Base;
use crate::domain::{Secret, bytes_text, duration_text};

/// Whether Weir adds `stream_options.include_usage` to a streaming request that lacks it, so that tokens are
/// counted and a joiner who wants the usage can have it. The caller who did not ask never sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamUsage {
    /// Add it.
    Ask,
    /// Leave bodies as they are; tokens of such streams are estimated.
    Leave,
}

/// Settings of the upstream connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `http://` or `https://`, with or without a base path; see [`Base`] for how paths are joined.
    pub url: String,
    /// The upstream's own key. If set, it replaces the caller's credential on everything that goes upstream.
    pub api_key: Secret,
    /// Name resolution, TCP and TLS together, for one connection.
    #[serde(with = "duration_text")]
    pub connect_timeout: Duration,
    /// From sending a request to the first byte of the response's body. Generous, because a prompt may wait
    /// in the server's own queue.
    #[serde(with = "duration_text")]
    pub first_byte_timeout: Duration,
    /// The longest silence within a response that has begun. There is no time-out for the whole.
    #[serde(with = "duration_text")]
    pub idle_timeout: Duration,
    /// The largest response to an inference, in bytes.
    #[serde(with = "bytes_text")]
    pub max_response: u64,
    /// Whether a stream is asked for its usage when its caller did not. Default ask.
    pub stream_usage: StreamUsage,
    /// Idle connections kept for each address.
    pub pool_max_idle: usize,
    /// How long an idle connection is kept. Less than the server's own keep-alive (5 s for uvicorn, which
    /// serves vLLM), or requests meet connections that are just being closed.
    #[serde(with = "duration_text")]
    pub pool_idle_timeout: Duration,
    /// How often the name is resolved again.
    #[serde(with = "duration_text")]
    pub resolve_every: Duration,
    /// After this time new requests use new connections, whatever the name says.
    #[serde(with = "duration_text")]
    pub connection_max_age: Duration,
}

/// A value of `[upstream]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key below `upstream`.
    pub key: &'static str,
    /// What is allowed.
    pub reason: String,
}

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            url: "http://127.0.0.1:8000".into(),
            api_key: Secret::default(),
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(1),
            max_response: 64 << 20,
            stream_usage: StreamUsage::Ask,
            pool_max_idle: 256,
            pool_idle_timeout: Duration::from_secs(4),
            resolve_every: Duration::from_secs(5),
            connection_max_age: Duration::from_mins(5),
        }
    }
}

impl Config {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        Base::parse(&self.url).map_err(|error| ConfigError::new("url", error.to_string()))?;
        for (key, value, least, most) in [
            ("connect_timeout", self.connect_timeout, MS, HOUR),
            ("first_byte_timeout", self.first_byte_timeout, MS, DAY),
            ("idle_timeout", self.idle_timeout, MS, DAY),
            ("pool_idle_timeout", self.pool_idle_timeout, MS, HOUR),
            ("resolve_every", self.resolve_every, 10 * MS, HOUR),
            ("connection_max_age", self.connection_max_age, 10 * MS, DAY),
        ] {
            if value < least || value > most {
                return Err(ConfigError::new(key, format!("must be between {least:?} and {most:?}")));
            }
        }
        if self.max_response < 64 << 10 {
            return Err(ConfigError::new("max_response", "must be at least 64KiB"));
        }
        if !self.api_key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::new("api_key", "must be of characters that a header can carry, without spaces"));
        }
        Ok(())
    }
}

// === impl ConfigError ===

impl ConfigError {
    pub(super) fn new(key: &'static str, reason: impl Into<String>) -> Self {
        Self { key, reason: reason.into() }
    }

    /// The system has no root certificates.
    pub(super) fn no_roots() -> Self {
        Self::new("url", "is https, but no root certificates were found on this system")
    }
}
