//! The thread that owns a model.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::memory::{Memory, Outcome};
use super::pace::Pace;
use super::{EmbedError, EmbedState, LoadError};
use crate::meter::{Held, Meter};
use crate::vector::Embedding;

/// Turns a text into a vector. Used by one thread.
pub(super) trait TextModel {
    /// The embedding of the whole text.
    fn embed(&mut self, text: &str) -> Result<Embedding, EmbedError>;
}

/// Loads a model; called once in every thread.
pub(super) type Load = dyn Fn() -> Result<Box<dyn TextModel>, LoadError> + Send + Sync;

/// One text in the queue.
pub(super) struct Job {
    pub(super) text: Arc<str>,
    pub(super) reply: oneshot::Sender<Outcome>,
    /// Shows the text in the gauge of the queue until its run begins.
    pub(super) queued: Held,
}

/// What the threads and the engine share.
pub(super) struct Desk {
    pub(super) memory: Memory,
    pub(super) pace: Pace,
    pub(super) meter: Meter,
    pub(super) state: watch::Sender<EmbedState>,
    /// Texts in the queue.
    pub(super) waiting: AtomicUsize,
    /// Threads that have not ended.
    pub(super) alive: AtomicUsize,
    /// The engine is gone: what is still queued is not worth a run.
    pub(super) closing: AtomicBool,
}

/// Loads a model and serves the queue until it closes. A failure ends the thread; that of the last thread
/// is the state of the engine.
pub(super) fn run(desk: &Desk, load: &Load, jobs: &Mutex<Receiver<Job>>) {
    let served = catch_unwind(AssertUnwindSafe(|| -> Result<(), LoadError> {
        let mut model = load()?;
        desk.announce(EmbedState::Ready);
        serve(desk, &mut *model, jobs);
        Ok(())
    }));
    let failure = match served {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some("the model's thread panicked".to_owned()),
    };
    desk.thread_ended(failure);
}

fn serve(desk: &Desk, model: &mut dyn TextModel, jobs: &Mutex<Receiver<Job>>) {
    let mut has_complained = false;
    loop {
        // The lock is held while waiting: the other threads wait for the lock instead of the queue.
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { text, reply, queued }) = next else { return };
        drop(queued);
        desk.waiting.fetch_sub(1, Ordering::Relaxed);
        if desk.closing.load(Ordering::Relaxed) {
            continue;
        }
        let begun = Instant::now();
        let outcome = model.embed(&text);
        desk.pace.record(begun.elapsed());
        desk.meter.embed_run();
        if outcome == Err(EmbedError::Unavailable) && !has_complained {
            has_complained = true;
            tracing::warn!("the embedding model failed on a text; further failures are only counted");
        }
        desk.memory.finish(&text, &outcome);
        // Nobody may be waiting any more; the result is remembered all the same.
        let _ = reply.send(outcome);
    }
}

// === impl Desk ===

impl Desk {
    /// Changes the state, in the metrics too. Failed is final.
    pub(super) fn announce(&self, state: EmbedState) {
        self.meter.embed_state(state.label());
        self.state.send_replace(state);
    }

    /// Takes note of a thread that is no more, and why if that was not wanted. The text that killed it stays
    /// among the pending ones, where nobody will answer it: it shall not kill the next thread as well.
    pub(super) fn thread_ended(&self, failure: Option<String>) {
        let was_last = self.alive.fetch_sub(1, Ordering::AcqRel) == 1;
        let Some(reason) = failure else { return };
        tracing::error!(reason, "an embedding thread has ended; without any the semantic tier is off");
        if was_last {
            self.announce(EmbedState::Failed(reason.into()));
            self.memory.abandon();
        }
    }
}
