//! What the backend can do, learned from what it has done.
//!
//! The founding numbers (100 tokens/s, 200) fit one GPU and one model; nobody can guess them for
//! another. But a backend that says that requests wait inside it is busy all the time, and then the cost
//! it completes per second *is* its capacity, in our own unit, whatever the model, the mix of tasks or
//! the quality of the estimates. So:
//!
//! - **Slots** are the requests it runs at a moment at which more of ours wait inside it. Moments in which
//!   others fill the backend are left out: there we see our share, and a limit set by our share could only
//!   ever shrink.
//! - **Capacity** is completed cost by time, over spans at whose both ends all slots were taken: something
//!   of ours waited, or (once the slots are known) we had that many in flight. Without the second half the
//!   spans in which something completes would be missed, because a completion is what ends a wait.
//! - **Growth**: while callers wait with us and nothing waits there, we are too strict (the estimate is
//!   old, the mix has changed, a replica was added), so both grow by a tenth with every reading until the
//!   backend has something waiting, and is measured again.
//!
//! Until there is evidence the learner knows nothing, and the gate stays open.

use std::time::Duration;

use crate::domain::Tick;
use crate::stats::{DecayingMean, Ewma, MicroTokens};

/// Saturated seconds that are remembered (to 1/e).
const MEMORY_SECONDS: f64 = 10.0;
/// What it takes to believe the first estimate.
const ENOUGH_TIME: Duration = Duration::from_secs(2);
const ENOUGH_COMPLETIONS: u32 = 8;
/// Growth of the estimate per reading while we are the bottleneck.
const GROWTH: f64 = 1.1;
/// Growth without any measurement in between.
const MOST_GROWTH: f64 = 1000.0;
/// Weight of a new reading of slots and of the cost in flight.
const ALPHA: f64 = 0.3;

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
    at_once: Ewma,
    /// How much has grown since the last measurement.
    growth: f64,
    completions: u32,
    saturated_time: Duration,
    /// Since the last reading.
    done: MicroTokens,
    done_count: u32,
    /// The last reading, if all slots were taken then.
    busy_since: Option<Tick>,
}

// === impl Learner ===

impl Learner {
    pub(super) fn new() -> Self {
        Self {
            throughput: DecayingMean::new(MEMORY_SECONDS),
            slots: Ewma::new(ALPHA),
            at_once: Ewma::new(ALPHA),
            growth: 1.0,
            completions: 0,
            saturated_time: Duration::ZERO,
            done: MicroTokens::default(),
            done_count: 0,
            busy_since: None,
        }
    }

    /// One inference has ended and cost so much.
    pub(super) fn completed(&mut self, real: MicroTokens) {
        self.done = MicroTokens(self.done.0.saturating_add(real.0));
        self.done_count += 1;
    }

    /// A fresh reading of the backend.
    pub(super) fn reading(&mut self, now: Tick, backend: Backend, ours: Ours) {
        let ours_wait = backend.waiting > 0 && ours.in_flight > backend.running;
        if ours_wait {
            // The guess has done its work; from here on there is something to measure.
            self.growth = 1.0;
            self.note_size(backend, ours);
        } else if backend.waiting == 0 && ours.held_back > 0 {
            self.growth = (self.growth * GROWTH).min(MOST_GROWTH);
        }
        let busy = ours_wait || self.slots.get().is_some_and(|slots| f64::from(ours.in_flight) >= slots);
        if let (true, Some(since)) = (busy, self.busy_since) {
            self.measure(now.since(since));
        }
        (self.done, self.done_count) = (MicroTokens::default(), 0);
        self.busy_since = busy.then_some(now);
    }

    /// The readings have stopped: what completes until the next one belongs to no span.
    pub(super) fn interrupted(&mut self) {
        self.busy_since = None;
    }

    /// The capacity, once there is evidence.
    pub(super) fn capacity(&self) -> Option<Capacity> {
        if self.completions < ENOUGH_COMPLETIONS || self.saturated_time < ENOUGH_TIME {
            return None;
        }
        let (per_second, slots) = (self.throughput.get()? * self.growth, self.slots.get()? * self.growth);
        let at_once = (self.at_once.get()? * self.growth).max(per_second);
        (per_second > 0.0).then_some(Capacity { per_second, slots, at_once })
    }

    fn measure(&mut self, span: Duration) {
        self.throughput.note(self.done.tokens(), span.as_secs_f64());
        self.completions = self.completions.saturating_add(self.done_count);
        self.saturated_time += span;
    }

    fn note_size(&mut self, backend: Backend, ours: Ours) {
        // More slots than believed is a fact; fewer may be long texts that fill the memory for a while.
        let running = f64::from(backend.running.max(1));
        if self.slots.get().is_some_and(|slots| running > slots) {
            self.slots = Ewma::new(ALPHA);
        }
        self.slots.note(running);
        let running_share = f64::from(backend.running) / f64::from(ours.in_flight.max(1));
        self.at_once.note(ours.cost_in_flight.tokens() * running_share.min(1.0));
    }
}
