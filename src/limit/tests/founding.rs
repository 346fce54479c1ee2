//! The founding page, section A, "resource-aware token bucket", number by number.

use super::*;

/// The founding bucket at a known load.
fn founding(idle: f32) -> GpuGate {
    let gate = gate(Config { charge: Charge::Estimated, ..Config::founding() });
    gate.set_load(known(idle, 1, 0));
    gate
}

fn rate(idle: f32) -> f64 {
    founding(idle).status().rate
}

#[tokio::test(start_paused = true)]
async fn a_fully_idle_gpu_gets_the_base_rate_of_100_a_second() {
    assert!((rate(1.0) - 100.0).abs() < 1e-6);
}

#[tokio::test(start_paused = true)]
async fn a_saturated_gpu_gets_20_percent_of_it() {
    assert!((rate(0.0) - 20.0).abs() < 1e-6);
}

#[tokio::test(start_paused = true)]
async fn between_them_the_rate_is_base_times_0_2_plus_0_8_idle() {
    for idle in [0.1_f32, 0.25, 0.5, 0.9] {
        assert!((rate(idle) - 100.0 * (0.2 + 0.8 * f64::from(idle))).abs() < 1e-5, "at {idle}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_capacity_is_200() {
    let gate = founding(1.0);
    assert!((gate.status().tokens - 200.0).abs() < 1e-9);
    let permits: Vec<_> = std::iter::from_fn(|| gate.try_admit(Cost(2))).collect();
    assert_eq!(permits.len(), 100);
    tokio::time::advance(Duration::from_hours(1)).await;
    assert!((gate.status().tokens - 200.0).abs() < 1e-9, "however long it refills");
}

#[tokio::test(start_paused = true)]
async fn the_weights_are_5_3_1_1_and_2_for_anything_else() {
    let gate = founding(1.0);
    let weights =
        [("generation", 5), ("summarization", 3), ("classification", 1), ("embedding", 1), ("qa", 2), ("my_own", 2)];
    for (name, weight) in weights {
        assert_eq!(gate.cost(&task(name), None), Cost(weight), "without max_tokens {name} costs its weight alone");
    }
}

#[tokio::test(start_paused = true)]
async fn the_cost_is_max_tokens_by_100_rounded_down_at_least_1_times_the_weight() {
    let gate = founding(1.0);
    for (max_tokens, cost) in [(0, 5), (1, 5), (99, 5), (100, 5), (199, 5), (200, 10), (1000, 50), (8192, 405)] {
        assert_eq!(gate.cost(&task("generation"), Some(MaxTokens(max_tokens))), Cost(cost), "{max_tokens} tokens");
    }
    assert_eq!(gate.cost(&task("generation"), Some(MaxTokens(u32::MAX))), Cost(u32::MAX / 100 * 5), "and no overflow");
}

#[tokio::test(start_paused = true)]
async fn a_cost_above_the_capacity_is_charged_as_the_capacity() {
    let gate = founding(1.0);
    let long = gate.try_admit(Cost(405));
    assert!(long.is_some(), "8,192 tokens of generation must be able to pass");
    assert!(gate.status().tokens.abs() < 1e-9);
}

#[tokio::test(start_paused = true)]
async fn refill_is_computed_when_somebody_asks() {
    let gate = founding(0.0);
    drop(gate.try_admit(Cost(200)).unwrap());
    assert!(gate.try_admit(Cost(1)).is_none());
    tokio::time::advance(Duration::from_millis(500)).await;
    let permits: Vec<_> = std::iter::from_fn(|| gate.try_admit(Cost(1))).collect();
    assert_eq!(permits.len(), 10, "half a second at 20 a second");
}

#[tokio::test(start_paused = true)]
async fn a_crowd_at_one_moment_gets_no_more_than_there_is() {
    let gate = gate(Config { max_wait: Duration::ZERO, ..Config::founding() });
    gate.set_load(known(0.0, 1, 0));
    let crowd: Vec<_> = (0..500)
        .map(|_| {
            let gate = gate.clone();
            tokio::spawn(async move { gate.admit(Cost(5), None).await })
        })
        .collect();
    let mut admitted = Vec::new();
    for caller in crowd {
        admitted.extend(caller.await.unwrap());
    }
    assert_eq!(admitted.len(), 40, "200 tokens are 40 times 5");
}

#[test]
fn the_preset_sets_its_own_numbers() {
    let config: Config = toml::from_str("preset = \"founding\"").unwrap();
    assert_eq!(config, Config::founding());
    assert!(config.check().is_ok());
    let both = Config { base_rate: BaseRate::Fixed(50.0), ..Config::founding() };
    assert_eq!(both.check().unwrap_err().key, "base_rate");
}

#[tokio::test(start_paused = true)]
async fn estimates_are_corrected_by_the_tokens_really_produced() {
    let gate = gate(Config::founding());
    gate.set_load(known(0.0, 1, 0));
    let generation = task("generation");
    let mut permit = gate.try_admit(gate.cost(&generation, Some(MaxTokens(4000)))).unwrap();
    assert!(gate.status().tokens.abs() < 1e-9, "4,000 tokens were announced");
    permit.settle(&generation, Usage { prompt: 50, completion: 700 });
    drop(permit);
    assert!((gate.status().tokens - 165.0).abs() < 1e-9, "700 came: 7 x 5 stay charged");
}
