//! All metrics of Weir: their names, their types, and the typed calls that move them.
//!
//! No caller can make a time series: every label is an enum, a `&'static str` of our own, or a
//! [`TaskName`], which exists only by configuration. That is why no method takes a model, a tenant or
//! a path. A [`Meter`] owns its registry, so a test has its own; cloning it is cheap and shares it.
//!
//! The children of the per-call families are resolved once and kept in arrays by label, so that
//! counting a call is one lookup of its task and a few atomic additions.

mod families;
mod labels;
mod task;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use prometheus::{Histogram, IntGauge, IntGaugeVec, Registry, TextEncoder};

use crate::domain::{Load, LoadState, Outcome, Route, Source, TaskName, Tick, Tier};

use families::{Families, Shelf};
pub use labels::{EmbedState, Holding, Reload, Stage, TokenKind};
use task::TaskSeries;

/// All metrics. Clones share one registry.
#[derive(Clone)]
pub struct Meter(Arc<Inner>);

struct Inner {
    registry: Registry,
    catalogue: Vec<String>,
    families: Families,
    stages: [Histogram; Stage::ALL.len()],
    sources: [Histogram; Source::ALL.len()],
    tasks: RwLock<HashMap<TaskName, Arc<TaskSeries>>>,
    clock: Box<dyn Fn() -> Tick + Send + Sync>,
}

/// How a call ended: the one record from which requests, sharing and both ratios are counted.
#[derive(Clone, Copy, Debug)]
pub struct CallEnd {
    /// The surface it came in by.
    pub route: Route,
    /// Where its answer came from.
    pub source: Source,
    /// The tier that matched; only looked at for the sources cache, window and late join.
    pub tier: Option<Tier>,
    /// How it ended for the caller.
    pub outcome: Outcome,
    /// From its head to its last byte.
    pub elapsed: Duration,
}

/// Counts something as held until dropped.
#[derive(Debug)]
#[must_use = "the gauge falls again as soon as this is dropped"]
pub struct Held(IntGauge);

// === impl Meter ===

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}

impl Meter {
    /// A meter of its own, on the system's monotonic clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this floor knows no tokio; who pauses time uses `with_clock`")]
    pub fn new() -> Self {
        let start = Instant::now();
        Self::with_clock(move || Tick(start.elapsed()))
    }

    /// A meter whose 60-second ratios follow `clock`.
    pub fn with_clock(clock: impl Fn() -> Tick + Send + Sync + 'static) -> Self {
        let mut shelf = Shelf::new();
        let families = Families::on(&mut shelf);
        families.build_info.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        families.gpu_idle.set(f64::NAN);
        families.bucket_rate.set(f64::INFINITY);
        let meter = Self(Arc::new(Inner {
            stages: Stage::ALL.map(|stage| families.stage_seconds.with_label_values(&[stage.as_str()])),
            sources: Source::ALL.map(|source| families.request_seconds.with_label_values(&[source.as_str()])),
            registry: shelf.registry,
            catalogue: shelf.catalogue,
            families,
            tasks: RwLock::default(),
            clock: Box::new(clock),
        }));
        meter.load_state(LoadState::Unknown);
        meter.embed_state(EmbedState::Off);
        meter
    }

    /// The page that Prometheus scrapes (text format 0.0.4).
    #[must_use]
    pub fn render(&self) -> String {
        let now = (self.0.clock)();
        for series in self.tasks().values() {
            series.refresh(now);
        }
        let text = TextEncoder::new().encode_to_string(&self.0.registry.gather());
        text.unwrap_or_else(|error| format!("# not rendered: {error}\n"))
    }

    /// Every metric as `name type labels`, for documentation and its snapshot test.
    #[must_use]
    pub fn catalogue(&self) -> &[String] {
        &self.0.catalogue
    }

    // --- calls

    /// Counts a call that has ended; once per call.
    pub fn call_ended(&self, task: &TaskName, end: CallEnd) {
        self.0.sources[end.source as usize].observe(end.elapsed.as_secs_f64());
        self.task(task).call_ended((self.0.clock)(), end);
    }

    /// Counts a call that was not answered, by [`Refusal::code`](crate::domain::Refusal::code).
    pub fn refused(&self, reason: &'static str) {
        self.0.families.refused.with_label_values(&[reason]).inc();
    }

    /// Notes the time of one step.
    pub fn stage(&self, stage: Stage, took: Duration) {
        self.0.stages[stage as usize].observe(took.as_secs_f64());
    }

    /// Notes our own time of one call: neither upstream nor window nor admission.
    pub fn overhead(&self, took: Duration) {
        self.0.families.overhead_seconds.observe(took.as_secs_f64());
    }

    /// Notes how long a call gathered company.
    pub fn window_wait(&self, took: Duration) {
        self.0.families.window_wait_seconds.observe(took.as_secs_f64());
    }

