//! One flight, seen by its pilot and by those who wait.
//!
//! All state is behind one short mutex; a `watch` version tells seats that something changed. Progress is
//! never polled: a follower finishes in the same wake-up as the leader.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::log::{Log, Read};
use super::{Abandoned, Config, LateJoin};
use crate::domain::{FlightId, Head, Landing, Match, Refusal, ScopeId, SharedBy, Tier, Usage};
use crate::matching::Features;

/// Where a flight stands.
#[derive(Debug)]
enum Phase {
    Gathering,
    Running,
    Landed(Landing),
}

#[derive(Debug)]
struct State {
    phase: Phase,
    head: Option<Arc<Head>>,
    log: Log,
    /// Everybody who ever took a seat.
    boarded: u32,
    /// Those who still wait.
    seated: u32,
    usage: Usage,
}

/// One inference and all who wait for it.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) id: FlightId,
    pub(super) scope: ScopeId,
    pub(super) question: Arc<Features>,
    pub(super) config: Arc<Config>,
    state: Mutex<State>,
    changed: watch::Sender<()>,
    /// Fires when nobody waits any more and the flight is not to be finished for the cache.
    abandoned: CancellationToken,
}

/// A caller's place on a flight. Dropping it is leaving.
#[derive(Debug)]
pub struct Seat {
    flight: Arc<Flight>,
    changed: watch::Receiver<()>,
    position: usize,
}

/// The handle of the task that flies. Cheap to clone; landing twice is harmless, the first one counts.
#[derive(Clone, Debug)]
pub struct Pilot {
    pub(super) flight: Arc<Flight>,
}

// === impl Flight ===

impl Flight {
    pub(super) fn new(id: FlightId, scope: ScopeId, question: Arc<Features>, config: Arc<Config>) -> Self {
        let state = State {
            phase: Phase::Gathering,
            head: None,
            log: Log::new(config.max_log_bytes),
            boarded: 0,
            seated: 0,
            usage: Usage::default(),
        };
        Self {
            id,
            scope,
            question,
            config,
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
            abandoned: CancellationToken::new(),
        }
    }

    /// A panic while the lock was held cannot leave the state half-changed: every change is one assignment
    /// or one push, so a poisoned lock is as good as a clean one.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.send_replace(());
    }

    /// Takes a seat for the caller who opened the flight.
    pub(super) fn first_seat(self: &Arc<Self>) -> Seat {
        self.seat(&mut self.state())
    }

    fn seat(self: &Arc<Self>, state: &mut State) -> Seat {
        state.boarded += 1;
        state.seated += 1;
        self.changed.send_replace(());
        Seat { flight: Arc::clone(self), changed: self.changed.subscribe(), position: 0 }
    }

    /// Takes a seat for a caller whose question matches, if this flight may still take it.
    pub(super) fn try_join(self: &Arc<Self>, found: Match) -> Option<(Seat, SharedBy)> {
        let mut state = self.state();
        let by = self.boarding_for(&state, found)?;
        Some((self.seat(&mut state), by))
    }

    fn boarding_for(&self, state: &State, found: Match) -> Option<SharedBy> {
        let config = &self.config;
        if self.abandoned.is_cancelled() || state.seated >= config.max_waiters || !state.log.is_whole() {
            return None;
        }
        let room = state.boarded < config.max_callers;
        match &state.phase {
            Phase::Gathering if room => Some(SharedBy::Window),
            Phase::Gathering | Phase::Running | Phase::Landed(Landing::Answered(_)) => {
                let allowed = config.late_join == LateJoin::On && (room || found.tier == Tier::Exact);
                allowed.then_some(SharedBy::LateJoin)
            }
            Phase::Landed(_) => None,
        }
    }

    fn leave(&self) {
        let mut state = self.state();
        state.seated -= 1;
        let unfinished = !matches!(state.phase, Phase::Landed(_));
        if state.seated == 0 && unfinished && self.config.abandoned == Abandoned::Cancel {
            self.abandoned.cancel();
        }
    }
}

// === impl Seat ===

impl Seat {
    /// The flight's id and how many callers have boarded it so far.
    #[must_use]
    pub fn flight(&self) -> (FlightId, u32) {
        (self.flight.id, self.flight.state().boarded)
    }

    /// Whether the inference has started.
    #[must_use]
    pub fn has_departed(&self) -> bool {
        !matches!(self.flight.state().phase, Phase::Gathering)
    }

