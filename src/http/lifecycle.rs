//! From the first request to the last: running, draining, cut, closed.
//!
//! *Draining*: nothing new is begun, what runs goes on. *Cut*: what still runs is told so and ends.
//! *Closed*: connections end, whatever they hold. Each stage includes the ones before it.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The stages of stopping, and the replies that still run. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    draining: CancellationToken,
    cut: CancellationToken,
    closed: CancellationToken,
    replies: TaskTracker,
}

/// Held by a reply until its last byte is handed over.
#[derive(Debug)]
pub struct Underway(#[expect(dead_code, reason = "held, not read")] TaskTrackerToken);

// === impl Lifecycle ===

impl Lifecycle {
    /// A new reply begins.
    #[must_use]
    pub fn begin(&self) -> Underway {
        Underway(self.replies.token())
    }

    /// From now on nothing new is begun.
    pub fn drain(&self) {
        self.draining.cancel();
        self.replies.close();
    }

    /// Replies that still run end now.
    pub fn cut(&self) {
        self.drain();
        self.cut.cancel();
    }

    /// Connections end now.
    pub fn close(&self) {
        self.cut();
        self.closed.cancel();
    }

    /// Whether nothing new is begun any more.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Resolves when draining begins.
    pub async fn draining(&self) {
        self.draining.cancelled().await;
    }

    /// Resolves when running replies must end.
    pub async fn cutting(&self) {
        self.cut.cancelled().await;
    }

    /// Resolves when connections must end.
    pub async fn closing(&self) {
        self.closed.cancelled().await;
    }

    /// Resolves when, after [`Lifecycle::drain`], no reply runs any more.
    pub async fn idle(&self) {
        self.replies.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn the_last_reply_that_ends_makes_a_draining_process_idle() {
        let life = Lifecycle::default();
        let (one, two) = (life.begin(), life.begin());
        life.drain();
        drop(one);
        assert!(life.idle().now_or_never().is_none());
        drop(two);
        assert!(life.idle().now_or_never().is_some());
    }

    #[test]
    fn each_stage_includes_the_ones_before() {
        let life = Lifecycle::default();
        life.close();
        assert!(life.is_draining() && life.cutting().now_or_never().is_some());
    }
}
