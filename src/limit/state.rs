//! The bucket, the counts and the rule that decides, without a runtime: everything here happens under
//! one short lock and takes the time as an argument.

use std::time::Duration;

use crate::domain::{Cost, Load, Tick};
use crate::stats::{Bucket, MicroTokens, Rate};

use super::config::{Charge, Config};
use super::learner::{Backend, Capacity, Learner, Ours};

/// The founding formula: a saturated GPU still gets this share of the base rate.
const FLOOR: f64 = 0.2;

/// Most tokens that the bucket of a gate that has learned nothing yet claims to hold.
const OPEN_LEVEL: u32 = 200;

/// What an admitted inference has paid, and owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bill {
    /// The estimate.
    pub(super) cost: MicroTokens,
    /// What was taken from the bucket, if the bucket was asked. `None`: it was let in without.
    pub(super) taken: Option<MicroTokens>,
}

/// Why there is no admission right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The bucket will have enough by then, if nothing changes.
    Until(Tick),
    /// Only a change can help: somebody has to leave.
    Change,
}

#[derive(Debug)]
pub(super) struct State {
    fixed: Option<f64>,
    charge: Charge,
    max_in_flight: u32,
    bucket: Bucket,
    learner: Learner,
    load: Load,
    in_flight: u32,
    cost_in_flight: MicroTokens,
    queued: u32,
    queued_cost: MicroTokens,
}

/// What the gate looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Refill in tokens per second; infinite while the load or the backend's capacity is unknown.
    pub rate: f64,
    /// Tokens in the bucket; negative if inferences cost more than was estimated.
    pub tokens: f64,
    /// Inferences with the upstream.
    pub in_flight: u32,
    /// Inferences that wait.
    pub queued: u32,
    /// What was learned of the backend, with `base_rate = "auto"`.
    pub learned: Option<Capacity>,
}

// === impl State ===

impl State {
    pub(super) fn new(config: &Config, now: Tick) -> Self {
        let level = if config.fixed_rate().is_some() { config.capacity } else { OPEN_LEVEL };
        let mut state = Self {
            fixed: None,
            charge: config.charge,
            max_in_flight: u32::MAX,
            bucket: Bucket::full(MicroTokens::whole(level), Rate::default(), now),
            learner: Learner::new(),
            load: Load::Unknown,
            in_flight: 0,
            cost_in_flight: MicroTokens::default(),
            queued: 0,
            queued_cost: MicroTokens::default(),
        };
        state.reconfigure(config, now);
        state
    }

    /// Other numbers from now on. The level of the bucket stays: nobody is refilled by a reload.
    pub(super) fn reconfigure(&mut self, config: &Config, now: Tick) {
        self.fixed = config.fixed_rate();
        self.charge = config.charge;
        self.max_in_flight = config.max_in_flight.map_or(u32::MAX, std::num::NonZero::get);
        if self.fixed.is_some() {
            self.bucket.set_capacity(now, MicroTokens::whole(config.capacity));
        }
        self.refresh(now);
    }

    pub(super) fn set_load(&mut self, load: Load, now: Tick) {
        self.load = load;
        match load {
            Load::Unknown => self.learner.interrupted(),
            Load::Known { waiting, running, .. } => {
                // Who waits for the in-flight cap does not wait for the bucket.
                let held_back = if self.in_flight < self.max_in_flight { self.queued } else { 0 };
                let ours = Ours { in_flight: self.in_flight, cost_in_flight: self.cost_in_flight, held_back };
                self.learner.reading(now, Backend { running, waiting }, ours);
            }
        }
        self.refresh(now);
    }

    /// Admits, or says what to wait for. Atomic: the check and the charge are one.
    pub(super) fn take(&mut self, now: Tick, cost: Cost) -> Result<Bill, Wait> {
        if self.in_flight >= self.max_in_flight {
            return Err(Wait::Change);
        }
        let cost = MicroTokens::whole(cost.0);
        self.refresh(now);
        let taken = if self.is_open() {
            self.bucket.take_some(now, cost);
            None
        } else {
            Some(self.bucket.take(now, cost).map_err(Wait::Until)?)
        };
        self.in_flight += 1;
        self.cost_in_flight.0 += cost.0;
        Ok(Bill { cost, taken })
    }

    /// Whether [`Self::take`] would admit, were nobody ahead.
    pub(super) fn would_admit(&self, now: Tick, cost: Cost) -> bool {
        self.in_flight < self.max_in_flight && (self.is_open() || self.bucket.covers(now, MicroTokens::whole(cost.0)))
    }

