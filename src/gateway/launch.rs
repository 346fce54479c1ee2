//! What a flight does, once, in a task of its own:
//! gather -> admission -> upstream -> store -> publish -> linger one window -> leave the list.
//!
//! Storing comes before the landing is published, and the landed flight lingers, so a call that arrives as
//! the first one completes finds the answer in one of the two. A panic on the way is caught here: one
//! successor flies again, unless callers have already been given a head.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, sleep, timeout};

use super::aside::{LONG_TEXT, aside_if};
use super::relay::{Relayed, Shareable, relay};
use super::{Gateway, Live, TaskPolicy};
use crate::cache::Entry;
use crate::domain::{Answer, Call, Landing, ReplyMode, Sharing, UpstreamFailure, UpstreamRequest};
use crate::embed::EmbedError;
use crate::flights::{LateJoin, Pilot, WindowMode};
use crate::limit::Permit;
use crate::meter::{Holding, Stage, TokenKind};
use crate::upstream::StreamUsage;
use crate::wire::splice;
use crate::wire::tally::Expected;

/// Pauses before a busy embedder is asked again for a stored question.
const EMBED_AGAIN: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_secs(2), Duration::from_secs(10)];

/// Everything that one flight needs.
struct Journey {
    gateway: Arc<Gateway>,
    live: Arc<Live>,
    call: Call,
    pilot: Pilot,
}

// === impl Gateway ===

impl Gateway {
    /// Flies a flight in a task of its own: no caller's leaving can end it before its time.
    pub(super) fn launch(self: &Arc<Self>, call: &Call, pilot: Pilot, live: &Arc<Live>) {
        let journey = Journey { gateway: Arc::clone(self), live: Arc::clone(live), call: call.clone(), pilot };
        self.tasks.spawn(journey.fly());
    }

    /// Makes a stored entry findable by meaning. Nobody waits for it, so a busy embedder is asked again.
    async fn embed_stored(&self, entry: &Entry) {
        for pause in EMBED_AGAIN {
            match self.engines.embedder.embed(entry.question.text()).await {
                Ok(embedding) => {
                    entry.question.set_embedding(embedding);
                    let cache = &self.engines.cache;
                    return aside_if(cache.writes_slowly(&entry.scope), || cache.embedded(entry));
                }
                Err(EmbedError::Full | EmbedError::OverBudget) => sleep(pause).await,
                Err(EmbedError::TooLong | EmbedError::Unavailable) => return,
            }
        }
    }
}

// === impl Journey ===

impl Journey {
    async fn fly(self) {
        let running = self.gateway.meter().hold(Holding::Flight);
        let landing = self.land_once_or_twice().await;
        drop(running);
        if let Landing::Answered(answer) = &landing {
            self.store(answer);
        }
        self.pilot.land(landing);
        sleep(self.policy().window.length).await;
        self.gateway.flights.remove(&self.pilot);
        self.account();
    }

    /// A lost leader elects one successor, as long as nobody has been given a part of its answer.
    async fn land_once_or_twice(&self) -> Landing {
        let first = self.land_unless_ended().await;
        if matches!(first, Landing::Lost) && !self.pilot.has_head() {
            return self.land_unless_ended().await;
        }
        first
    }

    async fn land_unless_ended(&self) -> Landing {
        // Dropping the attempt drops the upstream request and its permit, which is what cancelling means.
        tokio::select! {
            landing = AssertUnwindSafe(self.attempt()).catch_unwind() => landing.unwrap_or(Landing::Lost),
            () = self.pilot.abandoned() => Landing::Failed(UpstreamFailure::Abandoned),
            () = self.gateway.stopping.cancelled() => Landing::Failed(UpstreamFailure::ShuttingDown),
        }
    }

    async fn attempt(&self) -> Landing {
        self.gather().await;
        let mut permit = match self.admit().await {
            Ok(permit) => permit,
            Err(landing) => return landing,
        };
        self.pilot.depart();
        let began = Instant::now();
        self.gateway.meter().inference(&self.call.task);
        let response = match self.live.upstream.send(self.request()).await {
            Ok(response) => response,
            Err(failure) => return Landing::Failed(failure),
        };
        self.gateway.meter().stage(Stage::FirstByte, began.elapsed());
        let expected = Expected::of(self.call.route, &self.call.request.body);
        let relayed = relay(response, expected, &self.pilot, self.policy().window.max_log_bytes).await;
        self.gateway.meter().stage(Stage::Upstream, began.elapsed());
        self.gateway.meter().tokens(TokenKind::Upstream, relayed.usage.total());
        self.pilot.cost(relayed.usage);
        if relayed.ending.is_ok() {
            permit.settle(&self.call.task, relayed.usage);
        }
        self.conclude(&relayed)
    }

