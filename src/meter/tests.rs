use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::domain::{GpuIdle, Score};

/// A meter and the hand of its clock, in seconds.
fn meter_with_hand() -> (Meter, Arc<AtomicU64>) {
    let hand = Arc::new(AtomicU64::new(0));
    let seconds = Arc::clone(&hand);
    (Meter::with_clock(move || Tick(Duration::from_secs(seconds.load(Ordering::Relaxed)))), hand)
}

fn end(source: Source, tier: Option<Tier>) -> CallEnd {
    CallEnd { route: Route::Chat, source, tier, outcome: Outcome::Ok, elapsed: Duration::from_millis(20) }
}

fn has(meter: &Meter, line: &str) -> bool {
    meter.render().lines().any(|found| found == line)
}

#[test]
fn the_names_types_and_labels_are_the_documented_ones() {
    let catalogue = Meter::new().catalogue().join("\n");
    assert_eq!(catalogue, include_str!("names.txt").trim_end(), "names.txt is the list that users rely on");
}

#[test]
fn two_meters_share_nothing() {
    let (one, other) = (Meter::new(), Meter::new());
    one.call_ended(&TaskName::new("qa"), end(Source::Upstream, None));
    assert!(one.render().contains("weir_requests_total"));
    assert!(!other.render().contains("weir_requests_total"));
}

