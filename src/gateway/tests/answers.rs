//! What is stored, what is served again, and what never is.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, advance, sleep};

use super::world::{Act, World, ask, ms, read};
use crate::cache::Purge;
use crate::domain::{Call, Refusal, ReplyMode, ScopeId, Sharing, Source, Tier, UpstreamFailure, WhyNotShared};

const QUESTION: &str = "How many moons does Mars have?";

const DELTA: &str =
    r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"two"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn world() -> World {
    World::new(Act::Answer(ms(50)), |_| {})
}

/// Where the second answer comes from, once the first is complete and its flight has left the list.
async fn source_of_second(world: &World, first: Call, second: Call) -> Source {
    world.get(first).await.unwrap();
    sleep(ms(200)).await;
    world.get(second).await.unwrap().source
}

#[tokio::test(start_paused = true)]
async fn an_equal_question_is_answered_from_the_cache() {
    let world = world();
    let first = world.get(ask(QUESTION)).await.unwrap();
    sleep(ms(200)).await;
    let began = Instant::now();
    let served = world.answer(ask(QUESTION)).await.unwrap();
    assert_eq!(served.found.unwrap().tier, Tier::Exact);
    let second = read(served).await.unwrap();
    assert_eq!((second.source, second.text), (Source::Cache, first.text));
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(world.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_politer_question_is_answered_from_the_cache_by_its_canonical_form() {
    let world = world();
    world.get(ask("红烧肉怎么做？")).await.unwrap();
    sleep(ms(200)).await;
    let served = world.answer(ask("请问红烧肉怎么做")).await.unwrap();
    assert_eq!((served.source, served.found.unwrap().tier), (Source::Cache, Tier::Canonical));
}

#[tokio::test(start_paused = true)]
async fn the_phone_review_is_not_served_for_the_computer_review() {
    let world = world();
    let second = source_of_second(&world, ask("苹果手机的电池怎么样？"), ask("苹果电脑的电池怎么样？")).await;
    assert_eq!(second, Source::Upstream);
}

#[tokio::test(start_paused = true)]
async fn another_scope_finds_nothing() {
    let world = world();
    let mut other = ask(QUESTION);
    other.scope = ScopeId([2; 32]);
    assert_eq!(source_of_second(&world, ask(QUESTION), other).await, Source::Upstream);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_served_beyond_its_time() {
    let world = world();
    world.get(ask(QUESTION)).await.unwrap();
    advance(Duration::from_secs(299)).await;
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().source, Source::Cache);
    advance(Duration::from_secs(2)).await;
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().source, Source::Upstream);
}

#[tokio::test(start_paused = true)]
async fn the_callers_cache_control_is_honoured() {
    let world = world();
    let with = |change: fn(&mut Call)| {
        let mut call = ask(QUESTION);
        change(&mut call);
        call
    };
    world.get(ask(QUESTION)).await.unwrap();
    sleep(ms(2000)).await;
    let young = with(|call| call.cache.max_age = Some(Duration::from_secs(1)));
    assert_eq!(world.get(young).await.unwrap().source, Source::Upstream);
    let patient = with(|call| call.cache.max_age = Some(Duration::from_mins(1)));
    assert_eq!(world.get(patient).await.unwrap().source, Source::Cache);
    sleep(ms(200)).await;
    let anew = with(|call| call.cache.no_cache = true);
    assert_eq!(world.get(anew).await.unwrap().source, Source::Upstream);
    let stored = with(|call| call.cache.only_if_cached = true);
    assert_eq!(world.get(stored).await.unwrap().source, Source::Cache);
    world.gateway.cache().purge(Purge::All);
    let nothing = with(|call| call.cache.only_if_cached = true);
    assert_eq!(world.get(nothing).await.unwrap_err(), Refusal::NotCached);
}

#[tokio::test(start_paused = true)]
async fn k11_09_a_call_that_must_not_be_stored_is_neither_stored_nor_joined() {
    let world = world();
    let secret = || {
        let mut call = ask(QUESTION);
        call.sharing = Sharing::Never(WhyNotShared::NoStore);
        call
    };
    let (hidden, open) = (world.caller(secret()), world.caller(ask(QUESTION)));
    let (hidden, open) = (hidden.await.unwrap().unwrap(), open.await.unwrap().unwrap());
    assert_ne!(hidden.text, open.text);
    world.gateway.cache().purge(Purge::All);
    assert_eq!(source_of_second(&world, secret(), ask(QUESTION)).await, Source::Upstream);
}

#[tokio::test(start_paused = true)]
async fn k6_01_an_answer_that_was_cut_or_filtered_is_not_stored() {
    for finish in ["\"length\"", "\"content_filter\"", "null"] {
        let world = world();
        world.script([Act::Finish(finish)]);
        let first = world.get(ask(QUESTION)).await.unwrap();
        assert_eq!(first.status, 200, "delivered all the same");
        sleep(ms(200)).await;
        assert_eq!(world.get(ask(QUESTION)).await.unwrap().source, Source::Upstream, "{finish}");
    }
}

#[tokio::test(start_paused = true)]
async fn k6_03_a_stream_that_ended_early_is_told_and_not_stored() {
    let broken =
        [Act::Events(vec![DELTA, DELTA]), Act::Events(vec![DELTA, "[DONE]"]), Act::CutAfter(vec![DELTA, DELTA, STOP])];
    for act in broken {
        let world = world();
        world.script([act.clone()]);
        let told = world.get(ask(QUESTION)).await.unwrap_err();
        assert_eq!(told, Refusal::Upstream(UpstreamFailure::Cut), "{act:?}");
        sleep(ms(200)).await;
        assert_eq!(world.get(ask(QUESTION)).await.unwrap().source, Source::Upstream, "{act:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_within_a_stream_is_passed_on_once_and_ends_it() {
    let world = world();
    let error = r#"{"error":{"message":"out of memory","type":"server_error"}}"#;
    world.script([Act::Events(vec![DELTA, error, STOP, "[DONE]"])]);
    let told = world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(told.text.matches("out of memory").count(), 1);
    assert!(told.text.contains("two") && !told.text.contains("[DONE]"));
    sleep(ms(200)).await;
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().source, Source::Upstream);
}

#[tokio::test(start_paused = true)]
async fn the_usage_of_a_stream_is_asked_for_and_its_body_is_otherwise_the_callers() {
    let world = world();
    let mut call = ask(QUESTION);
    call.mode = ReplyMode::Stream { include_usage: false };
    world.get(call.clone()).await.unwrap();
    let (sent, own) = (world.last_body(), call.request.body.clone());
    assert!(sent.contains(r#""stream_options":{"include_usage":true}"#), "{sent}");
    assert_eq!(sent.replace(r#""stream_options":{"include_usage":true},"#, ""), own);
    sleep(ms(200)).await;
    world.gateway.cache().purge(Purge::All);
    world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(world.last_body(), own, "a document is asked for in the caller's bytes");
}

#[tokio::test(start_paused = true)]
async fn a_joiner_in_mid_stream_gets_every_event_and_a_hit_replays_them() {
    let world = world();
    world.script([Act::Events(vec![DELTA, DELTA, DELTA, STOP, "[DONE]"])]);
    let first = world.caller(ask(QUESTION));
    sleep(ms(25)).await;
    let late = world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(late.source, Source::LateJoin);
    sleep(ms(200)).await;
    let hit = world.get(ask(QUESTION)).await.unwrap();
    assert_eq!(hit.source, Source::Cache);
    let first = first.await.unwrap().unwrap();
    assert_eq!(first.text.matches("two").count(), 3);
    assert_eq!((&late.text, &hit.text), (&first.text, &first.text));
    assert_eq!(world.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_status_goes_to_every_waiter_and_is_not_stored() {
    let world = world();
    world.script([Act::Status(503)]);
    let callers: Vec<_> = (0..5).map(|_| world.caller(ask(QUESTION))).collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().unwrap().status, 503);
    }
    assert_eq!(world.calls(), 1);
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_purged_answer_is_gone_at_once() {
    let world = world();
    world.get(ask(QUESTION)).await.unwrap();
    sleep(ms(200)).await;
    let entry = world.answer(ask(QUESTION)).await.unwrap().stored.unwrap().entry;
    assert_eq!(world.gateway.cache().purge(Purge::Entry(entry)), 1);
    assert_eq!(world.get(ask(QUESTION)).await.unwrap().source, Source::Upstream);
}

#[tokio::test(start_paused = true)]
async fn a_caller_waits_no_longer_than_it_said() {
    let world = World::new(Act::Answer(ms(5000)), |_| {});
    let mut hasty = ask(QUESTION);
    hasty.patience = Some(ms(100));
    let patient = world.caller(ask(QUESTION));
    sleep(ms(1)).await;
    assert_eq!(world.get(hasty).await.unwrap_err(), Refusal::TooLate);
    assert_eq!(patient.await.unwrap().unwrap().status, 200);
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_running_flights_with_an_error() {
    let world = World::new(Act::Answer(ms(60_000)), |_| {});
    let caller = world.caller(ask(QUESTION));
    sleep(ms(10)).await;
    world.gateway.stop();
    assert_eq!(caller.await.unwrap().unwrap_err(), Refusal::Upstream(UpstreamFailure::ShuttingDown));
    world.gateway.drained().await;
    assert!(Arc::strong_count(&world.gateway) >= 1);
}
