//! Plays a script: waits, sends, breaks, and lets go of the slot with the last byte.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::Instant;

use super::gpu::{Gpu, Slot};
use super::script::{Break, Step};

/// The connection ends here, on demand.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the connection was broken on demand")]
pub(super) struct Broken;

/// Whether a connection is to be reset rather than closed when it is dropped.
#[derive(Clone, Default)]
pub(super) struct Ending(Arc<AtomicBool>);

/// A script being played.
pub(super) struct Player {
    pub(super) started: Instant,
    pub(super) slot: Option<Slot>,
    pub(super) ending: Ending,
}

// === impl Ending ===

impl Ending {
    pub(super) fn is_reset(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn end(&self, how: Break) -> Broken {
        self.0.store(how == Break::Reset, Ordering::Release);
        Broken
    }
}

// === impl Player ===

impl Player {
    /// The steps before the response head.
    pub(super) async fn before_head(&self, steps: Vec<Step>) -> Result<(), Broken> {
        for step in steps {
            self.play(step).await?;
        }
        Ok(())
    }

    /// The rest, as a response body. Dropping it early gives the slot back and counts as aborted.
    pub(super) fn body(self, steps: VecDeque<Step>) -> impl Stream<Item = Result<Bytes, Broken>> + Send {
        unfold((self, steps), |(mut player, mut steps)| async move {
            while let Some(step) = steps.pop_front() {
                match player.play(step).await {
                    Ok(None) => {}
                    Ok(Some(bytes)) => {
                        // Before the caller can see the end, the figures already tell of it.
                        if let Some(slot) = player.slot.take_if(|_| steps.is_empty()) {
                            slot.complete();
                        }
                        return Some((Ok(bytes), (player, steps)));
                    }
                    Err(broken) => return Some((Err(broken), (player, VecDeque::new()))),
                }
            }
            None
        })
    }

    async fn play(&self, step: Step) -> Result<Option<Bytes>, Broken> {
        match step {
            Step::Until(at) => tokio::time::sleep_until(self.started + at).await,
            Step::Pass(sent) => {
                if let Some(gpu) = self.gpu() {
                    gpu.pass(sent).await;
                }
            }
            Step::Send(bytes, tokens) => {
                if let Some(gpu) = self.gpu().filter(|_| tokens > 0) {
                    gpu.count(|stats| stats.generation_tokens += u64::from(tokens));
                }
                return Ok(Some(bytes));
            }
            Step::Hang => std::future::pending().await,
            Step::Break(how) => {
                // Going round once lets the connection flush what came before.
                tokio::task::yield_now().await;
                return Err(self.ending.end(how));
            }
        }
        Ok(None)
    }

    fn gpu(&self) -> Option<&Arc<Gpu>> {
        self.slot.as_ref().map(Slot::gpu)
    }
}
