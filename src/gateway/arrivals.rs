//! Whether company is to be expected in a Scope: what an adaptive window asks where nobody can join late.
//!
//! Bounded: the Scopes heard of least recently are forgotten.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moka::sync::Cache;
use tokio::time::Instant;

use crate::domain::{ScopeId, Tick};
use crate::stats::Arrivals;

/// Scopes remembered.
const MOST_SCOPES: u64 = 10_000;
/// How long an arrival counts.
const MEMORY: Duration = Duration::from_secs(2);
/// Holding a call pays if at least this many others are expected to join it.
const PAYS_FROM: f64 = 0.5;

/// Arrival rates by Scope.
pub(super) struct ArrivalBook {
    start: Instant,
    by_scope: Cache<ScopeId, Arc<Mutex<Arrivals>>>,
}

// === impl ArrivalBook ===

impl ArrivalBook {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), by_scope: Cache::new(MOST_SCOPES) }
    }

    /// Notes a call.
    pub(super) fn note(&self, scope: ScopeId) {
        let now = self.now();
        self.with(scope, |arrivals| arrivals.note(now));
    }

    /// Whether recent traffic promises another call within `span`.
    pub(super) fn expects_company(&self, scope: ScopeId, span: Duration) -> bool {
        let now = self.now();
        self.with(scope, |arrivals| arrivals.expected(now, span) >= PAYS_FROM)
    }

    fn with<T>(&self, scope: ScopeId, look: impl FnOnce(&mut Arrivals) -> T) -> T {
        let arrivals = self.by_scope.get_with(scope, || Arc::new(Mutex::new(Arrivals::new(MEMORY))));
        look(&mut arrivals.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> Tick {
        Tick(self.start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn company_is_expected_where_it_has_been_and_forgotten_after_a_while() {
        let (book, scope) = (ArrivalBook::new(), ScopeId([1; 32]));
        let window = Duration::from_millis(50);
        book.note(scope);
        assert!(!book.expects_company(scope, window), "a first call leaves at once");
        for _ in 0..100 {
            tokio::time::advance(Duration::from_millis(20)).await;
            book.note(scope);
        }
        assert!(book.expects_company(scope, window));
        assert!(!book.expects_company(ScopeId([2; 32]), window), "another Scope's traffic says nothing");
        tokio::time::advance(Duration::from_mins(1)).await;
        assert!(!book.expects_company(scope, window));
    }
}
