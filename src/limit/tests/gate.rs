//! What the gate promises to those who wait.

use tokio::task::JoinHandle;
use tokio::time::advance;

use super::*;

fn fixed(rate: f64) -> Config {
    Config { base_rate: BaseRate::Fixed(rate), charge: Charge::Estimated, ..Config::default() }
}

/// An emptied gate that refills 10 tokens a second.
fn empty_gate() -> GpuGate {
    let gate = gate(fixed(10.0));
    gate.set_load(known(1.0, 1, 0));
    drop(gate.try_admit(Cost(200)).unwrap());
    gate
}

fn waiter(gate: &GpuGate, cost: u32, deadline: Option<Duration>) -> JoinHandle<(Duration, Result<Permit, Busy>)> {
    let gate = gate.clone();
    let came = Instant::now();
    tokio::spawn(async move {
        let admitted = gate.admit(Cost(cost), deadline.map(|wait| came + wait)).await;
        (came.elapsed(), admitted)
    })
}

async fn settle_in() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

/// Timers of a runtime tick in milliseconds.
fn about(found: Duration, expected: Duration) -> bool {
    found >= expected && found <= expected + Duration::from_millis(2)
}

#[tokio::test(start_paused = true)]
async fn an_unknown_load_meters_and_never_refuses() {
    let gate = gate(Config { max_wait: Duration::ZERO, ..Config::founding() });
    for _ in 0..1000 {
        assert!(gate.admit(Cost(5), None).await.is_ok());
    }
    assert!(gate.status().tokens.abs() < 1e-9, "but it shows that the bucket is empty");
    assert!(gate.status().rate.is_infinite());
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_tokens_waits_for_them_in_order() {
    let gate = empty_gate();
    let first = waiter(&gate, 10, None);
    settle_in().await;
    let second = waiter(&gate, 1, None);
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert!(about(first.0, Duration::from_secs(1)), "{:?}", first.0);
    assert!(about(second.0, Duration::from_millis(1100)), "the cheap one does not overtake: {:?}", second.0);
}

#[tokio::test(start_paused = true)]
async fn nobody_passes_those_who_wait() {
    let gate = empty_gate();
    let first = waiter(&gate, 50, None);
    settle_in().await;
    advance(Duration::from_secs(1)).await;
    assert!(gate.try_admit(Cost(1)).is_none(), "10 tokens are there, but they are the first one's");
    assert!(first.await.unwrap().1.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_wait_ends_after_max_wait_with_the_time_to_come_back() {
    let gate = gate(Config { max_wait: Duration::from_secs(3), ..fixed(10.0) });
    gate.set_load(known(1.0, 1, 0));
    drop(gate.try_admit(Cost(200)).unwrap());
    let (waited, refused) = waiter(&gate, 150, None).await.unwrap();
    assert!(about(waited, Duration::from_secs(3)));
    assert_eq!(refused.unwrap_err(), Busy { retry_after: Duration::from_secs(15) });
}

#[tokio::test(start_paused = true)]
async fn the_wait_ends_at_the_deadline_if_that_is_sooner() {
    let gate = empty_gate();
    let (waited, refused) = waiter(&gate, 150, Some(Duration::from_secs(2))).await.unwrap();
    assert!(about(waited, Duration::from_secs(2)));
    assert!(refused.unwrap_err().retry_after >= Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_goes_away_frees_its_place() {
    let gate = empty_gate();
    let (gone, stays) = (waiter(&gate, 200, None), waiter(&gate, 10, None));
    settle_in().await;
    assert_eq!(gate.status().queued, 2);
    gone.abort();
    let (waited, admitted) = stays.await.unwrap();
    assert!(admitted.is_ok() && about(waited, Duration::from_secs(1)), "it pays only for itself: {waited:?}");
    assert_eq!(gate.status().queued, 0);
}

#[tokio::test(start_paused = true)]
async fn a_higher_rate_is_felt_by_those_who_already_wait() {
    let gate = gate(fixed(100.0));
    gate.set_load(known(0.0, 1, 1));
    drop(gate.try_admit(Cost(200)).unwrap());
    let waits = waiter(&gate, 100, None);
    settle_in().await;
    advance(Duration::from_secs(1)).await;
    gate.set_load(known(1.0, 0, 0));
    let (waited, _) = waits.await.unwrap();
    assert!(about(waited, Duration::from_millis(1800)), "20 tokens in the first second, then 100/s: {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_load_that_becomes_unknown_lets_the_waiters_in() {
    let gate = empty_gate();
    let waits = waiter(&gate, 200, None);
    settle_in().await;
    gate.set_load(Load::Unknown);
    let (waited, admitted) = waits.await.unwrap();
    assert!(admitted.is_ok() && waited < Duration::from_millis(2));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_at_once() {
    let gate = gate(Config { max_queue: 1, ..fixed(10.0) });
    gate.set_load(known(1.0, 1, 0));
    drop(gate.try_admit(Cost(200)).unwrap());
    let _waits = waiter(&gate, 200, None);
    settle_in().await;
    let (waited, refused) = waiter(&gate, 1, None).await.unwrap();
    assert!(refused.is_err() && waited.is_zero());
}

#[tokio::test(start_paused = true)]
async fn the_cap_counts_a_permit_until_it_is_dropped() {
    let gate = gate(Config { max_in_flight: std::num::NonZeroU32::new(2), ..Config::default() });
    let (one, two) = (gate.try_admit(Cost(1)).unwrap(), gate.try_admit(Cost(1)).unwrap());
    assert!(gate.try_admit(Cost(1)).is_none() && gate.would_wait(Cost(1)));
    let third = waiter(&gate, 1, None);
    settle_in().await;
    assert!(!third.is_finished());
    drop(one);
    assert!(third.await.unwrap().1.is_ok());
    drop(two);
}

#[tokio::test(start_paused = true)]
async fn a_reload_refills_nobody_and_reaches_those_who_wait() {
    let gate = empty_gate();
    let waits = waiter(&gate, 100, None);
    settle_in().await;
    gate.reconfigure(Config { capacity: 1000, ..fixed(100.0) });
    assert!(gate.status().tokens.abs() < 1e-6, "the level stays");
    let (waited, admitted) = waits.await.unwrap();
    assert!(admitted.is_ok() && about(waited, Duration::from_secs(1)), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn whether_one_would_wait_is_known_beforehand() {
    let gate = gate(fixed(10.0));
    assert!(!gate.would_wait(Cost(1)), "unknown load");
    gate.set_load(known(0.5, 1, 0));
    assert!(!gate.would_wait(Cost(200)));
    drop(gate.try_admit(Cost(200)).unwrap());
    assert!(gate.would_wait(Cost(1)), "no tokens");
    advance(Duration::from_secs(1)).await;
    assert!(!gate.would_wait(Cost(1)));
    gate.set_load(known(0.0, 8, 1));
    assert!(gate.would_wait(Cost(1)), "it would queue inside the backend");
}

#[tokio::test(start_paused = true)]
async fn an_inference_that_failed_has_paid_its_attempt() {
    let gate = gate(Config { charge: Charge::Used, ..fixed(10.0) });
    gate.set_load(known(0.0, 1, 0));
    drop(gate.try_admit(Cost(100)).unwrap());
    assert!((gate.status().tokens - 100.0).abs() < 1e-9);
    assert_eq!(gate.status().in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_usage_costs_what_was_estimated() {
    let gate = gate(Config { charge: Charge::Used, ..fixed(10.0) });
    gate.set_load(known(0.0, 1, 0));
    let mut permit = gate.try_admit(Cost(100)).unwrap();
    permit.settle(&task("generation"), Usage::default());
    drop(permit);
    assert!((gate.status().tokens - 100.0).abs() < 1e-9);
}

#[tokio::test(start_paused = true)]
async fn the_queue_and_the_bucket_are_visible() {
    let meter = Meter::new();
    let gate = GpuGate::new(fixed(10.0), meter.clone());
    gate.set_load(known(1.0, 1, 0));
    drop(gate.try_admit(Cost(200)).unwrap());
    let waits = waiter(&gate, 10, None);
    settle_in().await;
    let page = meter.render();
    for line in ["weir_admission_queue 1", "weir_bucket_rate 10", "weir_bucket_tokens 0"] {
        assert!(page.lines().any(|found| found == line), "no {line}");
    }
    drop(waits.await.unwrap());
    assert!(meter.render().lines().any(|found| found == "weir_admission_queue 0"));
}

#[test]
fn a_bad_value_is_named_by_its_key() {
    let bad = |text: &str| toml::from_str::<Config>(text).unwrap().check().unwrap_err().key;
    assert_eq!(bad("base_rate = 0"), "base_rate");
    assert_eq!(bad("base_rate = nan"), "base_rate");
    assert_eq!(bad("capacity = 0"), "capacity");
    assert_eq!(bad("max_queue = 0"), "max_queue");
    assert_eq!(bad("max_wait = \"2h\""), "max_wait");
    assert_eq!(bad("[weights]\nqa = 0"), "weights.qa");
    assert!(toml::from_str::<Config>("base_rate = \"fast\"").is_err());
    assert!(toml::from_str::<Config>("max_in_flight = 0").is_err());
    assert!(toml::from_str::<Config>("base_rte = 5").is_err());
    assert!(Config::default().check().is_ok());
}

#[test]
fn a_weight_given_replaces_only_its_own() {
    let config: Config = toml::from_str("base_rate = \"auto\"\n[weights]\ncode = 4\n").unwrap();
    assert_eq!(config.weights, Weights::default().with("code", 4));
    assert_eq!(config.cost(&task("generation"), None), Cost(5));
    let round: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(round, config);
}
