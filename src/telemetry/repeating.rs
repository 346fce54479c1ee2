//! Failures that repeat are logged once per interval, with the number of those passed over.
//!
//! An upstream that is down fails a thousand calls a second for one reason; the log should say so a few
//! times a minute, and metrics count the rest.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use crate::domain::Tick;

/// One kind of failure at one place in the code.
#[derive(Debug)]
pub struct Repeating {
    every: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<Tick>,
    passed_over: u64,
}

// === impl Repeating ===

impl Repeating {
    /// At most one record per `every`.
    #[must_use]
    pub const fn new(every: Duration) -> Self {
        Self { every, state: Mutex::new(State { last: None, passed_over: 0 }) }
    }

    /// `Some(n)` if this failure should be logged, with the `n` passed over since the last record; the first
    /// is always logged.
    pub fn due(&self, now: Tick) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| now.since(last) < self.every) {
            state.passed_over += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.passed_over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeating_failure_is_logged_once_per_interval_with_the_number_passed_over() {
        let at = |seconds| Tick(Duration::from_secs(seconds));
        let failures = Repeating::new(Duration::from_secs(10));
        assert_eq!(failures.due(at(0)), Some(0), "the first");
        assert_eq!([1, 5, 9].map(|seconds| failures.due(at(seconds))), [None; 3]);
        assert_eq!(failures.due(at(10)), Some(3));
        assert_eq!(failures.due(at(25)), Some(0));
    }
}
