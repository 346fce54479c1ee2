//! The gate in front of the GPU: the founding idle-aware token bucket, and a cap on what is in flight.
//!
//! Only inferences pay (a flight's leader, each retry again); cache hits and joiners never come here.
//! What finds no tokens waits, first come first served, up to `max_wait` or its deadline, and is only then
//! refused. Rate = base x (0.2 + 0.8 x idle). With `base_rate = "auto"` the gate starts open, learns the
//! backend's capacity (see [`Capacity`]) and then lets the excess wait here, where it can still be joined,
//! cancelled and ordered, instead of inside the backend. It never holds back what a free slot could take.
//!
//! Invariants: no schedule issues more than the bucket's filling and refill; an unknown load meters and
//! never refuses; a waiter that goes away leaves no trace; a [`Permit`] counts until it is dropped, which
//! is why it lives in the response body.
//!
//! Why waiting is a turnstile and not a list of wakers: a fair semaphore of one already is the queue, in
//! order and cancel-safe, and only the one in front has to watch the clock and the load.

mod config;
mod learner;
mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::domain::{Cost, Load, MaxTokens, TaskName, Tick, Usage};
use crate::meter::{Holding, Meter, Stage};

pub use config::{BaseRate, Charge, Config, ConfigError, Preset, Weights};
pub use learner::Capacity;
pub use state::Status;
use state::{Bill, State, Wait};

/// The least and the most that a refused caller is told to wait.
const RETRY_AFTER: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// Not admitted in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the inference servers are busy")]
pub struct Busy {
    /// When a new try makes sense; at least a second.
    pub retry_after: Duration,
}

/// The gate. Clones share it.
#[derive(Clone)]
pub struct GpuGate(Arc<Shared>);

struct Shared {
    config: ArcSwap<Config>,
    state: Mutex<State>,
    /// One place: whoever holds it is next.
    turnstile: Semaphore,
    /// Tokens, load or cap may have changed; only the one in front listens.
    changed: Notify,
    start: Instant,
    meter: Meter,
}

/// The right to one inference. Holds its place in the in-flight cap until dropped.
#[must_use = "dropping the permit ends the inference's stay at the upstream"]
pub struct Permit {
    gate: GpuGate,
    bill: Bill,
    real: Option<Cost>,
}

/// A waiter's place; leaves the queue when dropped.
struct Place<'a> {
    gate: &'a GpuGate,
    cost: Cost,
}

// === impl GpuGate ===

impl fmt::Debug for GpuGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GpuGate").field(&self.status()).finish()
    }
}

impl GpuGate {
    /// A gate with a full bucket, at an unknown load.
    #[must_use]
    pub fn new(config: Config, meter: Meter) -> Self {
        let gate = Self(Arc::new(Shared {
            state: Mutex::new(State::new(&config, Tick::START)),
            config: ArcSwap::from_pointee(config),
            turnstile: Semaphore::new(1),
            changed: Notify::new(),
            start: Instant::now(),
            meter,
        }));
        gate.show(gate.status());
        gate
    }

    /// What an inference of this task is charged before it is known what it takes.
    #[must_use]
    pub fn cost(&self, task: &TaskName, max_tokens: Option<MaxTokens>) -> Cost {
        self.0.config.load().cost(task, max_tokens)
    }

    /// Lets an inference of that cost through, at once or after a wait up to `max_wait` and `deadline`.
    /// First come, first served. Dropping the future gives up the place. Notes the stage `admission`.
    pub async fn admit(&self, cost: Cost, deadline: Option<Instant>) -> Result<Permit, Busy> {
        let came = Instant::now();
        if let Some(permit) = self.try_admit(cost) {
            self.0.meter.stage(Stage::Admission, Duration::ZERO);
            return Ok(permit);
        }
        let place = self.queue_up(cost)?;
        let _gauge = self.0.meter.hold(Holding::Admission);
        let patience = came + self.0.config.load().max_wait;
        let limit = deadline.map_or(patience, |deadline| deadline.min(patience));
        let admitted = timeout_at(limit, self.wait_in_line(cost)).await;
        self.0.meter.stage(Stage::Admission, came.elapsed());
        drop(place);
        admitted.map_err(|_| self.busy(cost))
    }

