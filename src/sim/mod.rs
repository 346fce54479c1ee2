//! A simulated GPU server that speaks the OpenAI wire format, for tests, the demo and the replays.
//!
//! It does what a real server does to its callers and nothing else: it has slots, makes the callers above
//! them wait in order, takes time by tokens, streams one token a delta and reports its load under vLLM's
//! metric names. Two things a real server cannot do make it worth having. Every answer begins with a [`Tag`]
//! that names the exact prompt which made it, and differs from every other answer, so an answer that was
//! shared wrongly is *visible*. And it fails on demand, in every way in which servers fail ([`Fault`]).
//!
//! No sleeps are needed to test against it: [`SimHandle::hold_after`] stops inferences at a chosen token
//! and [`SimHandle::until`] waits for a state instead of a time.

mod ask;
mod config;
mod fault;
mod gpu;
mod ledger;
mod pages;
mod play;
mod script;
mod server;
mod tag;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

pub use ask::{Ask, Surface, Turn};
pub use config::SimConfig;
pub use fault::{Fault, UnknownFault};
pub use gpu::SimStats;
pub use ledger::Recorded;
pub use tag::{PromptDigest, Tag};

use server::Shared;

/// The simulated server. A name to start one by; the running one is a [`SimHandle`].
#[derive(Debug)]
pub struct Sim;

/// A running simulated server; it stops when the last handle is dropped.
#[derive(Clone)]
pub struct SimHandle {
    /// Where it listens.
    pub addr: SocketAddr,
    shared: Arc<Shared>,
    _stop: Arc<tokio_util::sync::DropGuard>,
}

// === impl Sim ===

impl Sim {
    /// Binds and serves in a task of its own.
    pub async fn start(config: SimConfig) -> io::Result<SimHandle> {
        let listener = tokio::net::TcpListener::bind(config.listen).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared::new(config));
        let stop = CancellationToken::new();
        tokio::spawn(server::serve(listener, Arc::clone(&shared), stop.clone()));
        Ok(SimHandle { addr, shared, _stop: Arc::new(stop.drop_guard()) })
    }
}

// === impl SimHandle ===

impl SimHandle {
    /// Its base URL, without a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// What it has done since the start or the last reset.
    #[must_use]
    pub fn stats(&self) -> SimStats {
        self.shared.gpu.stats()
    }

    /// Inference calls that have arrived since the start or the last reset, faulty ones included.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.stats().calls
    }

    /// Waits until its figures satisfy `reached`; looks at every change, so no state is slept for.
    pub async fn until(&self, reached: impl Fn(&SimStats) -> bool) {
        let mut changes = self.shared.gpu.changes();
        while !reached(&self.stats()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The last requests as they arrived, oldest first, of every path but the simulator's own.
    #[must_use]
    pub fn recorded(&self) -> Vec<Recorded> {
        self.shared.ledger.recorded()
    }

    /// The next inference calls fail in these ways, one fault a call, in the order of their arrival.
    pub fn queue_faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.shared.faults.extend(faults);
    }

    /// From now on every inference stops after it has sent so many tokens (0: before the response head;
    /// an answer that is not streamed always stops there), until [`Self::release`].
    pub fn hold_after(&self, tokens: u32) {
        self.shared.gpu.hold(Some(tokens));
    }

    /// Lets the held inferences go on.
    pub fn release(&self) {
        self.shared.gpu.hold(None);
    }

    /// Forgets figures, recorded requests and queued faults; running inferences go on.
    pub fn reset(&self) {
        self.shared.reset();
    }
}

/// A poisoned lock means that a test panicked while counting; the numbers are still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
