//! Cases of kind 2, 7 and 11 at this level: do two calls share a Scope? And what is refused, by name.

use std::sync::LazyLock;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::domain::{MaxTokens, Secret, UnknownTask};

use super::*;

/// One key for all calls of a test, as for all calls of a process.
static KEY: LazyLock<TenantKey> = LazyLock::new(TenantKey::random);

/// Every call is `qa` unless it names its task.
struct Qa;

impl NameTask for Qa {
    fn name_task(&self, hints: &TaskHints<'_>) -> Result<TaskName, UnknownTask> {
        match hints.named {
            None => Ok(TaskName::new("qa")),
            Some(known @ ("qa" | "code")) => Ok(TaskName::new(known)),
            Some(_) => Err(UnknownTask { known: vec![TaskName::new("qa"), TaskName::new("code")] }),
        }
    }
}

fn rules() -> DecodeRules {
    let sharing = [(TaskName::new("qa"), SharingRules { sampled_exact_only: false, max_history_turns: 2 })];
    let shared_scope = vec![vec![Secret::new("team-1"), Secret::new("team-2")]];
    let tenants = TenantRules::new(KEY.clone(), &TenantConfig { shared_scope });
    DecodeRules { tasks: Arc::new(Qa), sharing: sharing.into(), tenants }
}

fn header_map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
    let lines = headers.iter();
    lines.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
}

fn send(route: Route, headers: &[(&'static str, &'static str)], body: &[u8]) -> Result<Call, Refusal> {
    let path_and_query = match route {
        Route::Chat => "/v1/chat/completions",
        Route::Completions => "/v1/completions",
        Route::Embeddings => "/v1/embeddings",
        Route::Ai => "/api/ai/code",
        Route::Other => "/v1/models?x=1",
    };
    let headers = header_map(headers);
    let body = Bytes::copy_from_slice(body);
    decode(Incoming { route, method: "POST", path_and_query, headers: &headers, body }, &rules())
}

fn call(body: &Value) -> Call {
    send(Route::Chat, &[("authorization", "Bearer key-a")], body.to_string().as_bytes()).unwrap()
}

fn raw(body: &str) -> Call {
    send(Route::Chat, &[], body.as_bytes()).unwrap()
}

fn with_headers(headers: &[(&'static str, &'static str)]) -> Call {
    send(Route::Chat, headers, ask("Say hello.").to_string().as_bytes()).unwrap()
}

fn ask(question: &str) -> Value {
    json!({"model": "m-chat", "temperature": 0, "messages": [{"role": "user", "content": question}]})
}

/// A body with more or other fields.
fn with(body: &Value, fields: Value) -> Value {
    let mut body = body.clone();
    let (Value::Object(into), Value::Object(fields)) = (&mut body, fields) else { panic!("objects") };
    into.extend(fields);
    body
}

fn refused_field(route: Route, body: &str) -> (String, String) {
    match send(route, &[], body.as_bytes()) {
        Err(Refusal::Invalid { field, message }) => (field.unwrap_or_default(), message),
        other => panic!("{body}: {other:?}"),
    }
}

fn all_differ(calls: &[Call]) {
    for (index, call) in calls.iter().enumerate() {
        for other in &calls[index + 1..] {
            assert_ne!(call.scope, other.scope, "{:?} and {:?}", call.request.body, other.request.body);
        }
    }
}

// === kind 2: what is in the Scope ===

#[test]
fn k2_01_system_text_is_in_the_scope() {
    let asked = |system: &str| {
        json!({"model": "m-chat", "temperature": 0,
               "messages": [{"role": "system", "content": system}, {"role": "user", "content": "什么是光合作用？"}]})
    };
    let calls =
        [call(&asked("Reply only in English.")), call(&asked("只用中文回答。")), call(&ask("什么是光合作用？"))];
    all_differ(&calls);
    assert!(calls.iter().all(|call| &*call.question == "什么是光合作用？" && call.sharing == Sharing::ByMeaning));
}

