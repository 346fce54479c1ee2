//! How many arrivals to expect: the question an aggregation window asks before it opens.

use std::time::Duration;

use crate::domain::Tick;

/// An exponentially forgetting arrival rate. Two numbers, so one per scope is affordable.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    memory: Duration,
    per_second: f64,
    last: Tick,
}

// === impl Arrivals ===

impl Arrivals {
    /// An estimate that forgets with the time constant `memory` (what is that old weighs 1/e).
    #[must_use]
    pub fn new(memory: Duration) -> Self {
        Self { memory: memory.max(Duration::from_millis(1)), per_second: 0.0, last: Tick::START }
    }

    /// Notes one arrival.
    pub fn note(&mut self, now: Tick) {
        self.per_second = self.per_second(now) + 1.0 / self.memory.as_secs_f64();
        self.last = self.last.max(now);
    }

    /// Arrivals per second, as far as they are remembered.
    #[must_use]
    pub fn per_second(&self, now: Tick) -> f64 {
        self.per_second * (-now.since(self.last).as_secs_f64() / self.memory.as_secs_f64()).exp()
    }

    /// How many arrivals to expect within `span` from now on.
    #[must_use]
    pub fn expected(&self, now: Tick, span: Duration) -> f64 {
        self.per_second(now) * span.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Tick {
        Tick(Duration::from_millis(millis))
    }

    #[test]
    fn a_steady_stream_is_estimated_at_its_rate() {
        let mut arrivals = Arrivals::new(Duration::from_secs(2));
        for n in 0..1000 {
            arrivals.note(at(n * 20));
        }
        let expected = arrivals.expected(at(20_000), Duration::from_millis(50));
        assert!((expected - 2.5).abs() < 0.05, "50 arrivals a second are 2.5 in 50 ms, not {expected}");
    }

    #[test]
    fn silence_is_forgotten_into_nothing() {
        let mut arrivals = Arrivals::new(Duration::from_secs(2));
        assert!(arrivals.expected(at(0), Duration::from_secs(1)) < 1e-9);
        arrivals.note(at(0));
        assert!((arrivals.per_second(at(0)) - 0.5).abs() < 1e-9);
        assert!(arrivals.expected(at(60_000), Duration::from_secs(1)) < 1e-9);
    }
}
