//! The result cache: complete answers, found again by equal text, by canonical form, by words or by meaning.
//!
//! Everything is partitioned by Scope, so an answer of another tenant, model or parameter set cannot be
//! found at all. Indexes only propose: every candidate passes [`Matcher::compare`](crate::matching::Matcher::compare), the same decision that
//! serves the window and the late join. Expired entries are never served, whatever their index says.
//!
//! Moka bounds the store (entries and bytes) and forgets; expiry that we reason about lives in the entry,
//! on tokio's clock, because moka's own clock cannot be paused. Moka stores and does not coalesce: that is
//! the flights' work.

mod scope_index;
mod store;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::domain::{Answer, BadValue, EntryId, Match, ScopeId, bytes_text};
use crate::matching::{Features, MatchPolicy, Veto};
use crate::text::Fingerprint;

pub use store::ResultCache;

/// Bounds of the result cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Most answers kept. Default 10,000 (founding page), at least 1.
    pub max_entries: u64,
    /// Most bytes kept. Default 256 MiB, at least 1 MiB.
    #[serde(with = "bytes_text")]
    pub max_bytes: u64,
    /// Candidates of one index that the guard is asked about. Default 10, 1..=100.
    pub candidates: usize,
}

/// One stored answer.
#[derive(Debug)]
pub struct Entry {
    /// Its name in headers and in the purge API.
    pub id: EntryId,
    /// Who may find it.
    pub scope: ScopeId,
    /// The question that made it.
    pub question: Arc<Features>,
    /// The answer.
    pub answer: Arc<Answer>,
    found_by: MatchPolicy,
    stored_at: Instant,
    ttl: Duration,
}

/// A stored answer that may be served.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The entry.
    pub entry: Arc<Entry>,
    /// How it was found.
    pub found: Match,
}

/// What a lookup found, and what the guard refused on the way.
#[derive(Debug, Default)]
pub struct Lookup {
    /// The answer to serve.
    pub hit: Option<Hit>,
    /// Vetoes, for the metrics.
    pub vetoes: Vec<Veto>,
}

/// How fresh an answer a caller wants.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// The present.
    pub now: Instant,
    /// The caller's `max-age`.
    pub max_age: Option<Duration>,
}

/// What to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purge {
    /// One entry.
    Entry(EntryId),
    /// All entries whose normalised question has this fingerprint, in every Scope.
    Question(Fingerprint),
    /// All entries of a Scope.
    Scope(ScopeId),
    /// Everything.
    All,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self { max_entries: 10_000, max_bytes: 256 << 20, candidates: 10 }
    }
}

impl Config {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), BadValue> {
        let refuse = |key: &'static str, reason: &'static str| Err(BadValue::new(key, reason));
        if self.max_entries == 0 {
            return refuse("max_entries", "must be at least 1");
        }
        if self.max_bytes < 1 << 20 {
            return refuse("max_bytes", "must be at least 1MiB");
        }
        if !(1..=100).contains(&self.candidates) {
            return refuse("candidates", "must be between 1 and 100");
        }
        Ok(())
    }
}

// === impl Entry ===

impl Entry {
    /// Time since the answer was stored; the `Age` header.
    #[must_use]
    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.stored_at)
    }

    /// How much longer it may be served; zero once expired.
    #[must_use]
    pub fn fresh_for(&self, now: Instant) -> Duration {
        self.ttl.saturating_sub(self.age(now))
    }

    /// Whether it may be served to a caller who wants it this fresh.
    #[must_use]
    pub fn is_fresh(&self, wanted: Freshness) -> bool {
        let age = self.age(wanted.now);
        age < self.ttl && wanted.max_age.is_none_or(|max| age <= max)
    }
}
