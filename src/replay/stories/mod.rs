//! The stories that the product is measured by: generated, never recorded, and the same to the byte every
//! time.

mod bank;
mod dice;
mod forms;
mod founding;
mod frames;
mod mixed;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::Entry;
use crate::sim::SimConfig;

/// A story by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Story {
    /// 6,000 requests in a minute that are sixty questions, and a hundred that only look like them
    Founding,
    /// A day of 10,000 requests: 40% exact repeats, 25% rewordings, 35% new
    Mixed,
}

// === impl Story ===

impl Story {
    /// Its requests in the order of time.
    #[must_use]
    pub fn entries(self) -> Vec<Entry> {
        match self {
            Self::Founding => founding::entries(),
            Self::Mixed => mixed::entries(),
        }
    }

    /// A simulated GPU that a direct run of the founding story keeps 60-80% busy, and the mixed day at its peak.
    #[must_use]
    pub fn sim(self) -> SimConfig {
        match self {
            Self::Founding | Self::Mixed => SimConfig { slots: 24, ..SimConfig::default() },
        }
    }

    /// How much faster than its own pace it is replayed if nobody says otherwise: a day in two minutes.
    #[must_use]
    pub const fn speed(self) -> f64 {
        match self {
            Self::Founding => 1.0,
            Self::Mixed => 720.0,
        }
    }

    /// How long its answers stay true, if that is longer than the gateway's default.
    #[must_use]
    pub const fn ttl(self) -> Option<Duration> {
        match self {
            Self::Founding => None,
            Self::Mixed => Some(mixed::SPAN),
        }
    }
}

fn headers(task: &str) -> BTreeMap<String, String> {
    [("authorization", "Bearer key-content"), ("content-type", "application/json"), ("x-task-type", task)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn chat(question: &str, temperature: f64, stream: bool) -> Value {
    let mut body = json!({
        "model": "content-7b",
        "messages": [{"role": "user", "content": question}],
        "temperature": temperature,
        "max_tokens": 256,
    });
    if stream {
        body["stream"] = json!(true);
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

#[cfg(test)]
mod tests;
