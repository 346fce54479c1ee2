//! The only place where engines meet.
//!
//! Read [`Gateway::answer`] first: one call, one direction, no step hidden elsewhere. Then
//! `launch.rs`: what a flight does once, in a task of its own. Engines know nothing of each other; what one
//! learns crosses here as a value. Whatever reload changes is in [`Live`], swapped in one step, so a call
//! sees the old world or the new, never a mix; what must outlive a reload (cache, flights, bucket level) is
//! in [`Gateway`].

mod arrivals;
mod aside;
mod launch;
pub mod policy;
mod relay;
mod served;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cache::{Freshness, Hit, Lookup, ResultCache};
use crate::domain::{Call, Match, Refusal, Route, Sharing, Source, TaskName};
use crate::embed::Embedder;
use crate::flights::{Boarding, Flights, LateJoin, WindowMode};
use crate::limit::GpuGate;
use crate::matching::{Features, MatchPolicy, Matcher, Verdict};
use crate::meter::{Meter, Stage, TokenKind};
use crate::upstream::{Forward, StreamUsage, Upstream};

pub use crate::flights::Seat;
pub use crate::upstream::PassBody;
use arrivals::ArrivalBook;
use aside::LONG_TEXT;
pub use aside::{LONG_BODY, aside_if};
pub use policy::{Policies, TaskPatch, TaskPolicy};
pub use served::{Record, Reply, Served, StoredMark};

/// What a caller who gave up in the queue is told to wait; the queue itself moves on meanwhile.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What a reload replaces as a whole.
pub struct Live {
    /// What each task allows.
    pub policies: Policies,
    /// Where inferences go.
    pub upstream: Arc<dyn Upstream>,
    /// Where everything else goes.
    pub forward: Arc<dyn Forward>,
    /// Whether a stream is asked for its usage on a caller's behalf.
    pub stream_usage: StreamUsage,
}

/// The engines of a gateway.
pub struct Engines {
    /// Features and comparison.
    pub matcher: Arc<Matcher>,
    /// Sentence embeddings.
    pub embedder: Arc<dyn Embedder>,
    /// Stored answers.
    pub cache: Arc<ResultCache>,
    /// The GPU bucket.
    pub gate: GpuGate,
    /// All metrics.
    pub meter: Meter,
}

/// Answers calls.
pub struct Gateway {
    live: ArcSwap<Live>,
    engines: Engines,
    flights: Flights,
    arrivals: ArrivalBook,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

// === impl Gateway ===

impl Gateway {
    /// A gateway over these engines.
    #[must_use]
    pub fn new(live: Live, engines: Engines) -> Arc<Self> {
        Arc::new(Self {
            live: ArcSwap::from_pointee(live),
            engines,
            flights: Flights::default(),
            arrivals: ArrivalBook::new(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        })
    }

    /// What is in force now.
    #[must_use]
    pub fn live(&self) -> Arc<Live> {
        self.live.load_full()
    }

    /// Puts another world in force, for calls that arrive from now on.
    pub fn replace(&self, live: Live) {
        self.live.store(Arc::new(live));
    }

    /// All metrics.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.engines.meter
    }

    /// The result cache, to be purged.
    #[must_use]
    pub fn cache(&self) -> &ResultCache {
        &self.engines.cache
    }

    /// Answers one call: from the cache, from another's inference, or from one of its own. For a flight it
    /// resolves when the response head is there. Dropping the future is leaving.
    pub async fn answer(self: &Arc<Self>, call: Call) -> Result<Served, Refusal> {
        let mut record = Record::open(self.meter(), call.route, &call.task);
        let began = Instant::now();
        let live = self.live();
        let policy = live.policies.of(&call.task);
        let matching = policy.matching(call.sharing);
        let long = call.question.len() > LONG_TEXT;
        let question = Arc::new(aside_if(long, || self.engines.matcher.features(&call.question)));

        if let Some(hit) = self.look_up(&call, &question, &matching).await {
            record.add_own_time(began.elapsed());
            return Ok(self.serve_stored(&call, hit, record));
        }
        if call.cache.only_if_cached {
            record.refuse(&Refusal::NotCached);
            return Err(Refusal::NotCached);
        }
        let (seat, source, found) = self.board(&call, &question, &matching, &live);
        record.comes_from(source, found);
        record.waits();
        record.add_own_time(began.elapsed());
        await_head(&call, seat, record, source, found).await
    }

    /// The tiers in order, cheapest first; the embedding is made only if it could find something.
    async fn look_up(&self, call: &Call, question: &Arc<Features>, matching: &MatchPolicy) -> Option<Hit> {
        if matches!(call.sharing, Sharing::Never(_)) || call.cache.no_cache {
            return None;
        }
        let (cache, scope) = (&self.engines.cache, &call.scope);
        let wanted = Freshness { now: Instant::now(), max_age: call.cache.max_age };
        if let Some(hit) = self.timed(Stage::Exact, || cache.exact(scope, question, wanted)) {
            return Some(hit);
        }
        let known = cache.has_candidates(scope);
        if *matching == MatchPolicy::EXACT_ONLY || !(known || self.flights.any(scope, |_| true)) {
            return None;
        }
        // Here and not under a lock of the cache or the flights.
        self.timed(Stage::Features, || aside_if(question.text().len() > LONG_TEXT, || question.prepare()));
        if known {
            let found = self.timed(Stage::Lexical, || cache.similar(scope, question, matching, wanted));
            if let Some(hit) = self.settle(found) {
                return Some(hit);
            }
        }
        let least = matching.semantic?;
        // The guard accepts only what reads the same, so nothing else is worth an embedding.
        if !cache.may_mean_the_same(scope, question)
            && !self.flights.any(scope, |flown| flown.reading_key() == question.reading_key())
        {
            return None;
        }
        self.embed(question).await;
        let slow = cache.searches_slowly(scope);
        let found = self.timed(Stage::Semantic, || aside_if(slow, || cache.semantic(scope, question, least, wanted)));
        self.settle(found)
    }

