//! How long a text that is queued now would wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The share of a new run in the average.
const WEIGHT: u64 = 8;

/// The average time of a run. Several threads may lose an update to each other, which an average bears.
#[derive(Debug, Default)]
pub(super) struct Pace {
    average_nanos: AtomicU64,
}

// === impl Pace ===

impl Pace {
    /// Takes in the time of one run.
    pub(super) fn record(&self, run: Duration) {
        let run = u64::try_from(run.as_nanos()).unwrap_or(u64::MAX / 2);
        let average = self.average_nanos.load(Ordering::Relaxed);
        let next = if average == 0 { run } else { average - average / WEIGHT + run / WEIGHT };
        self.average_nanos.store(next, Ordering::Relaxed);
    }

    /// When a text would be done that is queued behind `ahead` others; zero while nothing is known.
    pub(super) fn expected(&self, ahead: usize, threads: usize) -> Duration {
        let rounds = ahead as u64 / threads.max(1) as u64 + 1;
        Duration::from_nanos(self.average_nanos.load(Ordering::Relaxed).saturating_mul(rounds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_with_the_queue_and_shrinks_with_the_threads() {
        let pace = Pace::default();
        assert_eq!(pace.expected(100, 1), Duration::ZERO, "nothing is known yet");
        pace.record(Duration::from_millis(2));
        assert_eq!(pace.expected(0, 1), Duration::from_millis(2));
        assert_eq!(pace.expected(9, 1), Duration::from_millis(20));
        assert_eq!(pace.expected(9, 5), Duration::from_millis(4));
    }

    #[test]
    fn the_average_follows_a_change() {
        let pace = Pace::default();
        pace.record(Duration::from_millis(1));
        for _ in 0..100 {
            pace.record(Duration::from_millis(10));
        }
        assert!(pace.expected(0, 1) > Duration::from_millis(9));
    }
}
