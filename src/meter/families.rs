//! The list of all metrics: name, type, labels, buckets. The only place where a metric is named.

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
};

/// Seconds, from ten microseconds (a lookup) to five minutes (a long generation).
const SECONDS: [f64; 24] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
    0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0,
];

/// Callers of one inference: each size up to the default batch of ten, then identical late joiners.
const CALLERS: [f64; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 30.0, 100.0, 1000.0, 4096.0, 16384.0];

pub(super) struct Families {
    pub(super) requests: IntCounterVec,
    pub(super) request_seconds: HistogramVec,
    pub(super) shared: IntCounterVec,
    pub(super) inferences: IntCounterVec,
    pub(super) tokens: IntCounterVec,
    pub(super) aggregation_ratio: GaugeVec,
    pub(super) hit_ratio: GaugeVec,
    pub(super) batch_size: Histogram,
    pub(super) saved_inferences: Histogram,
    pub(super) stage_seconds: HistogramVec,
    pub(super) overhead_seconds: Histogram,
    pub(super) window_wait_seconds: Histogram,
    pub(super) refused: IntCounterVec,
    pub(super) vetoes: IntCounterVec,
    pub(super) splices: IntCounterVec,
    pub(super) gpu_idle: Gauge,
    pub(super) load_state: IntGaugeVec,
    pub(super) upstream_running: IntGauge,
    pub(super) upstream_waiting: IntGauge,
    pub(super) bucket_rate: Gauge,
    pub(super) bucket_tokens: Gauge,
    pub(super) calls: IntGauge,
    pub(super) flights: IntGauge,
    pub(super) waiters: IntGauge,
    pub(super) admission_queue: IntGauge,
    pub(super) cache_entries: IntGauge,
    pub(super) cache_bytes: IntGauge,
    pub(super) embed_queue: IntGauge,
    pub(super) embed_runs: IntCounter,
    pub(super) embed_cache_hits: IntCounter,
    pub(super) embed_failures: IntCounterVec,
    pub(super) embed_state: IntGaugeVec,
    pub(super) config_generation: IntGauge,
    pub(super) config_reloads: IntCounterVec,
    pub(super) config_ok: IntGauge,
    pub(super) config_info: IntGaugeVec,
    pub(super) build_info: IntGaugeVec,
}

/// Makes, registers and lists metrics.
pub(super) struct Shelf {
    pub(super) registry: Registry,
    /// `name type label,label` of every metric.
    pub(super) catalogue: Vec<String>,
}

// === impl Families ===

