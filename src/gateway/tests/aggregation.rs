//! Many callers, few inferences. The given cases of kind 4 stand here by their ids.

use std::num::NonZero;

use tokio::time::{Instant, sleep};

use super::world::{Act, World, ask, ms};
use crate::domain::{Refusal, Source, UpstreamFailure};
use crate::flights::{LateJoin, WindowMode};
use crate::limit;

const QUESTION: &str = "How many moons does Mars have?";

fn fixed(answer: Act) -> World {
    World::new(answer, |window| window.mode = WindowMode::Fixed)
}

#[tokio::test(start_paused = true)]
async fn fifty_identical_calls_at_once_are_one_inference() {
    let world = World::new(Act::Answer(ms(300)), |_| {});
    let callers: Vec<_> = (0..50).map(|_| world.caller(ask(QUESTION))).collect();
    let began = Instant::now();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().text.matches("answer 1\"").count(), 1);
    }
    assert_eq!(world.calls(), 1);
    assert_eq!(began.elapsed(), ms(300), "joining costs no time");
}

#[tokio::test(start_paused = true)]
async fn an_adaptive_window_lets_a_lone_call_leave_at_once() {
    let world = World::new(Act::Answer(ms(100)), |_| {});
    let began = Instant::now();
    world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(began.elapsed(), ms(100));
}

#[tokio::test(start_paused = true)]
async fn a_fixed_window_holds_a_lone_call_for_its_length() {
    let world = fixed(Act::Answer(ms(100)));
    let began = Instant::now();
    world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(began.elapsed(), ms(150));
}

#[tokio::test(start_paused = true)]
async fn rewordings_share_a_window_and_a_different_question_does_not() {
    let world = fixed(Act::Answer(ms(100)));
    let same = world.caller(ask("please, how many moons does Mars have"));
    let other = world.caller(ask("How many moons does Venus have?"));
    let first = world.get(ask(QUESTION)).await.unwrap();
    let (same, other) = (same.await.unwrap().unwrap(), other.await.unwrap().unwrap());
    assert_eq!(world.calls(), 2);
    assert_eq!(first.text, same.text);
    assert_ne!(first.text, other.text);
}

