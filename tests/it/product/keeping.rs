//! The result cache as callers and operators see it.

use http::Method;
use serde_json::json;

use super::support::{Gateway, Setting, ask, instant};

#[tokio::test]
async fn a_hit_says_that_it_is_one_and_how_old() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::default()).await;
    let body = ask("Who wrote Faust?");
    let miss = gateway.chat(&body).await;
    assert_eq!(miss.header("cache-status"), "weir; fwd=miss");
    let hit = gateway.chat(&body).await;
    assert_eq!(hit.body, miss.body);
    assert!(hit.header("cache-status").starts_with("weir; hit; ttl="), "{hit:?}");
    assert!(hit.header("age").parse::<u64>().is_ok());
    assert_eq!(hit.header("x-weir-match"), "exact;score=1.000");
    let other = gateway.chat_with(&[("authorization", "Bearer sk-of-another")], &body).await;
    assert_eq!(other.header("x-weir-source"), "upstream", "another tenant's answer is not ours");
    assert_eq!(sim.calls(), 2);
}

#[tokio::test]
async fn callers_say_how_far_the_cache_may_serve_them() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::default()).await;
    let body = ask("Who wrote Faust?");
    let asked = async |wish: &str| {
        let reply = gateway.chat_with(&[("cache-control", wish)], &body).await;
        let code = if reply.status.is_success() { String::new() } else { reply.code() };
        (reply.status.as_u16(), reply.header("x-weir-source").to_owned(), code)
    };
    let upstream = (200, "upstream".to_owned(), String::new());
    let cache = (200, "cache".to_owned(), String::new());
    let absent = (504, "none".to_owned(), "not_cached".to_owned());
    assert_eq!(asked("only-if-cached").await, absent);
    assert_eq!(asked("no-store").await, upstream);
    assert_eq!(asked("only-if-cached").await, absent, "no-store was not stored");
    assert_eq!(gateway.chat(&body).await.header("x-weir-source"), "upstream");
    assert_eq!(asked("only-if-cached").await, cache);
    assert_eq!(asked("max-age=60").await, cache);
    assert_eq!(asked("max-age=0, only-if-cached").await, absent);
    assert_eq!(asked("no-store").await, upstream);
    assert_eq!(sim.calls(), 3);
    gateway.until_quiet().await;
}

#[tokio::test]
async fn no_cache_brings_a_new_answer_that_takes_the_place_of_the_old_one() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::with("[window]\nlength = \"0s\"\n")).await;
    let body = ask("Who wrote Faust?");
    let old = gateway.chat(&body).await;
    gateway.until_quiet().await;
    let new = gateway.chat_with(&[("cache-control", "no-cache")], &body).await;
    assert_ne!(new.said(), old.said());
    assert_eq!(gateway.chat(&body).await.said(), new.said());
    assert_eq!(sim.calls(), 2);
}

#[tokio::test]
async fn operators_forget_one_answer_one_question_or_everything() {
    let sim = instant().await;
    // A landed flight lingers for a window, in which it serves as well as the cache does.
    let gateway = Gateway::before(&sim, Setting::with("[window]\nlength = \"0s\"\n")).await;
    let (faust, hamlet) = (ask("Who wrote Faust?"), ask("Who wrote Hamlet?"));
    let store_both = async || {
        gateway.chat(&faust).await;
        gateway.chat(&hamlet).await;
        (gateway.stored(&[], &faust).await.unwrap(), gateway.stored(&[], &hamlet).await.unwrap())
    };
    let purge = async |what| {
        let reply = gateway.admin(Method::POST, "/admin/purge", &what).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["purged"].as_u64().unwrap()
    };
    let (entry, _) = store_both().await;
    assert_eq!(purge(json!({"entry": entry.header("x-weir-entry")})).await, 1);
    assert!(gateway.stored(&[], &faust).await.is_none() && gateway.stored(&[], &hamlet).await.is_some());

    let (_, second) = store_both().await;
    let (scope, key) = scope_and_key(second.header("cache-status"));
    assert_eq!(purge(json!({"key": key})).await, 1);
    assert!(gateway.stored(&[], &faust).await.is_some() && gateway.stored(&[], &hamlet).await.is_none());

    store_both().await;
    assert_eq!(purge(json!({"scope": scope})).await, 2);
    assert!(gateway.stored(&[], &faust).await.is_none() && gateway.stored(&[], &hamlet).await.is_none());

    store_both().await;
    assert_eq!(purge(json!({"all": true})).await, 2);
    assert!(gateway.stored(&[], &faust).await.is_none() && gateway.stored(&[], &hamlet).await.is_none());
    for wrong in [json!({"entry": "x"}), json!({"all": false}), json!({"everything": true})] {
        assert_eq!(gateway.admin(Method::POST, "/admin/purge", &wrong).await.status, 400, "{wrong}");
    }
}

/// The `key` of a hit's `Cache-Status`: Scope and fingerprint.
fn scope_and_key(status: &str) -> (String, String) {
    let key = status.split("key=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let (scope, fingerprint) = key.split_once('/').unwrap();
    (scope.to_owned(), fingerprint.to_owned())
}
