//! `[load]`: where the load of the inference servers is read.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::duration_text;

/// Where the load is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The upstream's own metrics page; if it has none and runs on this machine, NVML.
    #[default]
    Auto,
    /// Metrics pages only.
    Metrics,
    /// NVML only: the GPUs of this machine.
    Nvml,
    /// Nothing is read; the load stays unknown.
    Off,
}

/// `[load]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `auto` (default), `metrics`, `nvml` or `off`.
    pub source: SourceKind,
    /// Metrics pages, one per backend. Default: none given, found by itself at the upstream's root.
    pub urls: Vec<String>,
    /// Time between readings. Default 1 s, 100 ms..=1 min.
    #[serde(with = "duration_text")]
    pub interval: Duration,
    /// The longest that one reading may take. Default 500 ms, 10 ms..=1 min.
    #[serde(with = "duration_text")]
    pub timeout: Duration,
    /// Age at which a reading says nothing any more. Default 5 s, at least twice the interval.
    #[serde(with = "duration_text")]
    pub stale_after: Duration,
    /// Requests that one backend runs at once. Default: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<NonZeroU32>,
}

/// A value of `[load]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key below `load`.
    pub key: &'static str,
    /// What is allowed.
    pub reason: &'static str,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            source: SourceKind::Auto,
            urls: Vec::new(),
            interval: Duration::from_secs(1),
            timeout: Duration::from_millis(500),
            stale_after: Duration::from_secs(5),
            slots: None,
        }
    }
}

impl Config {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key, reason| Err(ConfigError { key, reason });
        let minute = Duration::from_mins(1);
        let is_url = |url: &String| {
            url.parse::<http::Uri>().is_ok_and(|uri| {
                matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
            })
        };
        if !self.urls.iter().all(is_url) {
            return refuse("urls", "must be http:// or https:// URLs");
        }
        if !(Duration::from_millis(100)..=minute).contains(&self.interval) {
            return refuse("interval", "must be between 100ms and 1m");
        }
        if !(Duration::from_millis(10)..=minute).contains(&self.timeout) {
            return refuse("timeout", "must be between 10ms and 1m");
        }
        if self.stale_after < self.interval * 2 {
            return refuse("stale_after", "must be at least twice the interval");
        }
        Ok(())
    }
}
