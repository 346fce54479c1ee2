//! `[admission]`: what the GPU bucket charges, refills and allows.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::domain::{Cost, MaxTokens, TaskName, duration_text};

/// How many of the caller's `max_tokens` make one unit of cost.
const TOKENS_PER_UNIT: u32 = 100;

/// The name of the weight that every unlisted task has.
const OTHERWISE: &str = "default";

/// Where the numbers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// `base_rate` and `capacity` as they stand.
    #[default]
    None,
    /// The founding bucket: base rate 100 tokens/s, capacity 200.
    Founding,
}

/// Refill of a fully idle GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BaseRate {
    /// Open until the backend's capacity is known, then five times that.
    #[default]
    Auto,
    /// Tokens per second.
    Fixed(f64),
}

/// What an inference is charged in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Charge {
    /// The estimate at first, corrected by the tokens really produced once it has ended.
    #[default]
    Used,
    /// The estimate.
    Estimated,
}

/// Cost per hundred tokens, by task. Tasks that are not listed weigh as `default`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Weights(BTreeMap<String, u32>);

/// `[admission]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `none` (default) or `founding`.
    pub preset: Preset,
    /// `"auto"` (default) or tokens per second, above 0.
    pub base_rate: BaseRate,
    /// Tokens that the bucket holds with a fixed base rate. Default 200; with `auto` it is learned.
    pub capacity: u32,
    /// Default: generation 5, summarization 3, classification 1, embedding 1, default 2; each 1..=1000.
    /// A weight given here replaces only its own task's.
    pub weights: Weights,
    /// `used` (default) or `estimated`.
    pub charge: Charge,
    /// How long an inference waits for tokens before it is refused. Default 30 s, at most 1 h.
    #[serde(with = "duration_text")]
    pub max_wait: Duration,
    /// How many may wait. Default 10,000, at least 1.
    pub max_queue: u32,
    /// How many may be with the upstream at once. Default: no cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<NonZeroU32>,
}

/// A value of `[admission]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key below `admission`.
    pub key: String,
    /// What is allowed.
    pub reason: &'static str,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            preset: Preset::None,
            base_rate: BaseRate::Auto,
            capacity: 200,
            weights: Weights::default(),
            charge: Charge::Used,
            max_wait: Duration::from_secs(30),
            max_queue: 10_000,
            max_in_flight: None,
        }
    }
}

impl Config {
    /// The founding bucket, everything else as by default.
    #[must_use]
    pub fn founding() -> Self {
        Self { preset: Preset::Founding, ..Self::default() }
    }

    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, reason| Err(ConfigError { key: key.to_owned(), reason });
        match self.base_rate {
            BaseRate::Fixed(_) if self.preset == Preset::Founding => {
                return refuse("base_rate", "must be absent with preset = \"founding\", which sets it to 100");
            }
            BaseRate::Fixed(rate) if !(rate > 0.0 && rate <= 1e9) => {
                return refuse("base_rate", "must be \"auto\" or a number above 0 and at most 1e9");
            }
            BaseRate::Auto | BaseRate::Fixed(_) => {}
        }
        if self.preset == Preset::Founding && self.capacity != Self::default().capacity {
            return refuse("capacity", "must be absent with preset = \"founding\", which sets it to 200");
        }
        if self.capacity == 0 {
            return refuse("capacity", "must be at least 1");
        }
        if let Some(task) = self.weights.0.iter().find_map(|(task, w)| (!(1..=1000).contains(w)).then_some(task)) {
            return refuse(&format!("weights.{task}"), "must be between 1 and 1000");
        }
        if self.max_wait > Duration::from_hours(1) {
            return refuse("max_wait", "must be at most 1h");
        }
        if self.max_queue == 0 {
            return refuse("max_queue", "must be at least 1");
        }
        Ok(())
    }

    /// The founding cost: max(1, floor(max tokens / 100)) x the task's weight; without max tokens the
    /// weight alone.
    #[must_use]
    pub fn cost(&self, task: &TaskName, max_tokens: Option<MaxTokens>) -> Cost {
        let units = max_tokens.map_or(1, |MaxTokens(tokens)| (tokens / TOKENS_PER_UNIT).max(1));
        Cost(units.saturating_mul(self.weights.of(task)))
    }

    /// The base rate in force, in tokens per second; `None` if it is learned.
    #[must_use]
    pub(super) fn fixed_rate(&self) -> Option<f64> {
        match (self.preset, self.base_rate) {
            (Preset::Founding, _) => Some(100.0),
            (Preset::None, BaseRate::Fixed(rate)) => Some(rate),
            (Preset::None, BaseRate::Auto) => None,
        }
    }
}

// === impl Weights ===

impl Default for Weights {
    fn default() -> Self {
        let founding =
            [("generation", 5), ("summarization", 3), ("classification", 1), ("embedding", 1), (OTHERWISE, 2)];
        Self(founding.into_iter().map(|(task, weight)| (task.to_owned(), weight)).collect())
    }
}

impl Weights {
    /// Sets the weight of one task; `default` is everyone else's.
    #[must_use]
    pub fn with(mut self, task: &str, weight: u32) -> Self {
        self.0.insert(task.to_owned(), weight);
        self
    }

    /// The weight of a task.
    #[must_use]
    pub fn of(&self, task: &TaskName) -> u32 {
        self.0.get(task.as_str()).or_else(|| self.0.get(OTHERWISE)).copied().unwrap_or(1)
    }

    /// The tasks that are named.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut weights = Self::default();
        weights.0.extend(BTreeMap::deserialize(deserializer)?);
        Ok(weights)
    }
}

// === impl BaseRate ===

impl Serialize for BaseRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Fixed(rate) => serializer.serialize_f64(*rate),
        }
    }
}

impl<'de> Deserialize<'de> for BaseRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AutoOrRate;
        impl Visitor<'_> for AutoOrRate {
            type Value = BaseRate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"auto\" or a number of tokens per second")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<BaseRate, E> {
                if text == "auto" {
                    Ok(BaseRate::Auto)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
                }
            }
            fn visit_f64<E: Error>(self, rate: f64) -> Result<BaseRate, E> {
                Ok(BaseRate::Fixed(rate))
            }
            fn visit_i64<E: Error>(self, rate: i64) -> Result<BaseRate, E> {
                Ok(BaseRate::Fixed(rate as f64))
            }
            fn visit_u64<E: Error>(self, rate: u64) -> Result<BaseRate, E> {
                Ok(BaseRate::Fixed(rate as f64))
            }
        }
        deserializer.deserialize_any(AutoOrRate)
    }
}