#[test]
fn k2_03_token_caps_are_in_the_scope() {
    let base = ask("Describe the water cycle.");
    let caps = [json!({"max_tokens": 12}), json!({"max_tokens": 800}), json!({"max_completion_tokens": 800})];
    let calls = caps.map(|cap| call(&with(&base, cap)));
    all_differ(&calls);
    assert_eq!(calls[2].max_tokens, Some(MaxTokens(800)));
}

#[test]
fn k2_05_every_field_that_shapes_the_answer_is_in_the_scope() {
    let base = ask("Count to five.");
    let fields = [
        json!({}),
        json!({"n": 3}),
        json!({"seed": 7}),
        json!({"logprobs": true, "top_logprobs": 2}),
        json!({"stop": ["3"]}),
        json!({"presence_penalty": 1.5}),
        json!({"frequency_penalty": 1.5}),
        json!({"logit_bias": {"50": -100}}),
        json!({"top_p": 0.2}),
        json!({"reasoning_effort": "high"}),
        json!({"parallel_tool_calls": false}),
        json!({"modalities": ["text", "audio"]}),
    ];
    let calls = fields.map(|fields| call(&with(&base, fields)));
    all_differ(&calls);
    for at in [1, 2, 3, 11] {
        assert_eq!(calls[at].sharing, Sharing::ExactOnly(WhyNotShared::Parameters), "{:?}", calls[at].request.body);
    }
}