#[test]
fn a_call_is_counted_with_route_task_source_and_outcome() {
    let meter = Meter::new();
    meter.call_ended(&TaskName::new("qa"), end(Source::Cache, Some(Tier::Lexical)));
    assert!(has(&meter, r#"weir_requests_total{outcome="ok",route="chat",source="cache",task="qa"} 1"#));
    assert!(has(&meter, r#"weir_shared_total{by="cache",task="qa",tier="lexical"} 1"#));
    assert!(has(&meter, r#"weir_request_seconds_count{source="cache"} 1"#));
}

#[test]
fn the_ratios_are_of_the_inference_calls_of_the_last_minute() {
    let (meter, hand) = meter_with_hand();
    let qa = TaskName::new("qa");
    meter.call_ended(&qa, end(Source::Upstream, None));
    meter.call_ended(&qa, end(Source::Window, Some(Tier::Canonical)));
    meter.call_ended(&qa, end(Source::LateJoin, Some(Tier::Exact)));
    meter.call_ended(&qa, end(Source::Cache, Some(Tier::Exact)));
    meter.call_ended(&qa, end(Source::Passthrough, None));
    assert!(has(&meter, r#"weir_aggregation_ratio{task="qa"} 0.5"#), "the leader and the cache hit are not aggregated");
    assert!(has(&meter, r#"weir_cache_hit_ratio{task="qa",tier="exact"} 0.25"#));
    assert!(has(&meter, r#"weir_cache_hit_ratio{task="qa",tier="semantic"} 0"#));
    hand.store(61, Ordering::Relaxed);
    assert!(has(&meter, r#"weir_aggregation_ratio{task="qa"} 0"#));
    assert!(has(&meter, r#"weir_cache_hit_ratio{task="qa",tier="exact"} 0"#));
}

#[test]
fn a_gauge_falls_when_its_guard_is_dropped_even_by_a_panic() {
    let meter = Meter::new();
    let calls = meter.hold(Holding::Call);
    assert!(has(&meter, "weir_calls_in_flight 1"));
    drop(calls);
    let inside = meter.clone();
    let unwound = std::thread::spawn(move || {
        let _waiter = inside.hold(Holding::Waiter);
        panic!("on purpose");
    });
    assert!(unwound.join().is_err());
    assert!(has(&meter, "weir_calls_in_flight 0") && has(&meter, "weir_waiters 0"));
}

#[test]
fn the_label_sets_stay_bounded_whatever_happens() {
    let meter = Meter::new();
    let task = TaskName::new("qa");
    for _ in 0..3 {
        for (route, source, outcome) in Route::ALL.into_iter().flat_map(|route| {
            Source::ALL.into_iter().flat_map(move |source| Outcome::ALL.map(move |outcome| (route, source, outcome)))
        }) {
            for tier in Tier::ALL {
                meter.call_ended(
                    &task,
                    CallEnd { route, source, tier: Some(tier), outcome, elapsed: Duration::from_secs(1) },
                );
            }
        }
    }
    let page = meter.render();
    let series = |name: &str| page.lines().filter(|line| line.starts_with(&format!("{name}{{"))).count();
    assert_eq!(series("weir_requests_total"), 5 * 6 * 6);
    assert_eq!(series("weir_shared_total"), 3 * 4);
    assert_eq!(series("weir_cache_hit_ratio"), 4);
    assert_eq!(series("weir_load_state"), 3);
    assert_eq!(series("weir_stage_seconds_count"), Stage::ALL.len());
}

#[test]
fn k9_03_a_hostile_name_stays_inside_its_label() {
    let meter = Meter::new();
    // Only the operator can name a task; still, no name may break the page.
    for name in ["m\"} 1\nevil_total{x=\"y", "back\\slash\\", "m\r\nSet-Cookie: a=b"] {
        meter.inference(&TaskName::new(name));
    }
    let page = meter.render();
    assert!(!page.lines().any(|line| line.starts_with("evil_total")));
    let series: Vec<_> = page.lines().filter(|line| line.starts_with("weir_upstream_inferences_total{")).collect();
    assert_eq!(series.len(), 3);
    assert!(series.iter().all(|line| line.ends_with("\"} 1")), "{series:?}");
}

#[test]
fn only_one_state_and_one_configuration_hash_are_shown() {
    let meter = Meter::new();
    assert!(has(&meter, r#"weir_load_state{state="unknown"} 1"#));
    meter.load_state(LoadState::Fresh);
    assert!(has(&meter, r#"weir_load_state{state="unknown"} 0"#));
    assert!(has(&meter, r#"weir_load_state{state="fresh"} 1"#));
    meter.config_in_force(1, "aaaa");
    meter.config_in_force(2, "bbbb");
    let page = meter.render();
    assert!(page.contains(r#"weir_config_info{hash="bbbb"} 1"#) && !page.contains("aaaa"));
    assert!(page.contains("weir_config_generation 2"));
}

#[test]
fn an_unknown_load_is_neither_idle_nor_busy() {
    let meter = Meter::new();
    assert!(has(&meter, "weir_gpu_idle_ratio NaN"));
    meter.load(Load::Known { idle: GpuIdle(Score::clamped(0.25)), waiting: 3, running: 7 });
    assert!(has(&meter, "weir_gpu_idle_ratio 0.25") && has(&meter, "weir_upstream_waiting 3"));
}

#[test]
fn the_batch_histograms_tell_every_size_up_to_ten() {
    let meter = Meter::new();
    meter.flight_landed(1);
    meter.flight_landed(7);
    assert!(has(&meter, r#"weir_batch_size_bucket{le="6"} 1"#) && has(&meter, r#"weir_batch_size_bucket{le="7"} 2"#));
    assert!(has(&meter, "weir_saved_inferences_sum 6"));
    assert!(has(&meter, r#"weir_batch_size_bucket{le="16384"} 2"#));
}

#[test]
fn the_enum_order_is_the_label_order() {
    // Children are found by `as usize`.
    assert!(Stage::ALL.iter().enumerate().all(|(at, stage)| *stage as usize == at));
    assert!(Source::ALL.iter().enumerate().all(|(at, source)| *source as usize == at));
    assert!(Route::ALL.iter().enumerate().all(|(at, route)| *route as usize == at));
    assert!(Outcome::ALL.iter().enumerate().all(|(at, outcome)| *outcome as usize == at));
    assert!(Tier::ALL.iter().enumerate().all(|(at, tier)| *tier as usize == at));
}