    /// Whether the backend itself has a queue that a new inference would join.
    pub(super) fn backend_queues(&self) -> bool {
        matches!(self.load, Load::Known { waiting, .. } if waiting > 0)
    }

    /// An admitted inference has ended; `real` is what it cost, if that is known.
    pub(super) fn leave(&mut self, now: Tick, bill: Bill, real: Option<Cost>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.cost_in_flight.0 = self.cost_in_flight.0.saturating_sub(bill.cost.0);
        let Some(real) = real.map(|cost| MicroTokens::whole(cost.0)) else { return };
        self.learner.completed(real);
        if let (Charge::Used, Some(taken)) = (self.charge, bill.taken) {
            // The rule of the estimate holds for the real cost too: at most the capacity.
            self.bucket.correct(now, taken, real.min(self.bucket.capacity()));
        }
        self.refresh(now);
    }

    pub(super) fn queued(&self) -> u32 {
        self.queued
    }

    pub(super) fn enqueue(&mut self, cost: Cost) {
        self.queued += 1;
        self.queued_cost.0 += MicroTokens::whole(cost.0).0;
    }

    pub(super) fn dequeue(&mut self, cost: Cost) {
        self.queued = self.queued.saturating_sub(1);
        self.queued_cost.0 = self.queued_cost.0.saturating_sub(MicroTokens::whole(cost.0).0);
    }

    /// How long what waits, and `cost` after it, will take to be refilled.
    pub(super) fn time_to_admit(&self, cost: Cost) -> Duration {
        if self.is_open() {
            return Duration::ZERO;
        }
        let ahead = MicroTokens(self.queued_cost.0.saturating_add(MicroTokens::whole(cost.0).0));
        self.bucket.time_for(ahead)
    }

    pub(super) fn status(&self, now: Tick) -> Status {
        Status {
            rate: if self.is_unlimited() { f64::INFINITY } else { self.bucket.rate().tokens_per_second() },
            tokens: self.bucket.level(now),
            in_flight: self.in_flight,
            queued: self.queued,
            learned: if self.fixed.is_none() { self.learner.capacity() } else { None },
        }
    }

    /// Whether inferences are let in whatever the level: there is no limit, or the backend has a free slot,
    /// so that there is nothing to protect and waiting would be pure loss. Slots are compared with our own
    /// count and not with the last reading, which may be an interval old.
    fn is_open(&self) -> bool {
        self.is_unlimited()
            || self.fixed.is_none()
                && self.learner.capacity().is_some_and(|capacity| f64::from(self.in_flight) + 1.0 <= capacity.slots)
    }

    /// Whether there is no rate at all: the load is unknown, or nothing is learned yet.
    fn is_unlimited(&self) -> bool {
        self.load == Load::Unknown || (self.fixed.is_none() && self.learner.capacity().is_none())
    }

    /// Brings rate and capacity of the bucket up to date with the load.
    fn refresh(&mut self, now: Tick) {
        let idle = match self.load {
            Load::Unknown => 1.0,
            Load::Known { idle, .. } => f64::from(idle.0.get()),
        };
        if let Some(base) = self.fixed {
            self.bucket.set_rate(now, Rate::per_second(founding_rate(base, idle)));
        } else if let Some(capacity) = self.learner.capacity() {
            self.bucket.set_rate(now, Rate::per_second(learned_rate(capacity, idle, self.in_flight)));
            self.bucket.set_capacity(now, MicroTokens::nearest(capacity.at_once));
        }
    }
}

/// rate = base x (0.2 + 0.8 x idle).
fn founding_rate(base: f64, idle: f64) -> f64 {
    base * (FLOOR + (1.0 - FLOOR) * idle)
}

/// The founding formula with a base such that idle 0 admits exactly what the backend completes. Readings
/// are up to one interval old, so our own inferences count at once: with all slots taken the GPU is not
/// idle, whatever the last reading says, and what exceeds the slots is drained by admitting less.
fn learned_rate(capacity: Capacity, idle: f64, in_flight: u32) -> f64 {
    let in_flight = f64::from(in_flight);
    let idle = idle.min(1.0 - in_flight / capacity.slots).max(0.0);
    let drain = (capacity.slots / in_flight.max(1.0)).min(1.0);
    founding_rate(capacity.per_second / FLOOR, idle) * drain
}