#[test]
fn k2_07_tool_turns_are_matched_as_a_whole() {
    let turns = |function: &str| {
        json!({"model": "m-chat", "temperature": 0, "messages": [
            {"role": "user", "content": "book both"},
            {"role": "assistant", "content": null,
             "tool_calls": [{"id": "c1", "type": "function", "function": {"name": function, "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"}]})
    };
    let calls = [call(&turns("book_hotel")), call(&turns("book_train"))];
    all_differ(&calls);
    assert_eq!(calls[0].sharing, Sharing::ExactOnly(WhyNotShared::Parameters));
    assert!(calls[0].question.contains("book_hotel"));
}

#[test]
fn k2_09_vendor_switches_and_fields_never_heard_of_are_in_the_scope() {
    let base = ask("17*23?");
    let fields = [
        json!({"chat_template_kwargs": {"enable_thinking": true}}),
        json!({"chat_template_kwargs": {"enable_thinking": false}}),
        json!({"guided_choice": ["391", "400"]}),
        json!({"brand_new_field_2031": "x"}),
    ];
    let calls = fields.map(|fields| call(&with(&base, fields)));
    all_differ(&calls);
    assert_eq!(calls[3].request.body, with(&base, json!({"brand_new_field_2031": "x"})).to_string());
}

#[test]
fn k2_11_the_form_of_the_json_is_not_in_the_scope() {
    let plain =
        raw(r#"{"model":"m-chat","temperature":0,"messages":[{"role":"user","content":"Name three rivers."}]}"#);
    let other = raw(
        "{ \"messages\" : [ {\"content\":\"Name three rivers.\",\"role\":\"user\"} ],\n \"temperature\":0.0, \"model\":\"m-chat\", \"stream\":false }",
    );
    assert_eq!((plain.scope, &plain.question), (other.scope, &other.question));
    let spaced =
        raw(r#"{"model":"m-chat","temperature":0,"messages":[{"role":"user","content":"Name  three rivers."}]}"#);
    assert_ne!(plain.question, spaced.question);
}

#[test]
fn noise_is_not_in_the_scope() {
    let plain = call(&ask("Hi"));
    let noisy = json!({"user": "u", "metadata": {"a": "1"}, "stream": true, "stream_options": {"include_usage": true},
                       "request_id": "r", "trace_id": "t", "timestamp": 1});
    let noisy = call(&with(&ask("Hi"), noisy));
    assert_eq!(plain.scope, noisy.scope);
    assert_eq!(noisy.mode, ReplyMode::Stream { include_usage: true });
}

#[test]
fn temperature_is_a_step_of_a_tenth_rounded_half_up() {
    let scope = |temperature: &str| {
        raw(&format!(r#"{{"model":"m","temperature":{temperature},"messages":[{{"role":"user","content":"x"}}]}}"#))
            .scope
    };
    for same in ["0.65", "0.66", "0.7", "0.70", "7e-1", "0.7499999"] {
        assert_eq!(scope("0.7"), scope(same), "{same}");
    }
    for (a, b) in
        [("0.7", "0.75"), ("0.7", "0.6499999"), ("0", "0.04"), ("0", "0.0001"), ("0", "0.05"), ("0.1", "0.04")]
    {
        assert_ne!(scope(a), scope(b), "{a} {b}");
    }
    assert_eq!(scope("0.0001"), scope("0.04"));
    let absent = raw(r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#).scope;
    assert!(["0", "1", "1.0"].iter().all(|given| scope(given) != absent));
    for half in (1..40).step_by(2) {
        let at_the_edge = format!("{}", f64::from(half) / 20.0);
        assert_eq!(scope(&at_the_edge), scope(&format!("{:.1}", f64::from(half + 1) / 20.0)), "{at_the_edge}");
    }
}

#[test]
fn one_stop_is_a_list_of_one() {
    let stop = |stop: Value| call(&with(&ask("x"), json!({"stop": stop}))).scope;
    assert_eq!(stop(json!("a")), stop(json!(["a"])));
    assert_ne!(stop(json!("a")), stop(json!(["a", "b"])));
}

#[test]
fn earlier_turns_are_in_the_scope_and_many_of_them_forbid_meaning() {
    let talk = |first: &str, turns: usize| {
        let mut messages = vec![json!({"role": "developer", "content": "Be brief."})];
        messages.extend(
            (0..turns).map(|n| json!({"role": if n % 2 == 0 { "user" } else { "assistant" }, "content": first})),
        );
        messages.push(json!({"role": "user", "content": "And now?"}));
        call(&json!({"model": "m", "messages": messages}))
    };
    assert_ne!(talk("a", 2).scope, talk("b", 2).scope);
    assert_ne!(talk("a", 1).scope, talk("a", 2).scope);
    assert_eq!(talk("a", 2).sharing, Sharing::ByMeaning);
    assert_eq!(talk("a", 3).sharing, Sharing::ExactOnly(WhyNotShared::LongHistory));
}

#[test]
fn k7_03_the_order_of_schema_properties_is_in_the_scope() {
    let schema = |properties: &str| {
        raw(&format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"judge"}}],"response_format":{{"type":"json_schema","json_schema":{{"name":"v","schema":{{"properties":{properties}}}}}}}}}"#
        ))
    };
    assert_ne!(schema(r#"{"verdict":{},"because":{}}"#).scope, schema(r#"{"because":{},"verdict":{}}"#).scope);
}

// === kind 11: tenants and headers ===

#[test]
fn k11_01_tenants_never_share_unless_told_to() {
    let tenant = |credential: &'static str| with_headers(&[("authorization", credential)]);
    assert_ne!(tenant("Bearer key-a").scope, tenant("Bearer key-b").scope);
    assert_eq!(tenant("Bearer key-a").scope, tenant("Bearer key-a").scope);
    assert_eq!(tenant("Bearer team-1").scope, tenant("bearer team-2").scope);
    assert_eq!(tenant("Bearer team-1").tenant, with_headers(&[("api-key", "team-2")]).tenant);
    assert_eq!(with_headers(&[]).tenant, crate::domain::Tenant::ANONYMOUS);
    let both = with_headers(&[("authorization", "Bearer key-a"), ("x-api-key", "other")]);
    assert_ne!(both.scope, tenant("Bearer key-a").scope);
    assert_ne!(with_headers(&[("api-key", "k")]).scope, with_headers(&[("x-api-key", "k")]).scope);
}

#[test]
fn tenants_of_two_keys_cannot_be_linked() {
    let headers = header_map(&[("authorization", "Bearer key-a")]);
    let [one, two] = [(); 2].map(|()| TenantRules::new(TenantKey::random(), &TenantConfig::default()));
    assert_ne!(one.tenant(&headers), two.tenant(&headers));
    assert!(!format!("{:?}", rules().tenants).contains("team-1"));
}

#[test]
fn k11_09_headers_that_go_upstream_are_in_the_scope() {
    let plain = with_headers(&[]);
    for header in [
        ("accept-language", "fr"),
        ("x-model-override", "m-cheap"),
        ("openai-organization", "org-x"),
        ("anthropic-beta", "tools-1"),
        ("x-never-heard-of", ""),
    ] {
        assert_ne!(with_headers(&[header]).scope, plain.scope, "{header:?}");
    }
    let no_store = with_headers(&[("cache-control", "no-store")]);
    assert_eq!(no_store.sharing, Sharing::Never(WhyNotShared::NoStore));
    assert!(no_store.cache.no_store);
}

#[test]
fn k11_09_a_header_outside_the_scope_is_stripped_or_known_to_change_nothing() {
    let plain = with_headers(&[]);
    for (header, goes_upstream) in [
        (("user-agent", "OpenAI/Python"), true),
        (("x-stainless-lang", "python"), true),
        (("traceparent", "00-1-2-01"), true),
        (("x-request-id", "1"), true),
        (("idempotency-key", "1"), true),
        (("content-type", "application/json"), true),
        (("accept", "*/*"), true),
        (("accept-encoding", "gzip, br"), false),
        (("host", "g"), false),
        (("content-length", "9"), false),
        (("transfer-encoding", "chunked"), false),
        (("x-forwarded-for", "10.0.0.1"), false),
        (("x-weir-share", "exact"), false),
        (("x-request-timeout", "5"), false),
    ] {
        let call = with_headers(&[header]);
        assert_eq!(call.scope, plain.scope, "{header:?}");
        let forwarded = call.request.headers.iter().any(|(name, _)| name == header.0);
        assert_eq!(forwarded, goes_upstream, "{header:?}");
    }
    let hop = with_headers(&[("connection", "close, X-Hop"), ("x-hop", "1")]);
    assert_eq!((hop.scope, hop.request.headers.len()), (plain.scope, 0));
}

#[test]
fn the_order_of_headers_of_other_names_is_not_in_the_scope() {
    let one = with_headers(&[("x-a", "1"), ("x-b", "2")]);
    let other = with_headers(&[("x-b", "2"), ("x-a", "1")]);
    assert_eq!(one.scope, other.scope);
    assert_ne!(one.scope, with_headers(&[("x-a", "2"), ("x-b", "1")]).scope);
}

#[test]
fn callers_say_how_they_want_to_share_and_wait() {
    let sharing = |value: &'static str| with_headers(&[("x-weir-share", value)]).sharing;
    assert_eq!(sharing("never"), Sharing::Never(WhyNotShared::Forced));
    assert_eq!(sharing("exact"), Sharing::ExactOnly(WhyNotShared::Forced));
    let odd = send(Route::Chat, &[("x-weir-share", "maybe")], ask("x").to_string().as_bytes()).unwrap_err();
    assert!(matches!(odd, Refusal::Invalid { field: Some(field), .. } if field == "x-weir-share"));
    let cache = |value: &'static str| with_headers(&[("cache-control", value)]).cache;
    let all = CacheDirectives {
        no_store: false,
        no_cache: true,
        only_if_cached: true,
        max_age: Some(Duration::from_mins(1)),
    };
    assert_eq!(cache("No-Cache, only-if-cached,max-age=\"60\", x"), all);
    assert_eq!(cache("max-age=soon").max_age, Some(Duration::ZERO));
    assert!(with_headers(&[("pragma", "no-cache")]).cache.no_cache);
    let patience = |value: &'static str| with_headers(&[("x-request-timeout", value)]).patience;
    assert_eq!(patience("1.5"), Some(Duration::from_millis(1500)));
    assert_eq!([patience("-1"), patience("inf"), patience("soon"), patience("0")], [None; 4]);
}

#[test]
fn the_task_is_in_the_scope_and_must_exist() {
    assert_ne!(with_headers(&[("x-task-type", "code")]).scope, with_headers(&[]).scope);
    match send(Route::Chat, &[("x-task-type", "cook")], ask("x").to_string().as_bytes()) {
        Err(Refusal::Invalid { field: Some(field), message }) => {
            assert_eq!(field, "x-task-type");
            assert!(message.contains("qa, code"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sampled_call_shares_as_its_task_allows() {
    let sampled = with(&ask("x"), json!({"temperature": 0.7}));
    assert_eq!(call(&sampled).sharing, Sharing::ByMeaning);
    let code = send(Route::Chat, &[("x-task-type", "code")], sampled.to_string().as_bytes()).unwrap();
    assert_eq!(code.sharing, Sharing::ExactOnly(WhyNotShared::Sampled));
    let certain = send(Route::Chat, &[("x-task-type", "code")], ask("x").to_string().as_bytes()).unwrap();
    assert_eq!(certain.sharing, Sharing::ByMeaning);
}

// === kind 7: the protocol ===

#[test]
fn k7_01_what_openai_servers_accept_is_accepted_and_forwarded_as_it_is() {
    let bodies = [
        json!({"model": "m-chat", "temperature": 0, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi "}, {"type": "text", "text": "there"}]}]}),
        json!({"model": "m-chat", "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}),
        json!({"model": "m-chat", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{ \"a\" : 1.0 }"}}]}, {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "ok"}]}]}),
        json!({"model": "m-chat", "messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]}]}),
    ];
    let calls = bodies.clone().map(|body| call(&body));
    for (call, body) in calls.iter().zip(&bodies) {
        assert_eq!(call.request.body, body.to_string());
    }
    assert_eq!(&*calls[0].question, "Hi \nthere");
    assert_eq!(calls[1].sharing, Sharing::ByMeaning);
    assert_eq!(calls[2].sharing, Sharing::ExactOnly(WhyNotShared::Parameters));
    assert_eq!(calls[3].sharing, Sharing::ExactOnly(WhyNotShared::Parameters));
}

#[test]
fn one_plain_part_is_a_string_and_several_are_not() {
    let content = |content: Value| call(&json!({"model": "m", "messages": [{"role": "user", "content": content}]}));
    let plain = content(json!("Hi there"));
    let part = content(json!([{"type": "text", "text": "Hi there"}]));
    assert_eq!((plain.scope, &plain.question), (part.scope, &part.question));
    let marked = content(json!([{"type": "text", "text": "Hi there", "cache_control": {"type": "ephemeral"}}]));
    let two = content(json!([{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}]));
    all_differ(&[plain, marked, two]);
    let image = |url: &str| {
        content(json!([{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": url}}]))
    };
    assert_ne!(image("a").scope, image("b").scope);
    assert_eq!(image("a").sharing, Sharing::ExactOnly(WhyNotShared::Parameters));
}

#[test]
fn without_a_last_user_text_the_whole_must_be_equal() {
    for (last, other) in [
        (
            json!({"role": "assistant", "content": "The answer is"}),
            json!({"role": "assistant", "content": "the answer is"}),
        ),
        (json!({"role": "user", "content": " "}), json!({"role": "user", "content": ""})),
        (json!({"role": "system", "content": "a"}), json!({"role": "system", "content": "b"})),
    ] {
        let [one, two] = [last, other].map(|last| call(&json!({"model": "m", "messages": [last]})));
        assert_ne!(one.scope, two.scope);
        assert_eq!(one.sharing, Sharing::ExactOnly(WhyNotShared::NoQuestion));
    }
}

#[test]
fn k7_05_a_repeated_key_is_refused_before_anything_else() {
    for (body, field) in [
        (r#"{"model":"m-chat","model":"m-forbidden","messages":[{"role":"user","content":"hi"}]}"#, "model"),
        (r#"{"model":"m-chat","stream":false,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#, "stream"),
        (
            r#"{"model":"m-chat","messages":[{"role":"user","content":"safe","content":"other"}]}"#,
            "messages[0].content",
        ),
    ] {
        assert_eq!(refused_field(Route::Chat, body).0, field, "{body}");
    }
}

#[test]
fn a_wrong_field_is_refused_by_its_name() {
    let user = r#""messages":[{"role":"user","content":"hi"}]"#;
    for (route, body, field) in [
        (Route::Chat, String::new(), ""),
        (Route::Chat, "[]".to_owned(), ""),
        (Route::Chat, "{".to_owned(), ""),
        (Route::Chat, format!("{{{user}}}"), "model"),
        (Route::Chat, format!(r#"{{"model":7,{user}}}"#), "model"),
        (Route::Chat, format!(r#"{{"model":"",{user}}}"#), "model"),
        (Route::Chat, r#"{"model":"m"}"#.to_owned(), "messages"),
        (Route::Chat, r#"{"model":"m","messages":[]}"#.to_owned(), "messages"),
        (Route::Chat, r#"{"model":"m","messages":"hi"}"#.to_owned(), "messages"),
        (Route::Chat, r#"{"model":"m","messages":["hi"]}"#.to_owned(), "messages[0]"),
        (
            Route::Chat,
            r#"{"model":"m","messages":[{"role":"user","content":"a"},{"content":"b"}]}"#.to_owned(),
            "messages[1].role",
        ),
        (Route::Chat, r#"{"model":"m","messages":[{"role":1,"content":"a"}]}"#.to_owned(), "messages[0].role"),
        (Route::Chat, r#"{"model":"m","messages":[{"role":"user","content":1}]}"#.to_owned(), "messages[0].content"),
        (
            Route::Chat,
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}"#.to_owned(),
            "messages[0].content[0].text",
        ),
        (
            Route::Chat,
            r#"{"model":"m","messages":[{"role":"user","content":["a"]}]}"#.to_owned(),
            "messages[0].content[0]",
        ),
        (Route::Chat, format!(r#"{{"model":"m",{user},"stream":"yes"}}"#), "stream"),
        (
            Route::Chat,
            format!(r#"{{"model":"m",{user},"stream":true,"stream_options":{{"include_usage":1}}}}"#),
            "stream_options.include_usage",
        ),
        (Route::Chat, format!(r#"{{"model":"m",{user},"temperature":"hot"}}"#), "temperature"),
        (Route::Chat, format!(r#"{{"model":"m",{user},"max_tokens":1.5}}"#), "max_tokens"),
        (Route::Chat, format!(r#"{{"model":"m",{user},"n":"2"}}"#), "n"),
        (Route::Chat, format!(r#"{{"model":"m",{user},"stop":[1]}}"#), "stop[0]"),
        (Route::Chat, format!(r#"{{"model":"m",{user},"tools":{{}}}}"#), "tools"),
        (Route::Completions, r#"{"model":"m"}"#.to_owned(), "prompt"),
        (Route::Completions, r#"{"model":"m","prompt":7}"#.to_owned(), "prompt"),
        (Route::Embeddings, r#"{"model":"m"}"#.to_owned(), "input"),
        (Route::Embeddings, r#"{"model":"m","input":[]}"#.to_owned(), "input"),
        (Route::Embeddings, r#"{"model":"m","input":["a",null]}"#.to_owned(), "input[1]"),
    ] {
        assert_eq!(refused_field(route, &body).0, field, "{body}");
    }
}

#[test]
fn k7_07_a_compressed_body_is_refused_and_a_plain_one_is_not() {
    let body = ask("x").to_string();
    for coding in ["gzip", "br", "identity, gzip", "rot13"] {
        let refusal = send(Route::Chat, &[("content-encoding", coding)], body.as_bytes()).unwrap_err();
        assert_eq!(refusal, Refusal::UnsupportedEncoding, "{coding}");
    }
    assert!(send(Route::Chat, &[("content-encoding", "Identity")], body.as_bytes()).is_ok());
}

#[test]
fn k7_11_either_name_of_the_cap_counts_and_the_newer_wins() {
    let cap = |fields: Value| call(&with(&ask("hi"), fields)).max_tokens;
    assert_eq!(cap(json!({"max_completion_tokens": 5})), Some(MaxTokens(5)));
    assert_eq!(cap(json!({"max_tokens": 5})), Some(MaxTokens(5)));
    assert_eq!(cap(json!({"max_tokens": 5, "max_completion_tokens": 9})), Some(MaxTokens(9)));
    assert_eq!(cap(json!({"max_tokens": null})), None);
    assert_eq!(cap(json!({"max_tokens": -1})), None);
    assert_eq!(cap(json!({"max_tokens": 5_000_000_000_u64})), Some(MaxTokens(u32::MAX)));
}

#[test]
fn control_characters_are_text() {
    assert_eq!(&*call(&ask("a\u{0}b\u{1b}c")).question, "a\u{0}b\u{1b}c");
}

// === the other surfaces ===

#[test]
fn a_prompt_is_the_question_of_a_completion() {
    let complete = |body: Value| send(Route::Completions, &[], body.to_string().as_bytes()).unwrap();
    let [one, two] = ["Say A", "Say B"].map(|prompt| complete(json!({"model": "m", "prompt": prompt})));
    assert_eq!((one.scope, one.sharing), (two.scope, Sharing::ByMeaning));
    assert_eq!(&*one.question, "Say A");
    let [one, two] = [json!(["Say A"]), json!([1, 2])].map(|prompt| complete(json!({"model": "m", "prompt": prompt})));
    assert_ne!(one.scope, two.scope);
    assert_eq!(one.sharing, Sharing::ExactOnly(WhyNotShared::NoQuestion));
    let [one, two] = ["a", "b"].map(|prompt| complete(json!({"model": "m", "prompt": prompt, "echo": true})));
    assert_ne!(one.scope, two.scope, "an echoed prompt must be one's own");
}

#[test]
fn embedded_texts_are_compared_letter_for_letter() {
    let embed = |input: Value| {
        send(Route::Embeddings, &[], json!({"model": "m", "input": input}).to_string().as_bytes()).unwrap()
    };
    let [one, two] = ["Apple", "apple"].map(|input| embed(json!(input)));
    assert_ne!(one.scope, two.scope);
    assert_eq!(&*one.question, "Apple");
    let [one, two] = [json!(["a", "b"]), json!(["b", "a"])].map(embed);
    assert_ne!(one.scope, two.scope);
    assert_eq!(one.sharing, Sharing::ExactOnly(WhyNotShared::NoQuestion));
}

#[test]
fn the_founding_form_becomes_a_chat_completion() {
    let body = br#"{"model":"m","prompt":"Sort \"this\"","temperature":0.20,"max_tokens":64,"stream":true}"#;
    let call = send(Route::Ai, &[("x-task-type", "qa")], body).unwrap();
    assert_eq!(call.task.as_str(), "code", "the path wins");
    assert_eq!(&*call.question, "Sort \"this\"");
    assert_eq!(call.request.path_and_query, "/v1/chat/completions");
    assert_eq!(
        call.request.body,
        r#"{"model":"m","messages":[{"role":"user","content":"Sort \"this\""}],"temperature":0.20,"max_tokens":64,"stream":true,"stream_options":{"include_usage":true}}"#
    );
    assert_eq!(call.mode, ReplyMode::Stream { include_usage: true });
    for (body, field) in [
        (r#"{"model":"m","prompt":"x","top_p":1}"#, "top_p"),
        (r#"{"model":"m","prompt":""}"#, "prompt"),
        (r#"{"prompt":"x"}"#, "model"),
        (r#"{"model":"m","prompt":"x","prompt":"y"}"#, "prompt"),
        (r#"{"model":"m","prompt":"x","max_tokens":"9"}"#, "max_tokens"),
    ] {
        assert_eq!(refused_field(Route::Ai, body).0, field, "{body}");
    }
}

#[test]
fn a_founding_path_of_an_unknown_task_names_the_path() {
    let headers = HeaderMap::new();
    let body = Bytes::from_static(br#"{"model":"m","prompt":"x"}"#);
    let incoming =
        Incoming { route: Route::Ai, method: "POST", path_and_query: "/api/ai/cook", headers: &headers, body };
    let refusal = decode(incoming, &rules()).unwrap_err();
    assert!(matches!(refusal, Refusal::Invalid { field: Some(field), .. } if field == PATH_FIELD));
}

#[test]
fn other_paths_pass_as_they_are() {
    let headers =
        [("accept-encoding", "gzip"), ("content-encoding", "gzip"), ("connection", "close"), ("x-task-type", "cook")];
    let call = send(Route::Other, &headers, b"\x1f\x8b not json").unwrap();
    assert_eq!(call.sharing, Sharing::Never(WhyNotShared::NoQuestion));
    assert_eq!(call.request.body, &b"\x1f\x8b not json"[..]);
    assert_eq!(call.request.path_and_query, "/v1/models?x=1");
    let names: Vec<&str> = call.request.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["accept-encoding", "content-encoding", "x-task-type"]);
}

/// Fields that mean something, with values that often do not.
fn any_fields() -> impl Strategy<Value = Vec<(String, Value)>> {
    let names = [
        "model",
        "messages",
        "prompt",
        "input",
        "temperature",
        "stop",
        "n",
        "seed",
        "stream",
        "stream_options",
        "tools",
        "max_tokens",
        "logprobs",
        "echo",
        "user",
        "response_format",
        "x",
    ];
    let content = prop_oneof![
        Just(json!("Hi")),
        Just(Value::Null),
        Just(json!([{"type": "text", "text": "Hi"}])),
        Just(json!([{"type": "image_url", "image_url": {"url": "a"}}, {"type": "text", "text": ""}])),
    ];
    let message = (prop::sample::select(vec!["system", "user", "assistant", "tool"]), content)
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        (0.0..2.0_f64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        prop::collection::vec(message, 0..4).prop_map(Value::from),
        Just(json!({"b": 1, "a": [0.0]})),
    ];
    prop::collection::vec((prop::sample::select(names.to_vec()), value), 0..6).prop_map(|fields| {
        let base =
            [("model", json!("m")), ("messages", json!([{"role": "user", "content": "Hi"}])), ("prompt", json!("Hi"))];
        let mut seen = std::collections::HashSet::new();
        let all = fields.into_iter().chain(base).filter(|(name, _)| seen.insert(*name));
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

proptest! {
    #[test]
    fn calls_that_differ_beside_the_question_never_share(
        [a, b] in prop::array::uniform2((0..3_u8, 0..3_u8, 0..3_u8, "[ab]{0,2}", "[ab]{0,2}")),
        question in "[a-z]{1,8}",
    ) {
        let made = |(model, top_p, turns, system, turn): &(u8, u8, u8, String, String)| {
            let mut messages = vec![json!({"role": "system", "content": system})];
            messages.extend((0..*turns).map(|_| json!({"role": "user", "content": turn})));
            messages.push(json!({"role": "user", "content": question}));
            call(&json!({"model": format!("m{model}"), "top_p": f64::from(*top_p) / 2.0, "messages": messages}))
        };
        let same = a == b || (a.2 == 0 && b.2 == 0 && (a.0, a.1, &a.3) == (b.0, b.1, &b.3));
        prop_assert_eq!(made(&a).scope == made(&b).scope, same);
    }

    #[test]
    fn the_form_of_a_body_never_matters(fields in any_fields(), route in prop::sample::select(&Route::ALL[..4])) {
        let reversed: Value = fields.iter().rev().map(|(key, value)| (key.clone(), value.clone())).collect();
        let forward: Value = fields.into_iter().collect();
        let plain = send(route, &[], forward.to_string().as_bytes());
        let other = send(route, &[], serde_json::to_string_pretty(&reversed).unwrap().as_bytes());
        match (plain, other) {
            (Ok(plain), Ok(other)) => {
                prop_assert_eq!((plain.scope, plain.question), (other.scope, other.question));
                prop_assert_eq!((plain.sharing, plain.mode), (other.sharing, other.mode));
            }
            (plain, other) => prop_assert!(plain.is_err() && other.is_err()),
        }
    }

    #[test]
    fn no_bytes_whatever_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for route in Route::ALL {
            let _ = send(route, &[], &bytes);
        }
    }
}
