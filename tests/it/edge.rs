//! The edge over real sockets: what callers and operators see.

mod door;
mod hostile;
mod stopping;

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use weir::domain::Secret;
use weir::sim::Fault;

use door::{Door, KEY, Reply, TOKEN, ask, ask_streaming, canned, complete, piece};

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

fn code(reply: &Reply) -> String {
    let body: Value = serde_json::from_str(&reply.text).unwrap();
    body["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// The text of an answer, streamed or not.
fn said(reply: &Reply) -> String {
    if let Ok(body) = serde_json::from_str::<Value>(&reply.text) {
        return body["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    }
    let data = reply.text.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn a_miss_then_a_hit_and_the_headers_say_so() {
    let door = Door::open().await;
    let miss = door.chat(&ask("How many moons does Mars have?")).await;
    assert_eq!(miss.status, StatusCode::OK);
    assert_eq!(header(&miss.headers, "x-weir-source"), "upstream");
    assert_eq!(header(&miss.headers, "x-weir-match"), "none");
    assert_eq!(header(&miss.headers, "cache-status"), "weir; fwd=miss");
    assert!(header(&miss.headers, "x-weir-flight").ends_with(";size=1"));

    let hit = door.chat(&ask("How many moons does Mars have?")).await;
    assert_eq!(hit.text, miss.text, "byte for byte");
    assert_eq!(header(&hit.headers, "x-weir-source"), "cache");
    assert_eq!(header(&hit.headers, "x-weir-match"), "exact;score=1.000");
    assert_eq!(header(&hit.headers, "age"), "0");
    assert!(header(&hit.headers, "cache-status").starts_with("weir; hit; ttl="));
    assert_eq!(header(&hit.headers, "content-type"), header(&miss.headers, "content-type"));
    assert_eq!(door.sim.calls(), 1);
    assert_eq!(door.sim.recorded()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[tokio::test]
async fn a_sampled_call_is_told_why_it_does_not_share_by_meaning() {
    let door = Door::open().await;
    let mut body = ask("Write a poem about Mars");
    body["temperature"] = json!(0.9);
    let reply = door.chat(&body).await;
    assert_eq!(header(&reply.headers, "x-weir-match"), "none;why=sampled");
}

#[tokio::test]
async fn each_caller_gets_its_own_mode_from_one_inference() {
    let door = Door::open().await;
    let question = "How many moons does Mars have?";
    door.sim.hold_after(0);
    let both = [ask_streaming(question), ask(question), ask_streaming(question)];
    let asking = join_all(both.iter().map(|body| door.chat(body)));
    let letting_go = async {
        door.sim.until(|stats| stats.running == 1).await;
        door.until_metric("weir_waiters", 3).await;
        door.sim.release();
    };
    let (replies, ()) = tokio::join!(asking, letting_go);
    assert_eq!(door.sim.calls(), 1);
    assert!(replies.iter().all(|reply| said(reply) == said(&replies[0]) && !said(reply).is_empty()));
    assert_eq!(header(&replies[0].headers, "content-type").split(';').next(), Some("text/event-stream"));
    assert_eq!(header(&replies[1].headers, "content-type"), "application/json");
    for stored in [ask(question), ask_streaming(question)] {
        let hit = door.chat(&stored).await;
        assert_eq!(header(&hit.headers, "x-weir-source"), "cache");
        assert_eq!(said(&hit), said(&replies[0]));
    }
}

#[tokio::test]
async fn a_stream_arrives_event_by_event() {
    let door = Door::open().await;
    door.sim.hold_after(2);
    let response =
        door.begin("/v1/chat/completions", &ask_streaming("How many moons does Mars have?").to_string()).await;
    let mut body = response.into_body();
    // The inference is held, so whatever arrives was not waited for.
    assert!(piece(&mut body).await.starts_with("data: "));
    door.sim.release();
    let mut rest = String::new();
    loop {
        let next = piece(&mut body).await;
        if next.is_empty() {
            break;
        }
        rest.push_str(&next);
    }
    assert!(rest.ends_with("data: [DONE]\n\n"), "{rest}");
}

#[tokio::test]
async fn the_bytes_of_a_miss_are_the_callers_and_the_upstreams_own() {
    let odd =
        " {\n\t\"choices\" : [ {\"message\":{\"content\":\"\\u706b\"}, \"finish_reason\":\"stop\"}],\"x\":1e2 }\n";
    let whole: &'static str = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json; v=1\r\nx-request-id: r1\r\ncontent-length: {}\r\n\r\n{odd}",
        odd.len()
    )
    .leak();
    let url = canned(whole).await;
    let reply = Door::with(|setting| setting.upstream.url = url).await.chat(&ask("Moons of Mars?")).await;
    assert_eq!(reply.text, odd);
    assert_eq!(header(&reply.headers, "content-type"), "application/json; v=1");
    assert_eq!(header(&reply.headers, "x-request-id"), "r1", "this caller's own exchange");

    let events = ": hello\n\nevent: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata:[DONE]\n\n";
    let stream: &'static str = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n0\r\n\r\n",
        events.len()
    )
    .leak();
    let url = canned(stream).await;
    let reply = Door::with(|setting| setting.upstream.url = url).await.chat(&ask_streaming("Moons of Mars?")).await;
    assert_eq!(reply.text, events);

    let door = Door::open().await;
    let spaced =
        "{ \"model\":\"m\",\n \"temperature\" : 0.0, \"messages\":[{\"content\":\"\\u706b?\",\"role\":\"user\"}] }\n";
    door.post("/v1/chat/completions", spaced).await;
    assert_eq!(door.sim.recorded()[0].body, spaced);
}

#[tokio::test]
async fn a_failure_before_the_first_byte_is_a_status() {
    let door = Door::open().await;
    for streaming in [false, true] {
        door.sim.queue_faults([Fault::Refuse, Fault::Status { status: 503, retry_after: None }]);
        let question = format!("How many moons does Mars have? {streaming}");
        let body = if streaming { ask_streaming(&question) } else { ask(&question) };
        let refused = door.chat(&body).await;
        assert_eq!((refused.status, code(&refused).as_str()), (StatusCode::BAD_GATEWAY, "upstream_cut"));
        assert_eq!(header(&refused.headers, "x-weir-source"), "none");
        let told = door.chat(&body).await;
        assert_eq!(told.status, StatusCode::SERVICE_UNAVAILABLE, "the upstream's own status");
    }
}

#[tokio::test]
async fn k6_03_a_response_that_ends_early_is_told_and_not_stored() {
    let door = Door::open().await;
    for body in [ask_streaming("How many moons does Mars have?"), ask("How many moons does Venus have?")] {
        door.sim.queue_faults([Fault::CutAfter(3)]);
        let told = door.chat(&body).await;
        if body["stream"] == json!(true) {
            assert_eq!(told.status, StatusCode::OK, "the head was out");
            let last = told.text.trim_end().rsplit("\n\n").next().unwrap();
            assert!(last.contains(r#""code":"upstream_cut""#), "{}", told.text);
            assert!(!told.text.contains("[DONE]"), "nothing makes it look whole");
        } else {
            assert_eq!(told.status, StatusCode::BAD_GATEWAY);
        }
        let again = door.chat(&body).await;
        assert_eq!(header(&again.headers, "x-weir-source"), "upstream");
        assert!(!said(&again).is_empty());
    }
    assert_eq!(door.sim.calls(), 4);
}

#[tokio::test]
async fn every_other_path_passes_through() {
    let door = Door::open().await;
    let models = door.get("/v1/models").await;
    assert_eq!(models.status, StatusCode::OK);
    assert_eq!(header(&models.headers, "x-weir-source"), "passthrough");
    assert!(models.text.contains("sim-model"), "{}", models.text);
    let unknown = door.get("/nothing/here?x=%E4%B8%AD").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(door.sim.recorded().pop().unwrap().path_and_query, "/nothing/here?x=%E4%B8%AD");
    // A method that the surface does not have is the upstream's to refuse.
    assert_eq!(header(&door.get("/v1/chat/completions").await.headers, "x-weir-source"), "passthrough");
    assert_eq!(
        door.metric(r#"weir_requests_total{outcome="ok",route="other",source="passthrough",task="default"}"#),
        3
    );
}

#[tokio::test]
async fn a_trailing_slash_works_and_a_doubled_version_is_explained() {
    let door = Door::open().await;
    assert_eq!(door.post("/v1/chat/completions/", &ask("Hi there, Mars?").to_string()).await.status, StatusCode::OK);
    assert_eq!(door.sim.recorded()[0].path_and_query, "/v1/chat/completions");
    let doubled = door.post("/v1/v1/chat/completions", &ask("Hi there, Mars?").to_string()).await;
    assert_eq!(doubled.status, StatusCode::NOT_FOUND);
    assert!(doubled.text.contains("/v1/v1"), "{}", doubled.text);
    assert_eq!(door.sim.calls(), 1);
}

#[tokio::test]
async fn the_founding_path_has_the_founding_reply() {
    let door = Door::open().await;
    let body = json!({"model": "m", "prompt": "How many moons does Mars have?", "temperature": 0, "max_tokens": 50});
    let reply = door.post("/api/ai/qa", &body.to_string()).await;
    let answer: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(answer["source"], "upstream");
    assert!(!answer["text"].as_str().unwrap().is_empty() && answer["usage"]["total_tokens"].as_u64() > Some(0));
    assert_eq!(header(&reply.headers, "x-weir-task"), "qa");
    let mut streaming = body.clone();
    streaming["stream"] = json!(true);
    let replayed = door.post("/api/ai/qa", &streaming.to_string()).await;
    assert!(replayed.text.contains(r#""source":"cache""#) && replayed.text.ends_with("data: [DONE]\n\n"));
    let unknown = door.post("/api/ai/astrology", &body.to_string()).await;
    assert!(unknown.status.is_client_error() && unknown.text.contains("summarization"), "{}", unknown.text);
}

#[tokio::test]
async fn what_is_not_understood_names_the_field_and_costs_nothing() {
    let door = Door::with(|setting| setting.server.max_body = 4096).await;
    let huge = ask(&"x".repeat(5000)).to_string();
    for (body, status) in [
        ("{", StatusCode::BAD_REQUEST),
        (r#"{"model":"m","model":"n","messages":[]}"#, StatusCode::BAD_REQUEST),
        (r#"{"model":7,"messages":[]}"#, StatusCode::BAD_REQUEST),
        (huge.as_str(), StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let reply = door.post("/v1/chat/completions", body).await;
        assert_eq!(reply.status, status, "{}", reply.text);
        assert!(!code(&reply).is_empty());
    }
    assert_eq!(door.sim.calls(), 0);
    let invalid = r#"weir_requests_total{outcome="invalid",route="chat",source="none",task="default"}"#;
    assert_eq!(door.metric(invalid), 4);
}

#[tokio::test]
async fn a_caller_who_leaves_in_mid_stream_is_counted_and_leaves_nothing_behind() {
    let door = Door::open().await;
    door.sim.hold_after(2);
    let response =
        door.begin("/v1/chat/completions", &ask_streaming("How many moons does Mars have?").to_string()).await;
    drop(response);
    door.sim.until(|stats| stats.aborted == 1).await;
    door.until_metric("weir_calls_in_flight", 0).await;
    let page = door.meter.render();
    assert!(page.lines().any(|line| line.starts_with("weir_requests_total{outcome=\"client_closed\"")), "{page}");
}

#[tokio::test]
async fn operators_need_the_token_for_changes_and_probes_need_none() {
    let door = Door::open().await;
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(door.admin(Method::GET, path, None, Value::Null).await.status, StatusCode::OK, "{path}");
    }
    let all = json!({"all": true});
    for wrong in [None, Some("guess"), Some("operators-onlx")] {
        let reply = door.admin(Method::POST, "/admin/purge", wrong, all.clone()).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    }
    door.chat(&ask("How many moons does Mars have?")).await;
    let purged = door.admin(Method::POST, "/admin/purge", Some(TOKEN), all).await;
    assert_eq!((purged.status, purged.text.as_str()), (StatusCode::OK, r#"{"purged":1}"#));
    let bad = door.admin(Method::PUT, "/admin/thresholds", Some(TOKEN), json!({"astrology": 1})).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    assert!(bad.text.contains(r#""param":"astrology""#), "{}", bad.text);
    assert_eq!(door.admin(Method::GET, "/admin/nothing", Some(TOKEN), Value::Null).await.status, StatusCode::NOT_FOUND);
    assert_eq!(door.get("/admin/config").await.status, StatusCode::NOT_FOUND, "not on the callers' port");
}

#[tokio::test]
async fn without_a_token_the_admin_paths_are_closed() {
    let door = Door::with(|setting| setting.admin.token = Secret::default()).await;
    for given in [None, Some("")] {
        let reply = door.admin(Method::GET, "/admin/config", given, Value::Null).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN);
        assert!(reply.text.contains("admin.token"));
    }
}

#[tokio::test]
async fn k12_05_callers_reach_every_kind_of_address() {
    for (bind, dial) in [("0.0.0.0:0", "127.0.0.1"), ("[::]:0", "127.0.0.1"), ("[::]:0", "::1"), ("[::1]:0", "::1")] {
        let mut door = Door::with(|setting| setting.server.listen = bind.parse().unwrap()).await;
        door.callers.set_ip(dial.parse().unwrap());
        assert_eq!(door.get("/v1/models").await.status, StatusCode::OK, "{bind} by {dial}");
    }
}

/// Every log line of this process from now on, at the finest level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn begin() -> Self {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
        lines.init();
        log
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn k11_03_no_key_comes_out_anywhere() {
    let log = Log::begin();
    let door = Door::with(|setting| setting.upstream.api_key = Secret::new("sk-operator-secret")).await;
    door.sim.queue_faults([Fault::Status { status: 401, retry_after: None }]);
    let mut with_key = ask("How many moons does Mars have?");
    with_key["api_key"] = json!("sk-in-the-body");
    let mut seen = Vec::new();
    for (path, body) in [
        ("/v1/chat/completions", with_key.to_string()),
        ("/v1/chat/completions?api_key=sk-in-the-query", ask("How many moons does Venus have?").to_string()),
        ("/v1/chat/completions", "{\"api_key\": \"sk-in-the-body\"".to_owned()),
    ] {
        let reply = complete(door.begin(path, &body).await).await;
        seen.push(format!("{:?} {}", reply.headers, reply.text));
    }
    seen.push(door.meter.render());
    seen.push(door.admin(Method::GET, "/admin/config", Some(TOKEN), Value::Null).await.text);
    assert!(log.text().contains("refused"), "the log is on");
    seen.push(log.text());
    for text in seen {
        for key in ["sk-operator-secret", KEY, "sk-in-the-body", "sk-in-the-query", TOKEN] {
            assert!(!text.contains(key), "{key} in {text}");
        }
    }
    assert_eq!(door.sim.recorded()[0].header("authorization"), Some("Bearer sk-operator-secret"));
}