    /// Waits for the response head.
    pub async fn head(&mut self) -> Result<Arc<Head>, Refusal> {
        self.wait_for(|state, _| match (&state.head, &state.phase) {
            (Some(head), _) => Some(Ok(Arc::clone(head))),
            (None, Phase::Landed(landing)) => Some(Err(refusal(landing).unwrap_or(Refusal::Internal))),
            (None, _) => None,
        })
        .await
    }

    /// The next event (or chunk) of the body; `None` at its end. Cancel-safe: the position moves only with
    /// the value returned.
    pub async fn next(&mut self) -> Option<Result<Bytes, Refusal>> {
        let next = self
            .wait_for(|state, position| match (state.log.read(position), &state.phase) {
                (Read::Event(event), _) => Some(Some(Ok(event))),
                (Read::Dropped, _) => Some(Some(Err(Refusal::SlowReader))),
                (Read::NotYet, Phase::Landed(landing)) => Some(refusal(landing).map(Err)),
                (Read::NotYet, _) => None,
            })
            .await;
        self.position += 1;
        next
    }

    async fn wait_for<T>(&mut self, mut look: impl FnMut(&State, usize) -> Option<T>) -> T {
        loop {
            // Mark the version as seen before looking, so that a change after the look wakes us.
            self.changed.mark_unchanged();
            if let Some(found) = look(&self.flight.state(), self.position) {
                return found;
            }
            // The sender lives in the flight that we hold, so this cannot fail.
            let _ = self.changed.changed().await;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.flight.leave();
    }
}

/// What a landing means for someone who has read everything there is; `None` is a proper end.
fn refusal(landing: &Landing) -> Option<Refusal> {
    match landing {
        Landing::Answered(_) | Landing::NotShareable => None,
        Landing::Failed(failure) => Some(Refusal::Upstream(*failure)),
        Landing::Lost => Some(Refusal::Internal),
        Landing::TooLate { retry_after } => Some(Refusal::Busy { retry_after: *retry_after }),
    }
}

// === impl Pilot ===

impl Pilot {
    /// The flight's id.
    #[must_use]
    pub fn id(&self) -> FlightId {
        self.flight.id
    }

    /// The question that is flown.
    #[must_use]
    pub fn question(&self) -> &Arc<Features> {
        &self.flight.question
    }

    /// Callers who have boarded so far.
    #[must_use]
    pub fn boarded(&self) -> u32 {
        self.flight.state().boarded
    }

    /// Resolves once the window has no seat left.
    pub async fn full(&self) {
        let mut changed = self.flight.changed.subscribe();
        while self.boarded() < self.flight.config.max_callers {
            let _ = changed.changed().await;
        }
    }

    /// Resolves when nobody waits any more and the inference should stop.
    pub async fn abandoned(&self) {
        self.flight.abandoned.cancelled().await;
    }

    /// Closes the window: from now on a join is a late one.
    pub fn depart(&self) {
        self.flight.change(|state| {
            if matches!(state.phase, Phase::Gathering) {
                state.phase = Phase::Running;
            }
        });
    }

    /// Publishes the response head.
    pub fn head(&self, head: Head) {
        self.flight.change(|state| state.head = Some(Arc::new(head)));
    }

    /// Whether a head has been published: from then on a second try would mix two answers.
    #[must_use]
    pub fn has_head(&self) -> bool {
        self.flight.state().head.is_some()
    }

    /// Publishes one event (or chunk) of the body.
    pub fn push(&self, event: Bytes) {
        self.flight.change(|state| state.log.push(event));
    }

    /// Everything published so far, if it is all still there.
    #[must_use]
    pub fn published(&self) -> Option<(Arc<Head>, Vec<Bytes>)> {
        let state = self.flight.state();
        Some((state.head.clone()?, state.log.whole()?))
    }

    /// Notes what the inference cost.
    pub fn cost(&self, usage: Usage) {
        self.flight.state().usage = usage;
    }

    /// What the inference cost, as far as it is known.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.flight.state().usage
    }

    /// Ends the flight. Only the first landing counts.
    pub fn land(&self, landing: Landing) {
        self.flight.change(|state| {
            if !matches!(state.phase, Phase::Landed(_)) {
                state.phase = Phase::Landed(landing);
            }
        });
    }
}
