//! Counts over the last minute, in slots of one second.
//!
//! A ring of slots rather than a log of events: memory and the cost of one count do not depend on
//! traffic. The price is one slot of blur at the old end.

use std::time::Duration;

use crate::domain::Tick;

/// `N` kinds of events, counted over a sliding span of time.
#[derive(Clone, Debug)]
pub struct SlidingCounts<const N: usize> {
    slot: Duration,
    slots: Box<[[u64; N]]>,
    sums: [u64; N],
    /// Number of the newest slot since [`Tick::START`].
    newest: u64,
}

// === impl SlidingCounts ===

impl<const N: usize> SlidingCounts<N> {
    /// Counts over `slots` slots of the length `slot` each (both at least 1).
    #[must_use]
    pub fn new(slot: Duration, slots: usize) -> Self {
        Self {
            slot: slot.max(Duration::from_nanos(1)),
            slots: vec![[0; N]; slots.max(1)].into(),
            sums: [0; N],
            newest: 0,
        }
    }

    /// The last 60 seconds in slots of one second.
    #[must_use]
    pub fn last_minute() -> Self {
        Self::new(Duration::from_secs(1), 60)
    }

    /// Counts `n` more events of the kind `which`; a kind that does not exist is ignored.
    pub fn add(&mut self, now: Tick, which: usize, n: u64) {
        self.advance(now);
        let at = self.index(self.newest);
        if let (Some(count), Some(sum)) = (self.slots[at].get_mut(which), self.sums.get_mut(which)) {
            *count += n;
            *sum += n;
        }
    }

    /// The counts of all kinds over the span that ends now.
    pub fn totals(&mut self, now: Tick) -> [u64; N] {
        self.advance(now);
        self.sums
    }

    /// Empties the slots that time has passed over since the last look.
    fn advance(&mut self, now: Tick) {
        let current = u64::try_from(now.0.as_nanos() / self.slot.as_nanos()).unwrap_or(u64::MAX);
        let passed = current.saturating_sub(self.newest);
        for step in 1..=passed.min(self.slots.len() as u64) {
            let at = self.index(self.newest.saturating_add(step));
            for (sum, old) in self.sums.iter_mut().zip(std::mem::replace(&mut self.slots[at], [0; N])) {
                *sum -= old;
            }
        }
        self.newest = self.newest.max(current);
    }

    fn index(&self, slot_number: u64) -> usize {
        usize::try_from(slot_number % self.slots.len() as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Tick {
        Tick(Duration::from_millis(millis))
    }

    #[test]
    fn an_event_is_counted_for_sixty_seconds_and_then_forgotten() {
        let mut counts = SlidingCounts::<2>::last_minute();
        counts.add(at(500), 0, 3);
        counts.add(at(59_999), 1, 1);
        assert_eq!(counts.totals(at(59_999)), [3, 1]);
        assert_eq!(counts.totals(at(60_000)), [0, 1], "the first second has left the span");
        assert_eq!(counts.totals(at(1_000_000)), [0, 0]);
    }

    #[test]
    fn time_that_runs_backwards_stands_still() {
        let mut counts = SlidingCounts::<1>::last_minute();
        counts.add(at(90_000), 0, 1);
        counts.add(at(10_000), 0, 1);
        assert_eq!(counts.totals(at(10_000)), [2]);
    }

    proptest! {
        #[test]
        fn totals_equal_a_plain_log_of_events(steps in prop::collection::vec((0u64..5_000, 0usize..3, 0u64..4), 1..80)) {
            let (mut counts, mut log, mut now) = (SlidingCounts::<3>::new(Duration::from_millis(700), 9), Vec::new(), 0);
            for (wait, which, n) in steps {
                now += wait;
                counts.add(at(now), which, n);
                log.push((now / 700, which, n));
                let mut expected = [0; 3];
                for (slot, which, n) in &log {
                    if slot + 9 > now / 700 {
                        expected[*which] += n;
                    }
                }
                prop_assert_eq!(counts.totals(at(now)), expected);
            }
        }
    }
}