    /// Counts a match that the guard refused.
    pub fn guard_veto(&self, reason: &'static str) {
        self.0.families.vetoes.with_label_values(&[reason]).inc();
    }

    // --- flights and upstream

    /// Counts one inference sent to the upstream.
    pub fn inference(&self, task: &TaskName) {
        self.task(task).inferences.inc();
    }

    /// Notes how many callers, the first one included, one finished inference had.
    pub fn flight_landed(&self, callers: usize) {
        self.0.families.batch_size.observe(callers as f64);
        self.0.families.saved_inferences.observe(callers.saturating_sub(1) as f64);
    }

    /// Counts tokens.
    pub fn tokens(&self, kind: TokenKind, count: u64) {
        self.0.families.tokens.with_label_values(&[kind.as_str()]).inc_by(count);
    }

    /// Counts one edit of a body on its way upstream, by its documented name.
    pub fn splice(&self, name: &'static str) {
        self.0.families.splices.with_label_values(&[name]).inc();
    }

    // --- admission and load

    /// Shows what the backend says of itself. The idle ratio is NaN while nothing is known.
    pub fn load(&self, load: Load) {
        let f = &self.0.families;
        let (idle, running, waiting) = match load {
            Load::Unknown => (f64::NAN, 0, 0),
            Load::Known { idle, waiting, running } => (f64::from(idle.0.get()), running, waiting),
        };
        f.gpu_idle.set(idle);
        f.upstream_running.set(running.into());
        f.upstream_waiting.set(waiting.into());
    }

    /// Shows how far the load readings can be trusted.
    pub fn load_state(&self, state: LoadState) {
        one_of(&self.0.families.load_state, &LoadState::ALL.map(LoadState::as_str), state.as_str());
    }

    /// Shows the GPU bucket: refill in tokens per second (infinite while it is open) and level.
    pub fn bucket(&self, rate: f64, tokens: f64) {
        self.0.families.bucket_rate.set(rate);
        self.0.families.bucket_tokens.set(tokens);
    }

    // --- stores

    /// Shows the size of the result cache.
    pub fn cache_size(&self, entries: u64, bytes: u64) {
        self.0.families.cache_entries.set(i64::try_from(entries).unwrap_or(i64::MAX));
        self.0.families.cache_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Counts one run of the embedding model.
    pub fn embed_run(&self) {
        self.0.families.embed_runs.inc();
    }

    /// Counts one embedding that was known already.
    pub fn embed_cache_hit(&self) {
        self.0.families.embed_cache_hits.inc();
    }

    /// Counts one text left without an embedding.
    pub fn embed_failure(&self, reason: &'static str) {
        self.0.families.embed_failures.with_label_values(&[reason]).inc();
    }

    /// Shows where the embedding model stands.
    pub fn embed_state(&self, state: EmbedState) {
        one_of(&self.0.families.embed_state, &EmbedState::ALL.map(EmbedState::as_str), state.as_str());
    }

    // --- configuration

    /// Shows the configuration in force; the series of the former hash is gone.
    pub fn config_in_force(&self, generation: u64, hash: &str) {
        let f = &self.0.families;
        f.config_generation.set(i64::try_from(generation).unwrap_or(i64::MAX));
        f.config_info.reset();
        f.config_info.with_label_values(&[hash]).set(1);
    }

    /// Counts a reload and shows how it ended.
    pub fn config_reloaded(&self, reload: Reload) {
        self.0.families.config_reloads.with_label_values(&[reload.as_str()]).inc();
        self.0.families.config_ok.set((reload == Reload::Applied).into());
    }

    // --- gauges

    /// Counts something as held until the guard is dropped.
    pub fn hold(&self, what: Holding) -> Held {
        let f = &self.0.families;
        let gauge = match what {
            Holding::Call => &f.calls,
            Holding::Flight => &f.flights,
            Holding::Waiter => &f.waiters,
            Holding::Admission => &f.admission_queue,
            Holding::Embedding => &f.embed_queue,
        };
        gauge.inc();
        Held(gauge.clone())
    }

    // --- children by task

    fn tasks(&self) -> std::sync::RwLockReadGuard<'_, HashMap<TaskName, Arc<TaskSeries>>> {
        self.0.tasks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn task(&self, name: &TaskName) -> Arc<TaskSeries> {
        if let Some(series) = self.tasks().get(name) {
            return Arc::clone(series);
        }
        let mut tasks = self.0.tasks.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tasks.entry(name.clone()).or_insert_with(|| Arc::new(TaskSeries::new(&self.0.families, name))))
    }
}

/// Sets one of a closed set of states to 1 and the others to 0.
fn one_of(family: &IntGaugeVec, all: &[&'static str], current: &'static str) {
    for state in all {
        family.with_label_values(&[state]).set((*state == current).into());
    }
}

// === impl Held ===

impl Drop for Held {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests;