impl Families {
    pub(super) fn on(shelf: &mut Shelf) -> Self {
        let s = shelf;
        Self {
            requests: s.counters("requests_total", "Calls that have ended", &["route", "task", "source", "outcome"]),
            request_seconds: s.histograms("request_seconds", "Whole time of a call, to its last byte", &["source"]),
            shared: s.counters("shared_total", "Calls answered by another's inference", &["by", "tier", "task"]),
            inferences: s.counters("upstream_inferences_total", "Inferences sent to the upstream", &["task"]),
            tokens: s.counters("tokens_total", "Tokens the upstream used, and those that sharing saved", &["kind"]),
            aggregation_ratio: s.gauges(
                "aggregation_ratio",
                "Share of the calls of the last 60 s that joined another's inference",
                &["task"],
            ),
            hit_ratio: s.gauges(
                "cache_hit_ratio",
                "Share of the calls of the last 60 s that the cache answered",
                &["task", "tier"],
            ),
            batch_size: s.histogram("batch_size", "Callers of one inference", &CALLERS[1..]),
            saved_inferences: s.histogram("saved_inferences", "Inferences that one inference saved", &CALLERS),
            stage_seconds: s.histograms("stage_seconds", "Time of one step", &["stage"]),
            overhead_seconds: s.histogram("overhead_seconds", "Own time of a call: no upstream, no wait", &SECONDS),
            window_wait_seconds: s.histogram("window_wait_seconds", "Time that a call gathered company", &SECONDS),
            refused: s.counters("refused_total", "Calls not answered, by reason", &["reason"]),
            vetoes: s.counters("guard_vetoes_total", "Matches that the guard refused", &["reason"]),
            splices: s.counters("splices_total", "Edits of a caller's body on its way upstream", &["splice"]),
            gpu_idle: s.gauge("gpu_idle_ratio", "Idle fraction of the GPU; NaN while it is unknown"),
            load_state: s.states("load_state", "1 for the state of the load readings", &["state"]),
            upstream_running: s.level("upstream_running", "Requests running in the upstream, by its own account"),
            upstream_waiting: s.level("upstream_waiting", "Requests waiting in the upstream, by its own account"),
            bucket_rate: s.gauge("bucket_rate", "Refill of the GPU bucket in tokens per second; +Inf while open"),
            bucket_tokens: s.gauge("bucket_tokens", "Tokens in the GPU bucket"),
            calls: s.level("calls_in_flight", "Calls not yet ended"),
            flights: s.level("flights_running", "Inferences under way"),
            waiters: s.level("waiters", "Callers that wait for an inference"),
            admission_queue: s.level("admission_queue", "Inferences that wait for the GPU bucket"),
            cache_entries: s.level("cache_entries", "Stored answers"),
            cache_bytes: s.level("cache_bytes", "Memory of the stored answers"),
            embed_queue: s.level("embed_queue", "Texts that wait for their embedding"),
            embed_runs: s.counter("embed_runs_total", "Runs of the embedding model"),
            embed_cache_hits: s.counter("embed_cache_hits_total", "Embeddings that were known already"),
            embed_failures: s.counters("embed_failures_total", "Texts left without an embedding", &["reason"]),
            embed_state: s.states("embed_state", "1 for the state of the embedding model", &["state"]),
            config_generation: s.level("config_generation", "Number of the configuration in force"),
            config_reloads: s.counters("config_reloads_total", "Reloads of the configuration", &["outcome"]),
            config_ok: s.level("config_last_reload_success", "1 if the last reload was applied"),
            config_info: s.states("config_info", "Hash of the configuration in force", &["hash"]),
            build_info: s.states("build_info", "Version of this program", &["version"]),
        }
    }
}

// === impl Shelf ===

impl Shelf {
    pub(super) fn new() -> Self {
        Self { registry: Registry::new(), catalogue: Vec::new() }
    }

    fn put<C: Collector + Clone + 'static>(&mut self, made: prometheus::Result<C>, name: &str, labels: &[&str]) -> C {
        let family = fixed(made);
        fixed(self.registry.register(Box::new(family.clone())));
        let kind = std::any::type_name::<C>();
        let kind = ["Counter", "Gauge", "Histogram"].into_iter().find(|word| kind.contains(word)).unwrap_or(kind);
        self.catalogue.push(format!("weir_{name} {} {}", kind.to_lowercase(), labels.join(",")).trim_end().to_owned());
        family
    }

    fn counter(&mut self, name: &str, help: &str) -> IntCounter {
        self.put(IntCounter::with_opts(opts(name, help)), name, &[])
    }

    fn counters(&mut self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.put(IntCounterVec::new(opts(name, help), labels), name, labels)
    }

    fn level(&mut self, name: &str, help: &str) -> IntGauge {
        self.put(IntGauge::with_opts(opts(name, help)), name, &[])
    }

    fn states(&mut self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.put(IntGaugeVec::new(opts(name, help), labels), name, labels)
    }

    fn gauge(&mut self, name: &str, help: &str) -> Gauge {
        self.put(Gauge::with_opts(opts(name, help)), name, &[])
    }

    fn gauges(&mut self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.put(GaugeVec::new(opts(name, help), labels), name, labels)
    }

    fn histogram(&mut self, name: &str, help: &str, buckets: &[f64]) -> Histogram {
        let opts = HistogramOpts::from(opts(name, help)).buckets(buckets.to_vec());
        self.put(Histogram::with_opts(opts), name, &[])
    }

    fn histograms(&mut self, name: &str, help: &str, labels: &[&str]) -> HistogramVec {
        let opts = HistogramOpts::from(opts(name, help)).buckets(SECONDS.to_vec());
        self.put(HistogramVec::new(opts, labels), name, labels)
    }
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace("weir")
}

#[expect(
    clippy::expect_used,
    reason = "the names are literals of this file, and every test that makes a meter makes them all"
)]
fn fixed<T>(made: prometheus::Result<T>) -> T {
    made.expect("a metric of this file is malformed or named twice")
}
