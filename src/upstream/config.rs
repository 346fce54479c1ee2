//! How to reach the upstream, and for how long to wait for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Base, BaseError};
use crate::domain::Secret;

/// Settings of the upstream connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `http://` or `https://`, with or without a base path; see [`Base`] for how paths are joined.
    pub url: String,
    /// The upstream's own key. If set, it replaces the caller's credential on everything that goes upstream.
    pub api_key: Secret,
    /// Name resolution, TCP and TLS together, for one connection.
    #[serde(with = "crate::domain::duration_text")]
    pub connect_timeout: Duration,
    /// From sending a request to the first byte of the response's body. Generous, because a prompt may wait
    /// in the server's own queue.
    #[serde(with = "crate::domain::duration_text")]
    pub first_byte_timeout: Duration,
    /// The longest silence within a response that has begun. There is no time-out for the whole.
    #[serde(with = "crate::domain::duration_text")]
    pub idle_timeout: Duration,
    /// The largest response to an inference, in bytes.
    #[serde(with = "crate::domain::bytes_text")]
    pub max_response: u64,
    /// Idle connections kept for each address.
    pub pool_max_idle: usize,
    /// How long an idle connection is kept. Less than the server's own keep-alive (5 s for uvicorn, which
    /// serves vLLM), or requests meet connections that are just being closed.
    #[serde(with = "crate::domain::duration_text")]
    pub pool_idle_timeout: Duration,
    /// How often the name is resolved again.
    #[serde(with = "crate::domain::duration_text")]
    pub resolve_every: Duration,
    /// After this time new requests use new connections, whatever the name says.
    #[serde(with = "crate::domain::duration_text")]
    pub connection_max_age: Duration,
}

/// What is wrong with a [`Config`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// `url` does not name a server.
    #[error("upstream.url: {0}")]
    Url(#[from] BaseError),
    /// A duration is out of its range.
    #[error("upstream.{key} must lie between {least:?} and {most:?}")]
    Duration {
        /// The key within the section.
        key: &'static str,
        /// The least value allowed.
        least: Duration,
        /// The greatest value allowed.
        most: Duration,
    },
    /// `max_response` is too small.
    #[error("upstream.max_response must be at least 64KiB")]
    MaxResponse,
    /// The key cannot be sent in a header.
    #[error("upstream.api_key contains a character that a header cannot carry")]
    ApiKey,
    /// The system has no root certificates, and the URL is `https`.
    #[error("upstream.url is https, but no root certificates were found on this system")]
    NoRoots,
}

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            url: "http://127.0.0.1:8000".into(),
            api_key: Secret::default(),
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(60),
            max_response: 64 << 20,
            pool_max_idle: 256,
            pool_idle_timeout: Duration::from_secs(4),
            resolve_every: Duration::from_secs(5),
            connection_max_age: Duration::from_secs(300),
        }
    }
}

impl Config {
    /// Checks ranges and the URL.
    pub fn check(&self) -> Result<(), ConfigError> {
        Base::parse(&self.url)?;
        for (key, value, least, most) in [
            ("connect_timeout", self.connect_timeout, MS, HOUR),
            ("first_byte_timeout", self.first_byte_timeout, MS, 24 * HOUR),
            ("idle_timeout", self.idle_timeout, MS, 24 * HOUR),
            ("pool_idle_timeout", self.pool_idle_timeout, MS, HOUR),
            ("resolve_every", self.resolve_every, 10 * MS, HOUR),
            ("connection_max_age", self.connection_max_age, 10 * MS, 24 * HOUR),
        ] {
            if value < least || value > most {
                return Err(ConfigError::Duration { key, least, most });
            }
        }
        if self.max_response < 64 << 10 {
            return Err(ConfigError::MaxResponse);
        }
        if !self.api_key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::ApiKey);
        }
        Ok(())
    }
}