    fn settle(&self, lookup: Lookup) -> Option<Hit> {
        for veto in lookup.vetoes {
            self.meter().guard_veto(veto.as_str());
        }
        lookup.hit
    }

    /// Gives the question its embedding, unless the embedder has no opinion.
    async fn embed(&self, question: &Features) {
        if question.embedding().is_some() {
            return;
        }
        let began = Instant::now();
        // The embedder counts its own failures; the call goes on without the semantic tier.
        if let Ok(embedding) = self.engines.embedder.embed(question.text()).await {
            question.set_embedding(embedding);
        }
        self.meter().stage(Stage::Embed, began.elapsed());
    }

    /// Whether a flown question answers this one. Runs under a lock of the flights, so questions that the guard
    /// would refuse are told by one number.
    fn same(&self, matching: &MatchPolicy, question: &Features, flown: &Features) -> Option<Match> {
        let by_meaning = *matching != MatchPolicy::EXACT_ONLY;
        let alike = flown.fingerprint() == question.fingerprint()
            || (by_meaning && flown.reading_key() == question.reading_key());
        if !alike {
            return None;
        }
        match self.engines.matcher.compare(matching, question, flown) {
            Verdict::Same(found) => Some(found),
            Verdict::Different => None,
            Verdict::Vetoed { reason, .. } => {
                self.meter().guard_veto(reason.as_str());
                None
            }
        }
    }

    /// Joins a flight of the Scope or opens one and launches it.
    fn board(
        self: &Arc<Self>,
        call: &Call,
        question: &Arc<Features>,
        matching: &MatchPolicy,
        live: &Arc<Live>,
    ) -> (Seat, Source, Option<Match>) {
        let window = &live.policies.of(&call.task).window;
        if window.mode == WindowMode::Adaptive && window.late_join == LateJoin::Off {
            self.arrivals.note(call.scope);
        }
        let boarding = if matches!(call.sharing, Sharing::Never(_)) {
            self.flights.open_alone(call.scope, question, window)
        } else {
            let same = |flown: &Features| self.same(matching, question, flown);
            self.timed(Stage::Join, || self.flights.join_or_open(call.scope, question, window, same))
        };
        match boarding {
            Boarding::Joined { seat, by, found } => (seat, by.into(), Some(found)),
            Boarding::Opened { seat, pilot } => {
                self.launch(call, pilot, live);
                (seat, Source::Upstream, None)
            }
        }
    }

    fn serve_stored(&self, call: &Call, hit: Hit, mut record: Record) -> Served {
        let now = Instant::now();
        let Hit { entry, found } = hit;
        record.comes_from(Source::Cache, Some(found));
        self.meter().tokens(TokenKind::Saved, entry.answer.usage.total());
        let stored = StoredMark {
            entry: entry.id,
            scope: entry.scope,
            question: entry.question.fingerprint(),
            age: entry.age(now),
            fresh_for: entry.fresh_for(now),
        };
        Served {
            source: Source::Cache,
            found: Some(found),
            why: call.sharing.why(),
            flight: None,
            stored: Some(stored),
            reply: Reply::Stored(Arc::clone(&entry.answer)),
            record,
        }
    }

    fn timed<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = work();
        self.meter().stage(stage, began.elapsed());
        done
    }

    /// Carries anything else to the upstream and back, untouched; the record belongs into the reply's body.
    pub async fn forward(
        &self,
        request: ::http::Request<PassBody>,
    ) -> Result<(::http::Response<PassBody>, Record), Refusal> {
        let mut record = Record::open(self.meter(), Route::Other, &TaskName::new("default"));
        record.passes_through();
        match self.live().forward.forward(request).await {
            Ok(response) => Ok((response, record)),
            Err(failure) => {
                let refusal = Refusal::Upstream(failure);
                record.refuse(&refusal);
                Err(refusal)
            }
        }
    }

    /// Waits until every flight has landed; new calls must have been turned away before.
    pub async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends every running flight with an error for its callers.
    pub fn stop(&self) {
        self.stopping.cancel();
    }
}

/// Waits for the head of the flight, no longer than the caller is willing to.
async fn await_head(
    call: &Call,
    mut seat: Seat,
    record: Record,
    source: Source,
    found: Option<Match>,
) -> Result<Served, Refusal> {
    let head = match call.patience {
        Some(patience) => timeout(patience, seat.head()).await.unwrap_or_else(|_| Err(too_late(&seat))),
        None => seat.head().await,
    };
    match head {
        Ok(head) => {
            let flight = Some(seat.flight());
            let reply = Reply::Live { head, seat };
            Ok(Served { source, found, why: call.sharing.why(), flight, stored: None, reply, record })
        }
        Err(refusal) => {
            record.refuse(&refusal);
            Err(refusal)
        }
    }
}

/// Still waiting for the GPU is the queue's fault, anything later the upstream's.
fn too_late(seat: &Seat) -> Refusal {
    if seat.has_departed() { Refusal::TooLate } else { Refusal::Busy { retry_after: RETRY_AFTER } }
}
