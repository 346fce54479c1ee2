//! Every call is counted once, whatever becomes of it. The given cases of kind 9 that need no socket.

use tokio::time::sleep;

use super::world::{Act, World, ask, ms};
use crate::domain::UpstreamFailure;

const DELTA: &str =
    r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}"#;

#[tokio::test(start_paused = true)]
async fn k9_05_after_every_kind_of_end_all_gauges_are_zero_and_all_calls_are_counted() {
    let world = World::new(Act::Answer(ms(1000)), |_| {});
    let mut callers = Vec::new();
    // Left while waiting for the head.
    for n in 0..167 {
        callers.push(world.caller(ask(&format!("Left while queued {n}"))));
    }
    sleep(ms(500)).await;
    callers.iter().for_each(tokio::task::JoinHandle::abort);
    // Left in mid-stream.
    for n in 0..167 {
        world.script([Act::Events(vec![DELTA; 50])]);
        callers.push(world.caller(ask(&format!("Left in mid-stream {n}"))));
        sleep(ms(1)).await;
    }
    sleep(ms(100)).await;
    callers.iter().for_each(tokio::task::JoinHandle::abort);
    // Reset by the upstream.
    for n in 0..166 {
        world.script([Act::CutAfter(vec![DELTA; 2])]);
        callers.push(world.caller(ask(&format!("Reset by the upstream {n}"))));
        sleep(ms(1)).await;
    }
    // Panics in the handler of the flight, the successor included.
    for n in 0..20 {
        world.script([Act::Panic, Act::Panic]);
        callers.push(world.caller(ask(&format!("A fault inside {n}"))));
        sleep(ms(1)).await;
    }
    sleep(ms(5000)).await;
    for gauge in ["weir_calls_in_flight", "weir_flights_running", "weir_waiters", "weir_admission_queue"] {
        assert_eq!(world.metric(gauge), 0.0, "{gauge}");
    }
    assert_eq!(world.total("weir_requests_total"), 520.0);
    let ended = |outcome| {
        let page = world.gateway.meter().render();
        let lines = page.lines().filter(|line| line.starts_with("weir_requests_total") && line.contains(outcome));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    assert_eq!(ended("outcome=\"client_closed\""), 334.0);
    assert_eq!(ended("outcome=\"upstream_error\""), 186.0);
    assert!(world.gateway.flights.is_empty());
}

#[tokio::test(start_paused = true)]
async fn k9_07_tokens_are_counted_once_upstream_and_saved_for_everybody_else() {
    let world = World::new(Act::Answer(ms(100)), |_| {});
    for _ in 0..5 {
        world.get(ask("How many moons does Mars have?")).await.unwrap();
        sleep(ms(200)).await;
    }
    let ten: Vec<_> = (0..10).map(|_| world.caller(ask("How many moons does Jupiter have?"))).collect();
    for caller in ten {
        caller.await.unwrap().unwrap();
    }
    world.script([Act::CutAfter(vec![DELTA; 30])]);
    let told = world.get(ask("How many moons does Saturn have?")).await.unwrap_err();
    assert_eq!(told, UpstreamFailure::Cut.into());
    sleep(ms(200)).await;
    assert_eq!(world.metric("weir_tokens_total{kind=\"upstream\"}"), 230.0);
    assert_eq!(world.metric("weir_tokens_total{kind=\"saved\"}"), 4.0 * 100.0 + 9.0 * 100.0);
    assert_eq!(world.total("weir_requests_total"), 16.0);
    assert_eq!(world.metric("weir_cache_hit_ratio{task=\"qa\",tier=\"exact\"}"), 4.0 / 16.0);
    assert_eq!(world.metric("weir_aggregation_ratio{task=\"qa\"}"), 9.0 / 16.0);
    assert_eq!(world.metric("weir_upstream_inferences_total{task=\"qa\"}"), 3.0);
}
