//! Bad input and a bad upstream: told truthfully, never stored, nothing left behind.

use futures_util::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use weir::sim::SimHandle;

use super::reading::Reply;
use super::support::{Gateway, Setting, ask, ask_streaming, in_time, instant};

/// Path, headers, body, status, and the field that the error names.
type Bad<'a> = (&'a str, &'a [(&'a str, &'a str)], Vec<u8>, u16, Value);

fn bad_requests() -> Vec<Bad<'static>> {
    let chat = |body: &str, status, field: Value| ("/v1/chat/completions", &[] as &[_], body.into(), status, field);
    let user = r#""messages":[{"role":"user","content":"hi"}]"#;
    let encoded = |coding: &'static [(&str, &str)]| {
        ("/v1/chat/completions", coding, format!(r#"{{"model":"m",{user}}}"#).into_bytes(), 415, Value::Null)
    };
    vec![
        chat("", 400, Value::Null),
        chat("{", 400, Value::Null),
        chat("[1]", 400, Value::Null),
        chat(&format!(r#"{{"model":"m",{user}}} x"#), 400, Value::Null),
        chat(&format!(r#"{{"model":"m","model":"n",{user}}}"#), 400, json!("model")),
        chat(&format!("{{{user}}}"), 400, json!("model")),
        chat(&format!(r#"{{"model":7,{user}}}"#), 400, json!("model")),
        chat(r#"{"model":"m"}"#, 400, json!("messages")),
        chat(r#"{"model":"m","messages":[]}"#, 400, json!("messages")),
        chat(r#"{"model":"m","messages":[{"role":"user","content":5}]}"#, 400, json!("messages[0].content")),
        chat(&format!(r#"{{"model":"m",{user},"temperature":"hot"}}"#), 400, json!("temperature")),
        chat(&format!(r#"{{"model":"m",{user},"stream":"yes"}}"#), 400, json!("stream")),
        chat(&format!(r#"{{"model":"m",{user},"max_tokens":1.5}}"#), 400, json!("max_tokens")),
        ("/v1/embeddings", &[], r#"{"model":"m","input":7}"#.into(), 400, json!("input")),
        ("/v1/completions", &[], r#"{"model":"m"}"#.into(), 400, json!("prompt")),
        ("/api/ai/qa", &[], r#"{"model":"m","prompt":"a","top_p":1}"#.into(), 400, json!("top_p")),
        ("/v1/chat/completions", &[], b"{\"model\":\"\xff\xfe\"}".to_vec(), 400, Value::Null),
        ("/v1/chat/completions", &[], vec![b' '; 5000], 413, Value::Null),
        encoded(&[("content-encoding", "gzip")]),
        encoded(&[("content-encoding", "br, zstd")]),
        encoded(&[("content-encoding", "x-weird")]),
    ]
}

#[tokio::test]
async fn a_bad_request_names_its_field_and_costs_nothing() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::with("[server]\nmax_body = \"4KiB\"\n")).await;
    let bad = bad_requests();
    for (path, headers, body, status, field) in &bad {
        let shown = String::from_utf8_lossy(&body[..body.len().min(99)]).into_owned();
        let reply = gateway.post(path, headers, body.clone()).await;
        assert_eq!(reply.status.as_u16(), *status, "{shown}: {reply:?}");
        let error = &reply.json()["error"];
        assert_eq!(error["type"], "invalid_request_error", "{shown}");
        assert!(error["message"].is_string() && error["code"].is_string(), "{shown}: {error}");
        if !field.is_null() {
            assert_eq!(error["param"], *field, "{shown}");
        }
    }
    assert_eq!(sim.calls(), 0);
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("weir_requests_total", &[("outcome", "invalid")]), bad.len() as f64);
    assert_eq!(metrics.sum("weir_cache_entries", &[]), 0.0);
    assert_eq!(metrics.sum("weir_upstream_inferences_total", &[]), 0.0);
    gateway.until_quiet().await;
}

/// Five callers share one flight: it leaves as soon as the fifth has boarded.
const FIVE: &str = "[window]\nmode = \"fixed\"\nlength = \"10s\"\nmax_callers = 5\n";

async fn five_at_once(gateway: &Gateway, headers: &[(&str, &str)], body: &Value) -> Vec<Reply> {
    in_time(join_all((0..5).map(|_| gateway.chat_with(headers, body)))).await
}

/// One inference was tried for five callers, and nothing of it is left.
async fn nothing_is_left(gateway: &Gateway, sim: &SimHandle, calls: u64, headers: &[(&str, &str)], body: &Value) {
    assert_eq!(sim.calls(), calls, "one attempt for {body}");
    gateway.until_quiet().await;
    assert!(gateway.stored(headers, body).await.is_none(), "stored: {body}");
    assert_eq!(gateway.metrics().await.sum("weir_cache_entries", &[]), 0.0);
}

#[tokio::test]
async fn an_upstream_that_fails_is_told_truthfully_to_everybody_who_waits_and_tried_once() {
    let sim = instant().await;
    let upstream = "first_byte_timeout = \"500ms\"\nidle_timeout = \"500ms\"\n".to_owned();
    let gateway = Gateway::before(&sim, Setting { upstream, ..Setting::with(FIVE) }).await;
    let mut calls = 0;
    for (fault, status, code) in [
        ("500", 500, ""),
        ("503", 503, ""),
        ("429=7", 429, ""),
        ("cut=3", 502, "upstream_cut"),
        ("refuse", 502, "upstream_cut"),
        ("rst", 502, "upstream_cut"),
        ("hang", 504, "upstream_timeout"),
    ] {
        let (headers, body) = ([("x-sim-fault", fault)], ask(&format!("What is {fault}?")));
        calls += 1;
        for reply in five_at_once(&gateway, &headers, &body).await {
            assert_eq!(reply.status.as_u16(), status, "{fault}: {reply:?}");
            assert!(code.is_empty() || reply.code() == code, "{fault}: {reply:?}");
            assert!(reply.json()["error"]["message"].is_string(), "{fault}: {reply:?}");
            if fault == "429=7" {
                assert_eq!(reply.header("retry-after"), "7");
            }
        }
        nothing_is_left(&gateway, &sim, calls, &headers, &body).await;
    }
    assert_eq!(gateway.metrics().await.sum("weir_requests_total", &[("outcome", "ok")]), 0.0);
}

#[tokio::test]
async fn a_stream_that_breaks_ends_with_an_error_event_for_everybody() {
    let sim = instant().await;
    let upstream = "first_byte_timeout = \"500ms\"\nidle_timeout = \"500ms\"\n".to_owned();
    let gateway = Gateway::before(&sim, Setting { upstream, ..Setting::with(FIVE) }).await;
    for (calls, (fault, code)) in
        [("cut=3", "upstream_cut"), ("rst-mid=3", "upstream_cut"), ("hang-mid=3", "upstream_stalled")]
            .iter()
            .enumerate()
    {
        let (headers, body) = ([("x-sim-fault", *fault)], ask_streaming(&format!("What is {fault}?")));
        for reply in five_at_once(&gateway, &headers, &body).await {
            if reply.status.is_success() {
                let last = reply.text().trim_end().rsplit("\n\n").next().unwrap().to_owned();
                assert!(last.contains(code), "{fault}: {}", reply.text());
                assert!(!reply.text().contains("[DONE]"), "{fault}: nothing makes it look whole");
            } else {
                // A reset may overtake the tokens before it.
                assert_eq!((*fault, reply.code().as_str()), ("rst-mid=3", *code));
            }
        }
        nothing_is_left(&gateway, &sim, calls as u64 + 1, &headers, &body).await;
    }
}

#[tokio::test]
async fn what_is_not_a_complete_answer_is_delivered_but_not_stored() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::default()).await;
    for (calls, fault) in ["finish=length", "error-200", "empty"].iter().enumerate() {
        let (headers, body) = ([("x-sim-fault", *fault)], ask(&format!("What is {fault}?")));
        assert_eq!(gateway.chat_with(&headers, &body).await.status, StatusCode::OK, "{fault}");
        nothing_is_left(&gateway, &sim, calls as u64 + 1, &headers, &body).await;
    }
}

#[tokio::test]
async fn a_gpu_without_room_is_a_429_that_says_when_to_come_back() {
    let sim = instant().await;
    let config = "[admission]\nbase_rate = 0.001\ncapacity = 1\ncharge = \"estimated\"\nmax_wait = \"50ms\"\n";
    let gateway = Gateway::before(&sim, Setting::with(config)).await;
    gateway.until_metric("weir_load_state", &[("state", "fresh")], 1.0).await;
    assert_eq!(gateway.chat(&ask("Who wrote Faust?")).await.status, 200);
    let refused = gateway.chat_with(&[("accept-language", "zh-CN")], &ask("Who wrote Hamlet?")).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "gpu_busy"));
    assert_eq!(refused.header("x-ratelimit-reason"), "gpu_busy");
    let seconds: u64 = refused.header("retry-after").parse().unwrap();
    let body = refused.json();
    assert!(seconds >= 1 && body["retryAfterMs"].as_u64() > Some((seconds - 1) * 1000), "{refused:?}");
    assert!(body["code"] == 429 && body["message"].as_str().unwrap().contains("推理"), "{body}");
    assert_eq!(gateway.chat(&ask("Who wrote Faust?")).await.header("x-weir-source"), "cache", "a hit costs nothing");
    gateway.until_quiet().await;
    assert_eq!(gateway.metrics().await.sum("weir_refused_total", &[("reason", "gpu_busy")]), 1.0);
    assert_eq!(sim.calls(), 1);
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_said_to_be_unreachable() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gateway = Gateway::start(&format!("http://{nobody}"), Setting::with(FIVE)).await;
    let body = ask("Is anybody there?");
    for reply in five_at_once(&gateway, &[], &body).await {
        assert_eq!((reply.status.as_u16(), reply.code().as_str()), (502, "upstream_unreachable"));
    }
    gateway.until_quiet().await;
    assert_eq!(gateway.metrics().await.sum("weir_upstream_inferences_total", &[]), 1.0);
    assert!(gateway.stored(&[], &body).await.is_none());
}
