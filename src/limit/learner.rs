//! What the backend can do, learned from what it has done.
//!
//! The founding numbers (100 tokens/s, 200) fit one GPU and one model; nobody can guess them for
//! another. But a backend inside which requests wait is busy all the time, and then the cost it completes
//! per second *is* its capacity, in our own unit, whatever the model, the mix of tasks or the quality of the
//! estimates. So:
//!
//! - **Evidence** is a queue of ours inside the backend that lasts. A request that waits for the next step of
//!   its scheduler is no queue, so it takes seconds in a row, at a length that matters beside what it runs.
//!   Until then the learner knows nothing and the gate stays open: that is never worse than no gate. Moments
//!   in which others fill the backend do not count: there we see our share, and a limit set by our share
//!   could only ever shrink.
//! - **Slots** are the requests it runs at such a moment, and never fewer than it was seen to run since.
//! - **Capacity** is completed cost by time, over spans at whose both ends all slots were taken: something
//!   of ours waited, or we had that many in flight. Without the second half the spans in which something
//!   completes would be missed, because a completion is what ends a wait.
//! - **Growth**: while callers wait with us and nothing waits there, we are too strict (the estimate is
//!   wrong, the mix has changed, a replica was added), so both grow, faster with every reading in a row,
//!   until the backend has something waiting again.
//! - **Forgetting**: what was learned is dropped after ten minutes in which nothing waited there.

use std::time::Duration;

use crate::domain::Tick;
use crate::stats::{DecayingMean, Ewma, MicroTokens};

/// Busy seconds that are remembered (to 1/e).
const MEMORY_SECONDS: f64 = 10.0;
/// How long a queue has to last, and how much has to be completed, before we believe it.
const ENOUGH_TIME: Duration = Duration::from_secs(4);
const ENOUGH_COMPLETIONS: u32 = 8;
/// A queue that matters is at least this fraction of what runs: one in four.
const QUEUE_SHARE: u32 = 4;
/// The first step of growth; each further one in a row is twice as large.
const GROWTH: f64 = 0.1;
const MOST_GROWTH: f64 = 1000.0;
/// Weight of a new reading of the slots.
const ALPHA: f64 = 0.3;
const FORGET_AFTER: Duration = Duration::from_mins(10);

/// What the backend says at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backend {
    pub(super) running: u32,
    pub(super) waiting: u32,
}

/// What we know of ourselves at the same moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ours {
    /// Inferences with the upstream.
    pub(super) in_flight: u32,
    /// Their cost.
    pub(super) cost_in_flight: MicroTokens,
    /// Inferences that wait with us for tokens.
    pub(super) held_back: u32,
}

/// The learned capacity of the backend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Cost that it completes per second when it is busy, in tokens.
    pub per_second: f64,
    /// Requests that it runs at once.
    pub slots: f64,
    /// Cost of what it runs at once, in tokens: by Little's law `per_second` times the mean service time.
    pub at_once: f64,
}

#[derive(Debug)]
pub(super) struct Learner {
    throughput: DecayingMean,
    slots: Ewma,
    cost_of_one: Ewma,
    growth: Growth,
    /// Completed in spans that count.
    completions: u32,
    /// Since when a queue of ours has been there at every reading.
    queue_since: Option<Tick>,
    /// The last reading at which something of ours waited there.
    last_wait: Tick,
    believed: bool,
    since_reading: Completed,
    /// The last reading, if all slots were taken then.
    busy_since: Option<Tick>,
}

/// How far we went beyond what was measured.
#[derive(Clone, Copy, Debug)]
struct Growth {
    factor: f64,
    step: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Completed {
    cost: MicroTokens,
    count: u32,
}

// === impl Learner ===

impl Learner {
    pub(super) fn new() -> Self {
        Self {
            throughput: DecayingMean::new(MEMORY_SECONDS),
            slots: Ewma::new(ALPHA),
            cost_of_one: Ewma::new(ALPHA),
            growth: Growth::NONE,
            completions: 0,
            queue_since: None,
            last_wait: Tick::START,
            believed: false,
            since_reading: Completed::default(),
            busy_since: None,
        }
    }

    /// One inference has ended and cost so much.
    pub(super) fn completed(&mut self, real: MicroTokens) {
        self.since_reading.cost.0 = self.since_reading.cost.0.saturating_add(real.0);
        self.since_reading.count += 1;
    }

    /// A fresh reading of the backend.
    pub(super) fn reading(&mut self, now: Tick, backend: Backend, ours: Ours) {
        if self.believed && now.since(self.last_wait) > FORGET_AFTER {
            *self = Self::new();
        }
        let ours_wait = backend.waiting > 0 && ours.in_flight > backend.running;
        if ours_wait {
            self.last_wait = now;
            self.growth = Growth::NONE;
        } else if backend.waiting == 0 && ours.held_back > 0 {
            self.growth.step_up();
        }
        self.note_queue(now, backend, ours_wait);
        self.measure(now, ours, ours_wait);
        let queue_lasted = self.queue_since.is_some_and(|since| now.since(since) >= ENOUGH_TIME);
        self.believed |= queue_lasted && self.completions >= ENOUGH_COMPLETIONS;
    }

    /// The readings have stopped: what completes until the next one belongs to no span.
    pub(super) fn interrupted(&mut self) {
        (self.busy_since, self.queue_since) = (None, None);
    }

