//! What a caller gets, and the record kept of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::{
    Answer, EntryId, FlightId, Head, Match, Outcome, Refusal, Route, ScopeId, Source, TaskName, WhyNotShared,
};
use crate::flights::Seat;
use crate::meter::{CallEnd, Held, Holding, Meter};
use crate::text::Fingerprint;

/// An answer on its way to one caller.
#[derive(Debug)]
pub struct Served {
    /// Where it comes from.
    pub source: Source,
    /// How the question was matched, if the answer was made for another.
    pub found: Option<Match>,
    /// Why the call shares less than its task allows.
    pub why: Option<WhyNotShared>,
    /// The inference, and how many callers had boarded it when the head arrived.
    pub flight: Option<(FlightId, u32)>,
    /// The stored entry, on a cache hit.
    pub stored: Option<StoredMark>,
    /// The answer.
    pub reply: Reply,
    /// Belongs into the reply's body: finished at its end, dropped early if the caller goes away.
    pub record: Record,
}

/// What a cache hit says of its entry.
#[derive(Clone, Copy, Debug)]
pub struct StoredMark {
    /// The name by which it can be purged.
    pub entry: EntryId,
    /// The Scope in which it is found.
    pub scope: ScopeId,
    /// The fingerprint of the question that made it.
    pub question: Fingerprint,
    /// Time since it was stored.
    pub age: Duration,
    /// How much longer it is fresh.
    pub fresh_for: Duration,
}

/// The answer itself.
#[derive(Debug)]
pub enum Reply {
    /// From the cache, complete.
    Stored(Arc<Answer>),
    /// From a flight: its head is there, its body is read from the seat.
    Live {
        /// Status and headers.
        head: Arc<Head>,
        /// The place on the flight.
        seat: Seat,
    },
}

/// The account of one call, written once when it ends. Dropped unfinished, it says that the caller went
/// away: so every way out is counted, a cancelled task and a panic included.
#[derive(Debug)]
pub struct Record {
    meter: Meter,
    task: TaskName,
    route: Route,
    source: Source,
    found: Option<Match>,
    began: Instant,
    own_time: Duration,
    ended: bool,
    _call: Held,
    waiter: Option<Held>,
}

// === impl Record ===

impl Record {
    /// Opens the account of a call that has just arrived.
    #[must_use]
    pub fn open(meter: &Meter, route: Route, task: &TaskName) -> Self {
        Self {
            meter: meter.clone(),
            task: task.clone(),
            route,
            source: Source::None,
            found: None,
            began: Instant::now(),
            own_time: Duration::ZERO,
            ended: false,
            _call: meter.hold(Holding::Call),
            waiter: None,
        }
    }

    /// The call waits for a flight from now on.
    pub(super) fn waits(&mut self) {
        self.waiter = Some(self.meter.hold(Holding::Waiter));
    }

    /// The answer comes from there.
    pub(super) fn comes_from(&mut self, source: Source, found: Option<Match>) {
        self.source = source;
        self.found = found;
    }

    /// The call passes through untouched.
    pub fn passes_through(&mut self) {
        self.source = Source::Passthrough;
    }

    /// Adds time that we, and nobody else, cost the call.
    pub fn add_own_time(&mut self, took: Duration) {
        self.own_time += took;
    }

    /// Closes the account.
    pub fn finish(mut self, outcome: Outcome) {
        self.close(outcome);
    }

    /// Closes the account of a call that was not answered.
    pub fn refuse(mut self, refusal: &Refusal) {
        self.meter.refused(refusal.code());
        self.comes_from(Source::None, None);
        self.close(refusal.outcome());
    }

    fn close(&mut self, outcome: Outcome) {
        self.ended = true;
        self.waiter = None;
        let (route, source) = (self.route, self.source);
        let tier = self.found.map(|found| found.tier);
        self.meter.call_ended(&self.task, CallEnd { route, source, tier, outcome, elapsed: self.began.elapsed() });
        if source != Source::Passthrough {
            self.meter.overhead(self.own_time);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.ended {
            self.close(Outcome::ClientClosed);
        }
    }
}
