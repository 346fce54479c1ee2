//! The slots of the simulated GPU and everything that is counted.
//!
//! A [`Slot`] is a permit that lives as long as its inference: in the response body to the last byte, so a
//! stream holds it to the end and a caller who leaves gives it back. Counting happens where state changes
//! (on taking and dropping), so no path can forget it. Slot time is the integral of the running count over
//! time, exact at any moment and not only when an inference ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

/// What the simulator has done since its start or the last reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimStats {
    /// Inference calls that arrived, faulty and malformed ones included.
    pub calls: u64,
    /// Inferences that came to their end and were sent in full.
    pub completed: u64,
    /// Inferences that ended before: the caller left, or a fault broke the connection.
    pub aborted: u64,
    /// Calls that were made to fail on demand.
    pub faulted: u64,
    /// Calls waiting for a slot now.
    pub waiting: usize,
    /// Inferences running now.
    pub running: usize,
    /// The most inferences that ever ran at once.
    pub peak_running: usize,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub generation_tokens: u64,
    /// Part of the KV cache in use now, 0..=1.
    pub kv_use: f64,
    /// Number of slots.
    pub slots: usize,
    /// Slot time used, in seconds: two inferences of one second are two, whether at once or in turn.
    pub slot_seconds: f64,
    /// Time since the start or the reset, in seconds.
    pub elapsed_seconds: f64,
    /// `slot_seconds` / (`slots` x `elapsed_seconds`).
    pub busy: f64,
}

/// The slots and the counters.
pub(super) struct Gpu {
    slots: Arc<Semaphore>,
    size: usize,
    kv_tokens: u64,
    meters: Mutex<Meters>,
    changes: watch::Sender<()>,
    hold: watch::Sender<Option<u32>>,
}

struct Meters {
    stats: SimStats,
    kv_used: u64,
    slot_time: Duration,
    started: Instant,
    last_change: Instant,
}

/// One running inference.
pub(super) struct Slot {
    gpu: Arc<Gpu>,
    kv: u64,
    end: End,
    _permit: Option<OwnedSemaphorePermit>,
}

#[derive(PartialEq, Eq)]
enum End {
    Complete,
    Broken,
}

struct Waiting<'a>(&'a Gpu);

// === impl Gpu ===

impl Gpu {
    pub(super) fn new(size: usize, kv_tokens: u64) -> Self {
        let size = size.clamp(1, Semaphore::MAX_PERMITS);
        let now = Instant::now();
        let stats = SimStats { slots: size, ..SimStats::default() };
        Self {
            slots: Arc::new(Semaphore::new(size)),
            size,
            kv_tokens: kv_tokens.max(1),
            meters: Mutex::new(Meters { stats, kv_used: 0, slot_time: Duration::ZERO, started: now, last_change: now }),
            changes: watch::Sender::new(()),
            hold: watch::Sender::new(None),
        }
    }

    /// Waits for a slot, first come first served; `kv` tokens of the cache are taken with it.
    pub(super) async fn slot(self: &Arc<Self>, kv: u64) -> Slot {
        let waiting = Waiting::new(self);
        // The semaphore is never closed; a closed one would mean a slot without a permit, never a panic.
        let permit = Arc::clone(&self.slots).acquire_owned().await.ok();
        drop(waiting);
        self.change(|meters| {
            meters.stats.running += 1;
            meters.stats.peak_running = meters.stats.peak_running.max(meters.stats.running);
            meters.kv_used += kv;
        });
        Slot { gpu: Arc::clone(self), kv, end: End::Broken, _permit: permit }
    }

    /// Counts something and tells those who wait for a state.
    pub(super) fn count(&self, count: impl FnOnce(&mut SimStats)) {
        self.change(|meters| count(&mut meters.stats));
    }

