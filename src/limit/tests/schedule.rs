//! No schedule of calls, readings and reloads gets more out of the bucket than time has put in.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u32),
    Take(u32),
    Leave,
    Idle(f32),
    Rate(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_u32..3000).prop_map(Step::Advance),
        6 => (1_u32..300).prop_map(Step::Take),
        2 => Just(Step::Leave),
        1 => (0.0_f32..=1.0).prop_map(Step::Idle),
        1 => (1_u32..500).prop_map(Step::Rate),
    ]
}

proptest! {
    #[test]
    fn a_fixed_rate_is_never_over_issued(steps in prop::collection::vec(step(), 1..150)) {
        let config = |rate| Config { base_rate: BaseRate::Fixed(rate), charge: Charge::Estimated, ..Config::default() };
        let (mut now, mut base, mut idle) = (Tick::START, 100.0, 0.0_f32);
        let mut state = State::new(&config(base), now);
        state.set_load(known(idle, 1, 0), now);
        let (mut issued, mut allowed, mut inside) = (0.0, 200.0, Vec::new());
        for step in steps {
            match step {
                Step::Advance(millis) => {
                    now = now + Duration::from_millis(millis.into());
                    allowed += base * (0.2 + 0.8 * f64::from(idle)) * f64::from(millis) / 1000.0;
                }
                Step::Take(cost) => {
                    if let Ok(bill) = state.take(now, Cost(cost)) {
                        issued += f64::from(cost.min(200));
                        inside.push(bill);
                    }
                }
                Step::Leave => {
                    if let Some(bill) = inside.pop() {
                        state.leave(now, bill, Some(Cost(1)));
                    }
                }
                Step::Idle(reading) => {
                    idle = reading;
                    state.set_load(known(idle, 1, 0), now);
                }
                Step::Rate(rate) => {
                    base = f64::from(rate);
                    state.reconfigure(&config(base), now);
                }
            }
            // A rate is rounded to a millionth of a token.
            prop_assert!(issued <= allowed + 1e-3, "{issued} of {allowed}");
            prop_assert_eq!(state.status(now).in_flight as usize, inside.len());
        }
    }
}
