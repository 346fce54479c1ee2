//! What is known already, and what is being found out.
//!
//! One short lock joins a text to the run that is on its way or begins one, so that equal texts at the same
//! time are one run. A result is remembered before its run is forgotten, and the lock is held over both
//! looks; a caller in between therefore finds one or the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::Shared;
use moka::sync::Cache;
use tokio::sync::oneshot;

use super::EmbedError;
use crate::vector::Embedding;

/// How a run ended. Its sender is dropped without a word if the thread dies.
pub(super) type Outcome = Result<Embedding, EmbedError>;

/// A run on its way, for any number of callers.
pub(super) type Pending = Shared<oneshot::Receiver<Outcome>>;

/// What a caller finds.
pub(super) enum Found {
    /// The result of an earlier run.
    Known(Outcome),
    /// A run, of another caller or newly begun.
    Pending(Pending),
}

/// Results by text, bounded in bytes, and runs by text, bounded by the queue.
pub(super) struct Memory {
    /// `None` = too long for the model.
    known: Cache<Arc<str>, Option<Embedding>>,
    pending: Mutex<HashMap<Arc<str>, Pending>>,
}

// === impl Memory ===

impl Memory {
    pub(super) fn new(bytes: u64) -> Self {
        let known = Cache::builder().max_capacity(bytes).weigher(weight).build();
        Self { known, pending: Mutex::default() }
    }

    /// The result for `text` if it is remembered.
    pub(super) fn known(&self, text: &str) -> Option<Outcome> {
        self.known.get(text).map(|result| result.ok_or(EmbedError::TooLong))
    }

    /// The result, or the run that will give it; `begin` starts one, if there is none, and may refuse.
    pub(super) fn find_or_begin(
        &self,
        text: &str,
        begin: impl FnOnce(Arc<str>, oneshot::Sender<Outcome>) -> Result<(), EmbedError>,
    ) -> Result<Found, EmbedError> {
        let mut pending = self.lock();
        if let Some(outcome) = self.known(text) {
            return Ok(Found::Known(outcome));
        }
        if let Some(run) = pending.get(text) {
            return Ok(Found::Pending(run.clone()));
        }
        let (text, (reply, receiver)) = (Arc::<str>::from(text), oneshot::channel());
        begin(Arc::clone(&text), reply)?;
        let run = receiver.shared();
        pending.insert(text, run.clone());
        Ok(Found::Pending(run))
    }

    /// Ends the run for `text`: remembers what does not depend on the moment, and forgets the run.
    pub(super) fn finish(&self, text: &Arc<str>, outcome: &Outcome) {
        match outcome {
            Ok(embedding) => self.known.insert(Arc::clone(text), Some(embedding.clone())),
            Err(EmbedError::TooLong) => self.known.insert(Arc::clone(text), None),
            Err(EmbedError::Full | EmbedError::OverBudget | EmbedError::Unavailable) => {}
        }
        self.lock().remove(text);
    }

    /// Forgets all runs; nobody will end them.
    pub(super) fn abandon(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that a remembered result takes, moka's own bookkeeping (about 150) included.
#[expect(clippy::ref_option, reason = "moka's signature")]
fn weight(text: &Arc<str>, result: &Option<Embedding>) -> u32 {
    let bytes = 150 + text.len() + result.as_ref().map_or(0, Embedding::weight);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