    /// Holds the flight for others to join, where that is free or pays.
    async fn gather(&self) {
        let window = &self.policy().window;
        let holds = match window.mode {
            WindowMode::Fixed => true,
            // Whoever comes later joins the running inference, so holding it would only cost time. Waiting
            // for the GPU, which is free, happens in `admit`, and the window stays open meanwhile.
            WindowMode::Adaptive if window.late_join == LateJoin::On => false,
            WindowMode::Adaptive => self.gateway.arrivals.expects_company(self.call.scope, window.length),
        };
        if holds {
            let began = Instant::now();
            let _ = timeout(window.length, self.pilot.full()).await;
            self.gateway.meter().window_wait(began.elapsed());
        }
    }

    async fn admit(&self) -> Result<Permit, Landing> {
        let gate = &self.gateway.engines.gate;
        let cost = gate.cost(&self.call.task, self.call.max_tokens);
        // No deadline: the first caller's patience is not that of those who joined. When all have left, the
        // flight is abandoned, and its place in the queue with it.
        gate.admit(cost, None).await.map_err(|busy| Landing::TooLate { retry_after: busy.retry_after })
    }

    /// The caller's own bytes, but for the named splices.
    fn request(&self) -> Arc<UpstreamRequest> {
        let request = &self.call.request;
        let silent = self.call.mode == ReplyMode::Stream { include_usage: false };
        if !silent || self.live.stream_usage == StreamUsage::Leave {
            return Arc::clone(request);
        }
        match splice::include_usage(&request.body) {
            Ok(body) => {
                self.gateway.meter().splice("include_usage");
                Arc::new(UpstreamRequest { body, ..(**request).clone() })
            }
            Err(_) => Arc::clone(request),
        }
    }

    fn conclude(&self, relayed: &Relayed) -> Landing {
        match relayed.ending {
            Err(failure) => Landing::Failed(failure),
            Ok(Shareable::No) => Landing::NotShareable,
            // A log that had to drop its beginning has nothing whole to share.
            Ok(Shareable::Yes) => self.pilot.published().map_or(Landing::NotShareable, |(head, parts)| {
                Landing::Answered(Arc::new(Answer { head: (*head).clone(), parts, usage: relayed.usage }))
            }),
        }
    }

    /// Stores the answer; and, now that nobody waits for it, makes it findable by meaning.
    fn store(&self, answer: &Arc<Answer>) {
        if matches!(self.call.sharing, Sharing::Never(_)) {
            return;
        }
        let policy = self.policy();
        let matching = policy.matching(self.call.sharing);
        let began = Instant::now();
        let (cache, scope) = (&self.gateway.engines.cache, self.call.scope);
        let slow = cache.writes_slowly(&scope) || self.call.question.len() > LONG_TEXT;
        let entry = aside_if(slow, || {
            cache.put(scope, self.pilot.question(), Arc::clone(answer), &matching, policy.ttl, began)
        });
        self.gateway.meter().stage(Stage::Store, began.elapsed());
        if matching.semantic.is_some() && entry.question.embedding().is_none() {
            let gateway = Arc::clone(&self.gateway);
            self.gateway.tasks.spawn(async move { gateway.embed_stored(&entry).await });
        }
    }

    /// Counts what the flight was worth, once nobody can board it any more.
    fn account(&self) {
        let callers = self.pilot.boarded();
        let meter = self.gateway.meter();
        meter.flight_landed(callers as usize);
        meter.tokens(TokenKind::Saved, u64::from(callers.saturating_sub(1)) * self.pilot.usage().total());
    }

    fn policy(&self) -> &TaskPolicy {
        self.live.policies.of(&self.call.task)
    }
}

/// However the task ends, a panic included: nobody waits for ever, and nobody finds a dead flight.
impl Drop for Journey {
    fn drop(&mut self) {
        self.pilot.land(Landing::Lost);
        self.gateway.flights.remove(&self.pilot);
    }
}
