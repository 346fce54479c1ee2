//! The task that reads the sources and publishes what they say.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::domain::{GpuIdle, Load, LoadState, Score};
use crate::meter::Meter;

use super::{Config, LoadError, LoadSource, Reading};

/// After so many times `stale_after` a source that was there once counts as absent.
const FORGOTTEN_AFTER: u32 = 12;
/// The longest pause between readings of sources that have never answered: most upstreams have no page, and
/// asking for one every second would fill their logs.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// What is known of the load right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The load, or unknown.
    pub load: Load,
    /// How far the readings can be trusted.
    pub state: LoadState,
}

/// Reads the sources, one per backend, until cancelled.
pub struct LoadProbe {
    backends: Vec<Backend>,
    config: Config,
    meter: Meter,
    publish: watch::Sender<Observation>,
    /// Rounds without any answer, if there has never been one.
    silent_rounds: u32,
}

struct Backend {
    source: Arc<dyn LoadSource>,
    last: Option<(Instant, Reading)>,
    error: Option<LoadError>,
}

// === impl Observation ===

impl Observation {
    /// Nothing read yet.
    pub const UNKNOWN: Self = Self { load: Load::Unknown, state: LoadState::Unknown };
}

// === impl LoadProbe ===

impl LoadProbe {
    /// A probe and where it publishes. Nothing is read before [`Self::run`].
    #[must_use]
    pub fn new(
        sources: Vec<Arc<dyn LoadSource>>,
        config: Config,
        meter: Meter,
    ) -> (Self, watch::Receiver<Observation>) {
        let (publish, observed) = watch::channel(Observation::UNKNOWN);
        let backends = sources.into_iter().map(|source| Backend { source, last: None, error: None }).collect();
        (Self { backends, config, meter, publish, silent_rounds: 0 }, observed)
    }

    /// Reads until `cancel`; returns at once if there is nothing to read.
    pub async fn run(mut self, cancel: CancellationToken) {
        if self.backends.is_empty() {
            return;
        }
        // Cancel-safe: a reading that is dropped has told nobody anything.
        let _ = cancel.run_until_cancelled(self.read_for_ever()).await;
    }

    async fn read_for_ever(&mut self) {
        loop {
            let began = Instant::now();
            self.read_all().await;
            self.tell();
            sleep(self.pause().saturating_sub(began.elapsed())).await;
        }
    }

    async fn read_all(&mut self) {
        let patience = self.config.timeout;
        join_all(self.backends.iter_mut().map(|backend| backend.read(patience))).await;
        let ever = self.backends.iter().any(|backend| backend.last.is_some());
        self.silent_rounds = if ever { 0 } else { self.silent_rounds.saturating_add(1) };
    }

    fn pause(&self) -> Duration {
        let doublings = self.silent_rounds.min(10);
        (self.config.interval * (1 << doublings.saturating_sub(1))).min(LONGEST_PAUSE.max(self.config.interval))
    }

    fn tell(&self) {
        let observation = self.observe(Instant::now());
        self.meter.load(observation.load);
        self.meter.load_state(observation.state);
        let before = self.publish.send_replace(observation);
        let first_silence = self.silent_rounds == 1;
        if before.state != observation.state || first_silence {
            self.log(observation.state);
        }
    }

    fn observe(&self, now: Instant) -> Observation {
        let youngest = self.backends.iter().filter_map(|backend| backend.last).map(|(at, _)| now - at).min();
        let fresh: Vec<Reading> = self
            .backends
            .iter()
            .filter_map(|backend| backend.last)
            .filter(|(at, _)| now.duration_since(*at) <= self.config.stale_after)
            .map(|(_, reading)| reading)
            .collect();
        let state = match youngest {
            Some(age) if age <= self.config.stale_after => LoadState::Fresh,
            Some(age) if age <= self.config.stale_after * FORGOTTEN_AFTER => LoadState::Stale,
            Some(_) | None => LoadState::Unknown,
        };
        Observation { load: combine(&fresh, self.config.slots.map(std::num::NonZero::get)), state }
    }

    fn log(&self, state: LoadState) {
        let reason = self.backends.iter().find_map(|backend| backend.error.as_ref()).map(ToString::to_string);
        let reason = reason.as_deref().unwrap_or("");
        match state {
            LoadState::Fresh => tracing::info!("the load of the upstream is known"),
            LoadState::Stale => tracing::warn!(reason, "the load of the upstream is no longer known"),
            LoadState::Unknown => {
                tracing::info!(
                    reason,
                    "the load of the upstream is not known: inferences are metered, none is refused"
                );
            }
        }
    }
}

// === impl Backend ===

impl Backend {
    async fn read(&mut self, patience: Duration) {
        match timeout(patience, self.source.read()).await.unwrap_or(Err(LoadError::Timeout)) {
            Ok(reading) => (self.last, self.error) = (Some((Instant::now(), reading)), None),
            Err(error) => self.error = Some(error),
        }
    }
}

/// One load for all backends: idle is the mean, requests are summed.
fn combine(fresh: &[Reading], slots: Option<u32>) -> Load {
    if fresh.is_empty() {
        return Load::Unknown;
    }
    let idle: f32 = fresh.iter().map(|reading| reading.idle(slots).0.get()).sum::<f32>() / fresh.len() as f32;
    let total = |part: fn(&Reading) -> u32| fresh.iter().map(part).fold(0, u32::saturating_add);
    Load::Known {
        idle: GpuIdle(Score::clamped(idle)),
        waiting: total(|reading| reading.waiting),
        running: total(|reading| reading.running),
    }
}