    /// The capacity, once there is evidence.
    pub(super) fn capacity(&self) -> Option<Capacity> {
        if !self.believed {
            return None;
        }
        let grown = self.growth.factor;
        let (per_second, slots) = (self.throughput.get()? * grown, self.slots.get()? * grown);
        let at_once = (self.cost_of_one.get()? * slots).max(per_second);
        (per_second > 0.0).then_some(Capacity { per_second, slots, at_once })
    }

    fn note_queue(&mut self, now: Tick, backend: Backend, ours_wait: bool) {
        let running = f64::from(backend.running.max(1));
        let matters = ours_wait && backend.waiting.saturating_mul(QUEUE_SHARE) >= backend.running;
        if matters {
            self.queue_since = self.queue_since.or(Some(now));
        } else if !self.believed {
            // Not saturated after all; what was noted of it is void.
            (self.queue_since, self.slots) = (None, Ewma::new(ALPHA));
            return;
        }
        // More slots than believed is a fact at any moment; fewer only while a queue says that it is full.
        if self.slots.get().is_some_and(|slots| running > slots) {
            self.slots = Ewma::new(ALPHA);
        } else if !matters {
            return;
        }
        self.slots.note(running);
    }

    fn measure(&mut self, now: Tick, ours: Ours, ours_wait: bool) {
        let done = std::mem::take(&mut self.since_reading);
        let busy = ours_wait || self.slots.get().is_some_and(|slots| f64::from(ours.in_flight) >= slots);
        if let (true, Some(since)) = (busy, self.busy_since) {
            self.throughput.note(done.cost.tokens(), now.since(since).as_secs_f64());
            self.completions = self.completions.saturating_add(done.count);
        }
        if busy {
            self.cost_of_one.note(ours.cost_in_flight.tokens() / f64::from(ours.in_flight.max(1)));
        }
        self.busy_since = busy.then_some(now);
    }
}

// === impl Growth ===

impl Growth {
    const NONE: Self = Self { factor: 1.0, step: GROWTH };

    fn step_up(&mut self) {
        self.factor = (self.factor * (1.0 + self.step)).min(MOST_GROWTH);
        self.step *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Tick {
        Tick(Duration::from_secs(seconds))
    }

    fn ours(in_flight: u32, held_back: u32) -> Ours {
        Ours { in_flight, cost_in_flight: MicroTokens::whole(in_flight * 5), held_back }
    }

    /// A learner that has seen `waiting` behind 8 for so many seconds, with 10 completions of 5 in each.
    fn after_a_queue(waiting: u32, seconds: u64) -> Learner {
        let mut learner = Learner::new();
        for second in 0..=seconds {
            (0..10).for_each(|_| learner.completed(MicroTokens::whole(5)));
            learner.reading(at(second), Backend { running: 8, waiting }, ours(8 + waiting, 0));
        }
        learner
    }

    #[test]
    fn a_queue_that_lasts_is_evidence() {
        assert_eq!(after_a_queue(10, 3).capacity(), None);
        let learned = after_a_queue(10, 4).capacity().unwrap();
        assert!((learned.per_second - 50.0).abs() < 1e-6 && (learned.slots - 8.0).abs() < 1e-6, "{learned:?}");
        assert!((learned.at_once - 50.0).abs() < 1e-6, "at least a second's worth");
    }

    #[test]
    fn requests_between_two_steps_of_a_scheduler_are_no_queue() {
        assert_eq!(after_a_queue(1, 600).capacity(), None);
        let mut learner = Learner::new();
        for second in 0..600 {
            (0..10).for_each(|_| learner.completed(MicroTokens::whole(5)));
            let waiting = if second % 4 == 3 { 0 } else { 6 };
            learner.reading(at(second), Backend { running: 3, waiting }, ours(3 + waiting, 0));
        }
        assert_eq!(learner.capacity(), None, "it never lasted four seconds");
    }

    #[test]
    fn a_queue_of_others_is_none_of_ours() {
        let mut learner = Learner::new();
        for second in 0..60 {
            (0..10).for_each(|_| learner.completed(MicroTokens::whole(5)));
            learner.reading(at(second), Backend { running: 8, waiting: 50 }, ours(6, 0));
        }
        assert_eq!(learner.capacity(), None);
    }

    #[test]
    fn who_is_too_strict_becomes_generous_within_seconds() {
        let mut learner = after_a_queue(10, 4);
        let before = learner.capacity().unwrap();
        for second in 5..10 {
            learner.reading(at(second), Backend { running: 8, waiting: 0 }, ours(8, 50));
        }
        let after = learner.capacity().unwrap();
        assert!(after.slots > before.slots * 8.0, "five readings of holding back for nothing: {after:?}");
        learner.reading(at(10), Backend { running: 30, waiting: 9 }, ours(39, 50));
        assert!((learner.capacity().unwrap().slots - 30.0).abs() < 1e-6, "and learns what is true");
    }

    #[test]
    fn what_was_learned_is_forgotten_when_nothing_waits_any_more() {
        let mut learner = after_a_queue(10, 4);
        for second in 5..600 {
            learner.reading(at(second), Backend { running: 1, waiting: 0 }, ours(1, 0));
        }
        assert!(learner.capacity().is_some());
        learner.reading(at(605), Backend { running: 1, waiting: 0 }, ours(1, 0));
        assert_eq!(learner.capacity(), None);
    }
}