#[tokio::test(start_paused = true)]
async fn k4_01_the_first_caller_hangs_up_and_the_others_get_the_whole_answer() {
    let world = fixed(Act::Answer(ms(3000)));
    let leader = world.caller(ask(QUESTION));
    let (b, c) = (world.caller(ask(QUESTION)), world.caller(ask(QUESTION)));
    let began = Instant::now();
    sleep(ms(500)).await;
    leader.abort();
    for caller in [b, c] {
        assert_eq!(caller.await.unwrap().unwrap().status, 200);
    }
    assert_eq!(began.elapsed(), ms(3050));
    assert_eq!(world.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn k4_03_a_waiter_who_leaves_does_not_open_the_way_for_a_duplicate() {
    let world = World::new(Act::Answer(ms(3000)), |_| {});
    let (a, b) = (world.caller(ask(QUESTION)), world.caller(ask(QUESTION)));
    sleep(ms(300)).await;
    b.abort();
    sleep(ms(200)).await;
    let c = world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(c.source, Source::LateJoin);
    assert_eq!(a.await.unwrap().unwrap().text, c.text);
    assert_eq!(world.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn k4_05_a_silent_upstream_is_told_to_all_ten_at_once_and_called_once() {
    let world = fixed(Act::Answer(ms(200)));
    world.script([Act::Silent(ms(2000))]);
    let callers: Vec<_> = (0..10).map(|_| world.caller(ask(QUESTION))).collect();
    for caller in callers {
        let told = caller.await.unwrap().unwrap_err();
        assert_eq!(told, Refusal::Upstream(UpstreamFailure::FirstByteTimeout));
    }
    assert_eq!(world.calls(), 1, "a failure is shared once, not retried by each");
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().status, 200, "and the next call has a flight of its own");
}

#[tokio::test(start_paused = true)]
async fn k4_07_followers_finish_with_their_leader() {
    let world = World::new(Act::Answer(ms(120)), |_| {});
    for round in 0..200 {
        let callers: Vec<_> = (0..10)
            .map(|_| {
                let got = world.get(ask(&format!("What is the square of {round}?")));
                tokio::spawn(async move { (got.await.map(|got| got.status), Instant::now()) })
            })
            .collect();
        let mut finished = Vec::new();
        for caller in callers {
            let (status, at) = caller.await.unwrap();
            assert_eq!(status, Ok(200));
            finished.push(at);
        }
        // On a paused clock any polling would show as a step of time between them.
        assert!(finished.iter().all(|at| *at == finished[0]), "round {round}");
    }
    assert_eq!(world.calls(), 200);
}

#[tokio::test(start_paused = true)]
async fn k4_09_late_join_off_each_flight_serves_ten() {
    for (callers, expected) in [(25, 3), (1000, 100)] {
        let world = World::new(Act::Answer(ms(1000)), |window| {
            window.mode = WindowMode::Fixed;
            window.late_join = LateJoin::Off;
        });
        let callers: Vec<_> = (0..callers).map(|_| world.caller(ask(QUESTION))).collect();
        for caller in callers {
            assert_eq!(caller.await.unwrap().unwrap().status, 200);
        }
        assert_eq!(world.calls(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn k4_09_late_join_on_one_inference_serves_all() {
    for callers in [25, 1000] {
        let world = fixed(Act::Answer(ms(1000)));
        let callers: Vec<_> = (0..callers).map(|_| world.caller(ask(QUESTION))).collect();
        for caller in callers {
            assert_eq!(caller.await.unwrap().unwrap().status, 200);
        }
        assert_eq!(world.calls(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn k4_11_a_call_that_arrives_as_the_first_completes_starts_nothing() {
    let world = World::new(Act::Answer(ms(50)), |_| {});
    for round in 0..2000u64 {
        let question = format!("What is the cube of {round}?");
        let first = world.caller(ask(&question));
        // From before the answer to well behind it, in steps of 4 microseconds.
        sleep(ms(48) + std::time::Duration::from_micros(round * 4)).await;
        let second = world.get(ask(&question)).await.unwrap();
        assert_eq!(first.await.unwrap().unwrap().text, second.text, "round {round}");
    }
    assert_eq!(world.calls(), 2000);
}

#[tokio::test(start_paused = true)]
async fn a_panic_elects_one_successor() {
    let world = World::new(Act::Answer(ms(50)), |_| {});
    world.script([Act::Panic]);
    let callers: Vec<_> = (0..5).map(|_| world.caller(ask(QUESTION))).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().status, 200);
    }
    assert_eq!(world.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_second_panic_is_told_to_all() {
    let world = World::new(Act::Panic, |_| {});
    let callers: Vec<_> = (0..5).map(|_| world.caller(ask(QUESTION))).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap_err(), Refusal::Internal);
    }
    assert_eq!(world.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_told_to_all_and_the_next_call_tries_again() {
    let world = World::new(Act::Answer(ms(50)), |_| {});
    world.script([Act::Refuse]);
    let callers: Vec<_> = (0..5).map(|_| world.caller(ask(QUESTION))).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap_err(), UpstreamFailure::Unreachable.into());
    }
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().status, 200);
    assert_eq!(world.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn when_everybody_leaves_the_inference_is_cancelled_and_the_scope_is_free() {
    let world = World::new(Act::Answer(ms(60_000)), |_| {});
    let lone = world.caller(ask(QUESTION));
    sleep(ms(10)).await;
    lone.abort();
    sleep(ms(10)).await;
    world.script([Act::Answer(ms(100))]);
    let again = world.get(ask(QUESTION)).await.unwrap();
    assert_eq!((again.source, world.calls()), (Source::Upstream, 2));
    sleep(ms(1000)).await;
    assert!(world.gateway.flights.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_gives_up_in_the_queue_is_refused_and_the_patient_one_is_served() {
    let world = World::with_admission(
        Act::Answer(ms(1000)),
        limit::Config { max_in_flight: NonZero::new(1), ..limit::Config::default() },
    );
    let first = world.caller(ask(QUESTION));
    sleep(ms(10)).await;
    let mut hasty = ask("How many moons does Venus have?");
    hasty.patience = Some(ms(100));
    let hasty = world.caller(hasty);
    sleep(ms(10)).await;
    let patient = world.caller(ask("How many moons does Venus have?"));
    assert!(matches!(hasty.await.unwrap().unwrap_err(), Refusal::Busy { .. }));
    assert_eq!(patient.await.unwrap().unwrap().source, Source::Window, "waiting for the GPU keeps the window open");
    assert_eq!(first.await.unwrap().unwrap().status, 200);
    assert_eq!(world.calls(), 2);
}