    pub(super) fn stats(&self) -> SimStats {
        let mut meters = super::lock(&self.meters);
        meters.advance();
        let elapsed = meters.last_change.duration_since(meters.started).as_secs_f64();
        let slot_seconds = meters.slot_time.as_secs_f64();
        let busy = if elapsed > 0.0 { slot_seconds / (self.size as f64 * elapsed) } else { 0.0 };
        let kv_use = (meters.kv_used as f64 / self.kv_tokens as f64).min(1.0);
        SimStats { kv_use, slot_seconds, elapsed_seconds: elapsed, busy, ..meters.stats.clone() }
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Inferences stop after so many tokens; `None` lets them go on.
    pub(super) fn hold(&self, after: Option<u32>) {
        self.hold.send_replace(after);
    }

    /// Waits while inferences are held at this point. `sent` counts tokens; `None` is an answer that is
    /// not streamed and stops at any hold.
    pub(super) async fn pass(&self, sent: Option<u32>) {
        let mut hold = self.hold.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = hold.wait_for(|held| held.is_none_or(|after| sent.is_some_and(|sent| sent != after))).await;
    }

    pub(super) fn reset(&self) {
        self.change(|meters| {
            let SimStats { waiting, running, slots, .. } = meters.stats;
            meters.stats = SimStats { waiting, running, slots, peak_running: running, ..SimStats::default() };
            meters.slot_time = Duration::ZERO;
            meters.started = meters.last_change;
        });
    }

    fn change(&self, change: impl FnOnce(&mut Meters)) {
        {
            let mut meters = super::lock(&self.meters);
            meters.advance();
            change(&mut meters);
        }
        self.changes.send_replace(());
    }
}

// === impl Meters ===

impl Meters {
    fn advance(&mut self) {
        let now = Instant::now();
        let running = u32::try_from(self.stats.running).unwrap_or(u32::MAX);
        self.slot_time += now.duration_since(self.last_change) * running;
        self.last_change = now;
    }
}

// === impl Slot ===

impl Slot {
    pub(super) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The inference is over; its last bytes are on their way.
    pub(super) fn complete(mut self) {
        self.end = End::Complete;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.gpu.change(|meters| {
            meters.stats.running -= 1;
            meters.kv_used -= self.kv;
            match self.end {
                End::Complete => meters.stats.completed += 1,
                End::Broken => meters.stats.aborted += 1,
            }
        });
    }
}

// === impl Waiting ===

impl<'a> Waiting<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        gpu.count(|stats| stats.waiting += 1);
        Self(gpu)
    }
}

/// A caller who leaves the queue is no longer counted in it.
impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.count(|stats| stats.waiting -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn slot_time_is_the_sum_over_all_running_inferences() {
        let gpu = Arc::new(Gpu::new(2, 100));
        let (one, two) = (gpu.slot(10).await, gpu.slot(40).await);
        tokio::time::advance(Duration::from_secs(3)).await;
        one.complete();
        tokio::time::advance(Duration::from_secs(1)).await;
        let stats = gpu.stats();
        assert!((stats.slot_seconds - 7.0).abs() < 1e-9, "{stats:?}");
        assert!((stats.busy - 7.0 / 8.0).abs() < 1e-9, "{stats:?}");
        assert!((stats.kv_use - 0.4).abs() < 1e-9, "{stats:?}");
        drop(two);
        assert_eq!((gpu.stats().completed, gpu.stats().aborted, gpu.stats().running), (1, 1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn callers_above_the_slots_wait_in_the_order_of_their_arrival() {
        let gpu = Arc::new(Gpu::new(1, 100));
        let first = gpu.slot(1).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for name in 0..3_usize {
            let (gpu, order) = (Arc::clone(&gpu), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let slot = gpu.slot(1).await;
                order.lock().unwrap().push(name);
                slot.complete();
            }));
            tokio::task::yield_now().await;
        }
        assert_eq!((gpu.stats().waiting, gpu.stats().running), (3, 1));
        first.complete();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_who_leaves_the_queue_is_no_longer_counted() {
        let gpu = Arc::new(Gpu::new(1, 100));
        let _busy = gpu.slot(1).await;
        let left = tokio::time::timeout(Duration::from_secs(1), gpu.slot(1)).await;
        assert!(left.is_err());
        assert_eq!(gpu.stats().waiting, 0);
    }
}
