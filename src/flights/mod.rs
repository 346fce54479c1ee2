//! Flights: one upstream inference and all who wait for it.
//!
//! [`Flights::join_or_open`] is one short lock per Scope: either an open or running flight of the Scope
//! answers the same question, and the caller takes a [`Seat`] on it, or a new flight opens and the caller
//! also gets its [`Pilot`], the handle of the task that will fly it. The pilot is never a caller: the first
//! caller may leave and the others are served. A seat reads the flight's log from its first event at its
//! own pace; dropping it is leaving, and when the last seat of a flight is gone its inference is cancelled
//! (or finished for the cache, by setting).
//!
//! Invariants: a flight lands exactly once; nobody joins a flight that cannot give them the whole answer
//! (trimmed log, failure, answer not fit to share); similar questions share within `max_callers`, identical
//! ones up to `max_waiters`.

mod flight;
mod log;
mod registry;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{bytes_text, duration_text};

pub use flight::{Pilot, Seat};
pub use registry::{Boarding, Flights};

/// When callers are held for others to join before the inference starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowMode {
    /// Only where waiting is free (the flight would queue for the GPU anyway) or where recent traffic of
    /// the Scope shows that it pays.
    Adaptive,
    /// Always for the whole window.
    Fixed,
}

/// Whether calls may join an inference that has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateJoin {
    /// Identical calls up to `max_waiters`, similar ones within `max_callers`.
    On,
    /// The window only.
    Off,
}

/// What becomes of an inference for which nobody waits any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abandoned {
    /// Cancel it and free the GPU.
    Cancel,
    /// Finish it for the cache.
    Finish,
}

/// The aggregation window of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Default adaptive.
    pub mode: WindowMode,
    /// How long a flight gathers callers, at most. Default 50 ms (the founding page's window).
    #[serde(with = "duration_text")]
    pub length: Duration,
    /// Callers who share one inference by similarity. Default 10 (founding page), 1..=1000.
    pub max_callers: u32,
    /// Default on.
    pub late_join: LateJoin,
    /// Identical callers who may wait on one running inference. Default 16,384, at least `max_callers`.
    pub max_waiters: u32,
    /// Default cancel.
    pub abandoned: Abandoned,
    /// Bytes of one response that a flight keeps for its readers and joiners. Beyond it the oldest are
    /// dropped, nobody can join, and a reader who is further behind is closed with an error. Default
    /// 32 MiB, at least 64 KiB.
    #[serde(with = "bytes_text")]
    pub max_log_bytes: usize,
}

/// A value of `[window]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key below `window`.
    pub key: &'static str,
    /// What is allowed.
    pub reason: &'static str,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: WindowMode::Adaptive,
            length: Duration::from_millis(50),
            max_callers: 10,
            late_join: LateJoin::On,
            max_waiters: 16_384,
            abandoned: Abandoned::Cancel,
            max_log_bytes: 32 << 20,
        }
    }
}

impl Config {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key, reason| Err(ConfigError { key, reason });
        if self.length > Duration::from_secs(10) {
            return refuse("length", "must be at most 10s");
        }
        if !(1..=1000).contains(&self.max_callers) {
            return refuse("max_callers", "must be between 1 and 1000");
        }
        if self.max_waiters < self.max_callers {
            return refuse("max_waiters", "must be at least max_callers");
        }
        if self.max_log_bytes < 64 << 10 {
            return refuse("max_log_bytes", "must be at least 64 KiB");
        }
        Ok(())
    }
}
