//! What a run comes to, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::{Ceiling, Made, Reply, Sample};
use crate::sim::SimStats;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunFigures {
    /// Requests sent.
    pub requests: usize,
    /// Answered in full, wrong ones included.
    pub answered: usize,
    /// 429 or 503.
    pub refused: usize,
    /// Any other end.
    pub failed: usize,
    /// Answered by what another group's prompt had made.
    pub wrong: usize,
    /// Answers of which nothing can be said, because no tag is in them.
    pub unverified: usize,
    /// Inferences that reached the upstream; counted by the simulator, else by the gateway's own word.
    pub inferences: usize,
    /// What the simulated GPU says; absent for a real one.
    pub gpu: Option<SimStats>,
    /// From the time of sending to the last byte, of answers.
    pub latency: Latency,
    /// To the first bytes, of answers that are streams.
    pub first_bytes: Latency,
    /// The longest that a request left too late, in seconds.
    pub most_lag_seconds: f64,
    /// Answers by source (`upstream`, `cache`, `window`, `late_join`) and tier (`-` if not shared).
    pub by_source: BTreeMap<String, BTreeMap<String, usize>>,
    /// Failures by their reason.
    pub failures: BTreeMap<String, usize>,
}

/// Times of a set of answers, in seconds; percentiles by nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// How many were measured.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Slowest.
    pub max: f64,
}

/// Both runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The story or the file.
    pub name: String,
    /// How many times faster than its own pace.
    pub speed: f64,
    /// Requests in it.
    pub requests: usize,
    /// Groups in it.
    pub groups: usize,
    /// The bar of byte-equal sharing.
    pub ceiling: Ceiling,
    /// Straight to the upstream.
    pub direct: Option<RunFigures>,
    /// Through the gateway.
    pub weir: Option<RunFigures>,
}

// === impl RunFigures ===

impl RunFigures {
    /// Adds the samples up.
    #[must_use]
    pub fn of(samples: &[Sample], gpu: Option<SimStats>) -> Self {
        let mut run = Self { requests: samples.len(), ..Self::default() };
        let mut upstream = 0;
        for sample in samples {
            run.most_lag_seconds = run.most_lag_seconds.max(sample.lag.as_secs_f64());
            match &sample.reply {
                Reply::Refused(_) => run.refused += 1,
                Reply::Failed(reason) => {
                    run.failed += 1;
                    *run.failures.entry(reason.clone()).or_default() += 1;
                }
                Reply::Answered { made, shared } => {
                    run.answered += 1;
                    run.wrong += usize::from(*made == Made::ByAnother);
                    run.unverified += usize::from(*made == Made::Unverified);
                    upstream += usize::from(shared.source.is_empty() || shared.source == "upstream");
                    let tier = shared.tier.map_or("-", |tier| tier.as_str());
                    *run.by_source.entry(shared.source.clone()).or_default().entry(tier.to_owned()).or_default() += 1;
                }
            }
        }
        let answers = || samples.iter().filter(|sample| matches!(sample.reply, Reply::Answered { .. }));
        run.latency = Latency::of(answers().map(|sample| sample.latency).collect());
        run.first_bytes = Latency::of(answers().filter_map(|sample| sample.first_bytes).collect());
        run.inferences = gpu.as_ref().map_or(upstream, |gpu| usize::try_from(gpu.calls).unwrap_or(usize::MAX));
        run.gpu = gpu;
        run
    }

    /// Of all requests, the share that needed no inference, 0..=1.
    #[must_use]
    pub fn saved(&self) -> f64 {
        1.0 - self.inferences as f64 / self.requests.max(1) as f64
    }
}

// === impl Latency ===

impl Latency {
    /// Sorts and measures.
    #[must_use]
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let Some(slowest) = times.last() else { return Self::default() };
        let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).saturating_sub(1)].as_secs_f64();
        let mean = times.iter().map(Duration::as_secs_f64).sum::<f64>() / times.len() as f64;
        Self { count: times.len(), mean, p50: rank(50), p99: rank(99), max: slowest.as_secs_f64() }
    }
}

// === impl Report ===

impl Report {
    /// Whether any answer was wrong.
    #[must_use]
    pub fn has_wrong(&self) -> bool {
        [&self.direct, &self.weir].into_iter().flatten().any(|run| run.wrong > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Shared;

    fn sample(reply: Reply, millis: u64) -> Sample {
        let latency = Duration::from_millis(millis);
        Sample { reply, lag: Duration::ZERO, first_bytes: None, latency }
    }

    fn answered(made: Made, source: &str) -> Reply {
        Reply::Answered { made, shared: Shared { source: source.to_owned(), tier: None } }
    }

    #[test]
    fn every_request_is_counted_once_and_only_answers_are_timed() {
        let run = RunFigures::of(
            &[
                sample(answered(Made::ByOwnGroup, "upstream"), 10),
                sample(answered(Made::ByAnother, "cache"), 20),
                sample(Reply::Refused(429), 5_000),
                sample(Reply::Failed("cut".to_owned()), 5_000),
            ],
            None,
        );
        assert_eq!((run.answered, run.refused, run.failed, run.wrong, run.inferences), (2, 1, 1, 1, 1));
        assert!((run.latency.mean - 0.015).abs() < 1e-9);
        assert!((run.latency.max - 0.020).abs() < 1e-9);
        assert!((run.saved() - 0.75).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let latency = Latency::of((1..=200).map(Duration::from_millis).collect());
        assert!((latency.p50 - 0.1).abs() < 1e-9 && (latency.p99 - 0.198).abs() < 1e-9, "{latency:?}");
        assert_eq!(Latency::of(Vec::new()), Latency::default());
    }
}
