//! The series of one task, resolved once.

use std::sync::{Mutex, OnceLock, PoisonError};

use prometheus::{Gauge, IntCounter, IntCounterVec};

use crate::domain::{Outcome, Route, SharedBy, Source, TaskName, Tick, Tier};
use crate::stats::SlidingCounts;

use super::CallEnd;
use super::families::Families;

const ENDS: usize = Route::ALL.len() * Source::ALL.len() * Outcome::ALL.len();
const SHARES: usize = SharedBy::ALL.len() * Tier::ALL.len();

/// Kinds counted in the sliding minute; the hits of the tiers follow.
const TOTAL: usize = 0;
const AGGREGATED: usize = 1;
const HITS: usize = 2;

pub(super) struct TaskSeries {
    name: TaskName,
    pub(super) inferences: IntCounter,
    requests: IntCounterVec,
    shared: IntCounterVec,
    // Most combinations never happen, so a child is made when it first does.
    ends: Box<[OnceLock<IntCounter>; ENDS]>,
    shares: [OnceLock<IntCounter>; SHARES],
    aggregation_ratio: Gauge,
    hit_ratio: [Gauge; Tier::ALL.len()],
    minute: Mutex<SlidingCounts<{ HITS + Tier::ALL.len() }>>,
}

// === impl TaskSeries ===

impl TaskSeries {
    pub(super) fn new(families: &Families, name: &TaskName) -> Self {
        let task = name.as_str();
        Self {
            name: name.clone(),
            inferences: families.inferences.with_label_values(&[task]),
            requests: families.requests.clone(),
            shared: families.shared.clone(),
            ends: Box::new([const { OnceLock::new() }; ENDS]),
            shares: [const { OnceLock::new() }; SHARES],
            aggregation_ratio: families.aggregation_ratio.with_label_values(&[task]),
            hit_ratio: Tier::ALL.map(|tier| families.hit_ratio.with_label_values(&[task, tier.as_str()])),
            minute: Mutex::new(SlidingCounts::last_minute()),
        }
    }

    /// Counts one ended call in every family that it concerns.
    pub(super) fn call_ended(&self, now: Tick, end: CallEnd) {
        self.end(end).inc();
        let shared = shared_by(end.source).zip(end.tier);
        if let Some((by, tier)) = shared {
            self.share(by, tier).inc();
        }
        // The ratios are of the inference path; what passes through is neither hit nor miss.
        if end.source == Source::Passthrough {
            return;
        }
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        minute.add(now, TOTAL, 1);
        match shared {
            Some((SharedBy::Cache, tier)) => minute.add(now, HITS + tier as usize, 1),
            Some((SharedBy::Window | SharedBy::LateJoin, _)) => minute.add(now, AGGREGATED, 1),
            None => {}
        }
    }

    /// Brings the gauges of the last minute up to date.
    pub(super) fn refresh(&self, now: Tick) {
        let counts = self.minute.lock().unwrap_or_else(PoisonError::into_inner).totals(now);
        let share = |n: u64| if counts[TOTAL] == 0 { 0.0 } else { n as f64 / counts[TOTAL] as f64 };
        self.aggregation_ratio.set(share(counts[AGGREGATED]));
        for (gauge, hits) in self.hit_ratio.iter().zip(&counts[HITS..]) {
            gauge.set(share(*hits));
        }
    }

    fn end(&self, end: CallEnd) -> &IntCounter {
        let (route, source, outcome) = (end.route as usize, end.source as usize, end.outcome as usize);
        let at = (route * Source::ALL.len() + source) * Outcome::ALL.len() + outcome;
        self.ends[at].get_or_init(|| {
            let labels = [end.route.as_str(), self.name.as_str(), end.source.as_str(), end.outcome.as_str()];
            self.requests.with_label_values(&labels)
        })
    }

    fn share(&self, by: SharedBy, tier: Tier) -> &IntCounter {
        self.shares[by as usize * Tier::ALL.len() + tier as usize]
            .get_or_init(|| self.shared.with_label_values(&[by.as_str(), tier.as_str(), self.name.as_str()]))
    }
}

fn shared_by(source: Source) -> Option<SharedBy> {
    match source {
        Source::Cache => Some(SharedBy::Cache),
        Source::Window => Some(SharedBy::Window),
        Source::LateJoin => Some(SharedBy::LateJoin),
        Source::Upstream | Source::Passthrough | Source::None => None,
    }
}
