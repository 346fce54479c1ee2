//! The embedder: memory in front, a bounded queue, threads behind.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::memory::{Found, Memory, Outcome};
use super::model::{ModelFiles, OnnxModel};
use super::pace::Pace;
use super::worker::{self, Desk, Job, Load, TextModel};
use super::{Config, EmbedError, EmbedState, Embedder};
use crate::meter::{Holding, Meter};

/// Embeds with an ONNX model on threads of its own. Dropping it ends the threads after the run at hand.
pub struct OnnxEmbedder {
    desk: Arc<Desk>,
    /// `None` when switched off, and while being dropped.
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
    budget: Duration,
}

// === impl OnnxEmbedder ===

impl OnnxEmbedder {
    /// Begins to load the model in the background and returns at once.
    #[must_use]
    pub fn start(config: &Config, meter: Meter) -> Self {
        if !config.enabled {
            return Self::build(config, meter, EmbedState::Off);
        }
        let files = ModelFiles::of(config);
        Self::start_with(config, meter, move || Ok(Box::new(OnnxModel::load(&files)?) as Box<dyn TextModel>))
    }

    /// The same with any model; `load` is called in every thread.
    pub(super) fn start_with<F>(config: &Config, meter: Meter, load: F) -> Self
    where
        F: Fn() -> Result<Box<dyn TextModel>, super::LoadError> + Send + Sync + 'static,
    {
        let mut engine = Self::build(config, meter, EmbedState::Loading);
        let (sender, receiver) = sync_channel(config.queue);
        engine.jobs = Some(sender);
        let (load, receiver): (Arc<Load>, _) = (Arc::new(load), Arc::new(Mutex::new(receiver)));
        engine.desk.alive.store(config.threads, Ordering::Release);
        for _ in 0..config.threads {
            let (desk, load, jobs) = (Arc::clone(&engine.desk), Arc::clone(&load), Arc::clone(&receiver));
            let spawned =
                thread::Builder::new().name("weir-embed".into()).spawn(move || worker::run(&desk, &*load, &jobs));
            match spawned {
                Ok(thread) => engine.threads.push(thread),
                Err(error) => engine.desk.thread_ended(Some(format!("no thread for the model: {error}"))),
            }
        }
        engine
    }

    fn build(config: &Config, meter: Meter, state: EmbedState) -> Self {
        meter.embed_state(state.label());
        let desk = Desk {
            memory: Memory::new(config.cache),
            pace: Pace::default(),
            meter,
            state: watch::Sender::new(state),
            waiting: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
        };
        Self { desk: Arc::new(desk), jobs: None, threads: Vec::new(), budget: config.budget }
    }

    /// Where the model stands.
    #[must_use]
    pub fn state(&self) -> EmbedState {
        self.desk.state.borrow().clone()
    }

    /// Follows the state as it changes.
    #[must_use]
    pub fn states(&self) -> watch::Receiver<EmbedState> {
        self.desk.state.subscribe()
    }

    /// Where the model stands once it is no longer loading. Loading takes a second or two.
    pub async fn loaded(&self) -> EmbedState {
        let mut states = self.states();
        match states.wait_for(|state| *state != EmbedState::Loading).await {
            Ok(state) => state.clone(),
            Err(_) => self.state(),
        }
    }

    async fn outcome(&self, text: &str) -> Outcome {
        if *self.desk.state.borrow() != EmbedState::Ready {
            return Err(EmbedError::Unavailable);
        }
        if let Some(outcome) = self.desk.memory.known(text) {
            self.desk.meter.embed_cache_hit();
            return outcome;
        }
        let run = match self.desk.memory.find_or_begin(text, |text, reply| self.queue(text, reply))? {
            Found::Known(outcome) => return outcome,
            Found::Pending(run) => run,
        };
        // Behind too long a queue waiting is in vain; the run goes on and its result is remembered.
        let ahead = self.desk.waiting.load(Ordering::Relaxed).saturating_sub(1);
        if ahead > 0 && self.desk.pace.expected(ahead, self.threads.len()) > self.budget {
            return Err(EmbedError::OverBudget);
        }
        match timeout(self.budget, run).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_thread_died)) => Err(EmbedError::Unavailable),
            Err(_elapsed) => Err(EmbedError::OverBudget),
        }
    }

    fn queue(&self, text: Arc<str>, reply: oneshot::Sender<Outcome>) -> Result<(), EmbedError> {
        let jobs = self.jobs.as_ref().ok_or(EmbedError::Unavailable)?;
        let queued = self.desk.meter.hold(Holding::Embedding);
        self.desk.waiting.fetch_add(1, Ordering::Relaxed);
        jobs.try_send(Job { text, reply, queued }).map_err(|error| {
            self.desk.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => EmbedError::Full,
                TrySendError::Disconnected(_) => EmbedError::Unavailable,
            }
        })
    }
}

impl Embedder for OnnxEmbedder {
    fn embed<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Outcome> {
        async move {
            let outcome = self.outcome(text).await;
            if let (Err(error), true) = (&outcome, self.jobs.is_some()) {
                self.desk.meter.embed_failure(error.as_str());
            }
            outcome
        }
        .boxed()
    }
}

impl Drop for OnnxEmbedder {
    fn drop(&mut self) {
        self.desk.closing.store(true, Ordering::Relaxed);
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}