    /// Lets it through at once or not at all; never past those who wait.
    #[must_use]
    pub fn try_admit(&self, cost: Cost) -> Option<Permit> {
        let now = self.now();
        let mut state = self.state();
        if state.queued() > 0 {
            return None;
        }
        let bill = state.take(now, cost).ok()?;
        Some(self.permit(bill))
    }

    /// Whether an inference of that cost would wait, here or inside the backend. Where it does, waiting
    /// for company costs nothing.
    #[must_use]
    pub fn would_wait(&self, cost: Cost) -> bool {
        let now = self.now();
        let state = self.state();
        state.queued() > 0 || state.backend_queues() || !state.would_admit(now, cost)
    }

    /// A new reading of the load.
    pub fn set_load(&self, load: Load) {
        let now = self.now();
        self.change(|state| state.set_load(load, now));
    }

    /// Other numbers from now on, for those who wait too. The level of the bucket stays.
    pub fn reconfigure(&self, config: Config) {
        let now = self.now();
        self.change(|state| state.reconfigure(&config, now));
        self.0.config.store(Arc::new(config));
    }

    /// Rate, level, counts.
    #[must_use]
    pub fn status(&self) -> Status {
        self.state().status(self.now())
    }

    fn queue_up(&self, cost: Cost) -> Result<Place<'_>, Busy> {
        let max_queue = self.0.config.load().max_queue;
        let mut state = self.state();
        if state.queued() >= max_queue {
            drop(state);
            return Err(self.busy(cost));
        }
        state.enqueue(cost);
        Ok(Place { gate: self, cost })
    }

    /// Cancel-safe: both awaits lose nothing when dropped, and between the charge and the permit there is none.
    async fn wait_in_line(&self, cost: Cost) -> Permit {
        let _in_front = self.0.turnstile.acquire().await;
        loop {
            let now = self.now();
            let wait = match self.state().take(now, cost) {
                Ok(bill) => return self.permit(bill),
                Err(wait) => wait,
            };
            let changed = self.0.changed.notified();
            match wait {
                Wait::Until(tick) => drop(timeout_at(self.instant(tick), changed).await),
                Wait::Change => changed.await,
            }
        }
    }

    fn busy(&self, cost: Cost) -> Busy {
        let (least, most) = RETRY_AFTER;
        Busy { retry_after: self.state().time_to_admit(cost).clamp(least, most) }
    }

    fn permit(&self, bill: Bill) -> Permit {
        Permit { gate: self.clone(), bill, real: None }
    }

    fn change(&self, apply: impl FnOnce(&mut State)) {
        let now = self.now();
        let mut state = self.state();
        apply(&mut state);
        let status = state.status(now);
        drop(state);
        self.show(status);
        if status.queued > 0 {
            self.0.changed.notify_one();
        }
    }

    fn show(&self, status: Status) {
        self.0.meter.bucket(status.rate, status.tokens);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Tick {
        Tick(self.0.start.elapsed())
    }

    fn instant(&self, tick: Tick) -> Instant {
        // A bucket without refill is never ready; look again in a while.
        self.0.start.checked_add(tick.0).unwrap_or_else(|| Instant::now() + RETRY_AFTER.1)
    }
}

// === impl Place ===

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.gate.state().dequeue(self.cost);
    }
}

// === impl Permit ===

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("bill", &self.bill).finish_non_exhaustive()
    }
}

impl Permit {
    /// Tells what the inference really took, before the permit is dropped: it corrects the charge and
    /// teaches the gate what the backend can do. A complete answer that told no usage counts as estimated.
    /// An inference that failed is not settled: its attempt has been paid.
    pub fn settle(&mut self, task: &TaskName, usage: Usage) {
        let produced = u32::try_from(usage.completion).unwrap_or(u32::MAX);
        self.real = Some(match usage.total() {
            0 => self.estimate(),
            _ => self.gate.cost(task, Some(MaxTokens(produced))),
        });
    }

    fn estimate(&self) -> Cost {
        Cost(u32::try_from(self.bill.cost.0 / 1_000_000).unwrap_or(u32::MAX))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let now = self.gate.now();
        let (bill, real) = (self.bill, self.real);
        self.gate.change(|state| state.leave(now, bill, real));
    }
}
