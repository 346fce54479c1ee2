//! Every refusal has its status, and its body one shape.

use http::HeaderValue;

use super::*;

fn all() -> Vec<(Refusal, u16)> {
    let wait = Duration::from_millis(1500);
    let invalid = |field: Option<&str>| Refusal::Invalid { field: field.map(str::to_owned), message: "bad".into() };
    vec![
        (invalid(Some("model")), 400),
        (invalid(None), 400),
        (invalid(Some(PATH_FIELD)), 404),
        (Refusal::BodyTooLarge { limit: 9 }, 413),
        (Refusal::BodyTooSlow, 408),
        (Refusal::UnsupportedEncoding, 415),
        (Refusal::NotCached, 504),
        (Refusal::Busy { retry_after: wait }, 429),
        (Refusal::TooLate, 504),
        (Refusal::SlowReader, 408),
        (Refusal::Upstream(UpstreamFailure::Unreachable), 502),
        (Refusal::Upstream(UpstreamFailure::Cut), 502),
        (Refusal::Upstream(UpstreamFailure::Garbled), 502),
        (Refusal::Upstream(UpstreamFailure::TooLarge), 502),
        (Refusal::Upstream(UpstreamFailure::FirstByteTimeout), 504),
        (Refusal::Upstream(UpstreamFailure::IdleTimeout), 504),
        (Refusal::Upstream(UpstreamFailure::ShuttingDown), 503),
        (Refusal::ShuttingDown, 503),
        (Refusal::Internal, 500),
    ]
}

#[test]
fn every_refusal_is_an_openai_error_of_its_status() {
    for (refusal, status) in all() {
        let reply = error_body(&refusal, Lang::En);
        assert_eq!(reply.status.as_u16(), status, "{refusal:?}");
        let error = &reply.body["error"];
        assert!(error["message"].is_string() && error["type"].is_string(), "{refusal:?}");
        assert_eq!(error["code"], refusal.code());
        assert!(error.as_object().unwrap().contains_key("param"));
    }
    let reply = error_body(&all()[0].0, Lang::En);
    assert_eq!(
        (&reply.body["error"]["param"], &reply.body["error"]["type"]),
        (&json!("model"), &json!("invalid_request_error"))
    );
}

#[test]
fn a_429_serves_founding_and_openai_clients_alike() {
    let reply = error_body(&Refusal::Busy { retry_after: Duration::from_millis(1500) }, Lang::En);
    let message = "The inference servers are busy. Please try again in 2 s.";
    assert_eq!(
        reply.body,
        json!({
            "error": {"message": message, "type": "rate_limit_error", "param": null, "code": "gpu_busy"},
            "code": 429, "message": message, "retryAfterMs": 1500,
        })
    );
    assert_eq!((reply.retry_after, reply.reason), (Some(2), Some("gpu_busy")));
}

#[test]
fn retry_after_is_whole_seconds_rounded_up_and_at_least_one() {
    for (milliseconds, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
        let refusal = Refusal::Busy { retry_after: Duration::from_millis(milliseconds) };
        assert_eq!(error_body(&refusal, Lang::En).retry_after, Some(seconds), "{milliseconds} ms");
    }
}

#[test]
fn the_message_follows_accept_language() {
    let lang = |value: &'static str| {
        Lang::of(&HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, HeaderValue::from_static(value))]))
    };
    for (value, expected) in [
        ("zh-CN,zh;q=0.9,en;q=0.8", Lang::Zh),
        ("en;q=0.8, zh;q=0.9", Lang::Zh),
        ("en-GB", Lang::En),
        ("fr, zh;q=0.1", Lang::Zh),
        ("zh;q=0", Lang::En),
        ("fr", Lang::En),
        (";;q=,", Lang::En),
    ] {
        assert_eq!(lang(value), expected, "{value}");
    }
    assert_eq!(Lang::of(&HeaderMap::new()), Lang::En);
    let reply = error_body(&Refusal::Busy { retry_after: Duration::from_secs(3) }, Lang::Zh);
    assert_eq!(reply.body["message"], "推理服务繁忙，请在 3 秒后重试。");
}

#[test]
fn an_error_within_a_stream_is_one_event_of_the_same_object() {
    for (refusal, _) in all() {
        let event = error_event(&refusal, Lang::En);
        let data: Value = serde_json::from_slice(&sse::data(&event).unwrap()).unwrap();
        assert_eq!(data, json!({ "error": error_body(&refusal, Lang::En).body["error"] }));
    }
}
