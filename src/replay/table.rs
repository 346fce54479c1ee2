//! The report as people read it.

use std::fmt;

use super::{Latency, Report, RunFigures};
use crate::domain::Tier;

const WIDTH: usize = 12;

// === impl Report ===

/// A table of the runs side by side, then what each way and tier of sharing added, then the ceiling.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} requests of {} groups, at {} times its pace\n",
            self.name, self.requests, self.groups, self.speed
        )?;
        self.runs(f)?;
        if let Some(weir) = self.weir.as_ref() {
            ways(f, weir)?;
        }
        let ceiling = &self.ceiling;
        writeln!(
            f,
            "\nA perfect sharer of byte-equal requests would make {} inferences and save {:.1}%.",
            ceiling.inferences,
            100.0 * ceiling.saved
        )
    }
}

impl Report {
    fn runs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = [("direct", &self.direct), ("weir", &self.weir)];
        let columns: Vec<_> = columns.iter().filter_map(|(name, run)| run.as_ref().map(|run| (*name, run))).collect();
        let mut line = |name: &str, cell: &dyn Fn(&RunFigures) -> String| {
            write!(f, "{name:<26}")?;
            columns.iter().try_for_each(|(_, run)| write!(f, "{:>WIDTH$}", cell(run)))?;
            writeln!(f)
        };
        line("", &|run| {
            columns.iter().find(|(_, other)| std::ptr::eq(*other, run)).map_or("", |(name, _)| name).to_owned()
        })?;
        line("answered", &|run| run.answered.to_string())?;
        line("refused", &|run| run.refused.to_string())?;
        line("failed", &|run| run.failed.to_string())?;
        line("wrong", &|run| run.wrong.to_string())?;
        if columns.iter().any(|(_, run)| run.unverified > 0) {
            line("unverified", &|run| run.unverified.to_string())?;
        }
        line("inferences", &|run| run.inferences.to_string())?;
        line("inferences saved", &|run| percent(run.saved()))?;
        line("GPU slot-seconds", &|run| gpu(run, |gpu| format!("{:.1}", gpu.slot_seconds)))?;
        line("GPU slot-seconds saved", &|run| self.slot_time_saved(run).map_or("-".to_owned(), percent))?;
        line("GPU busy", &|run| gpu(run, |gpu| percent(gpu.busy)))?;
        for (name, of) in
            [("latency", (|run| run.latency) as fn(&RunFigures) -> Latency), ("first bytes", |run| run.first_bytes)]
        {
            line(&format!("{name}, mean"), &|run| millis(of(run), |latency| latency.mean))?;
            line(&format!("{name}, P50"), &|run| millis(of(run), |latency| latency.p50))?;
            line(&format!("{name}, P99"), &|run| millis(of(run), |latency| latency.p99))?;
        }
        line("sent too late by at most", &|run| format!("{:.1} ms", 1_000.0 * run.most_lag_seconds))?;
        for (name, run) in &columns {
            for (reason, count) in &run.failures {
                writeln!(f, "{name}: {count} failed: {reason}")?;
            }
        }
        Ok(())
    }

    fn slot_time_saved(&self, run: &RunFigures) -> Option<f64> {
        let direct = self.direct.as_ref()?.gpu.as_ref()?.slot_seconds;
        Some(1.0 - run.gpu.as_ref()?.slot_seconds / direct.max(f64::MIN_POSITIVE))
    }
}

/// Which answers came from where: ways down, tiers across.
fn ways(f: &mut fmt::Formatter<'_>, run: &RunFigures) -> fmt::Result {
    write!(f, "\n{:<26}", "weir: answers by")?;
    let tiers: Vec<&str> = Tier::ALL.iter().map(|tier| tier.as_str()).chain(["-"]).collect();
    tiers.iter().try_for_each(|tier| write!(f, "{tier:>WIDTH$}"))?;
    writeln!(f, "{:>WIDTH$}", "share")?;
    for (source, by_tier) in &run.by_source {
        write!(f, "{:<26}", if source.is_empty() { "(not said)" } else { source })?;
        for tier in &tiers {
            write!(f, "{:>WIDTH$}", by_tier.get(*tier).copied().unwrap_or(0))?;
        }
        let sum: usize = by_tier.values().sum();
        writeln!(f, "{:>WIDTH$}", percent(sum as f64 / run.requests.max(1) as f64))?;
    }
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn millis(latency: Latency, of: fn(&Latency) -> f64) -> String {
    if latency.count == 0 { "-".to_owned() } else { format!("{:.1} ms", 1_000.0 * of(&latency)) }
}

fn gpu(run: &RunFigures, cell: impl Fn(&crate::sim::SimStats) -> String) -> String {
    run.gpu.as_ref().map_or("-".to_owned(), cell)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::replay::Ceiling;
    use crate::sim::SimStats;

    #[test]
    fn the_runs_stand_side_by_side_and_every_way_of_sharing_has_its_line() {
        let run = |inferences, slot_seconds| RunFigures {
            requests: 200,
            answered: 200,
            inferences,
            gpu: Some(SimStats { slot_seconds, busy: 0.5, ..SimStats::default() }),
            ..RunFigures::default()
        };
        let by_source = BTreeMap::from([("cache".to_owned(), BTreeMap::from([("canonical".to_owned(), 150)]))]);
        let report = Report {
            name: "a day".to_owned(),
            speed: 2.0,
            requests: 200,
            groups: 7,
            ceiling: Ceiling { inferences: 90, saved: 0.55 },
            direct: Some(run(200, 80.0)),
            weir: Some(RunFigures { by_source, ..run(10, 4.0) }),
        };
        let text = report.to_string();
        for line in [
            "a day: 200 requests of 7 groups, at 2 times its pace",
            "inferences                         200          10",
            "inferences saved                  0.0%       95.0%",
            "GPU slot-seconds saved            0.0%       95.0%",
            "cache                                0         150           0           0           0       75.0%",
            "A perfect sharer of byte-equal requests would make 90 inferences and save 55.0%.",
        ] {
            assert!(text.lines().any(|other| other == line), "no line {line:?} in\n{text}");
        }
    }
}
