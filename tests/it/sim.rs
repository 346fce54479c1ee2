//! The simulated server over real connections: what it promises to everybody who tests against it.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use weir::sim::{Ask, Fault, Sim, SimConfig, SimHandle, Surface, Tag};

type Wire = Client<HttpConnector, Full<Bytes>>;

fn client() -> Wire {
    Client::builder(TokioExecutor::new()).build_http()
}

fn chat(question: &str) -> Value {
    json!({"model": "m", "temperature": 0, "messages": [{"role": "user", "content": question}]})
}

fn streamed(question: &str) -> Value {
    let mut body = chat(question);
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    body
}

fn post(sim: &SimHandle, path: &str, fault: Option<&str>, body: &Value) -> Request<Full<Bytes>> {
    let mut request = Request::post(format!("{}{path}", sim.url())).header("content-type", "application/json");
    if let Some(fault) = fault {
        request = request.header("x-sim-fault", fault);
    }
    request.body(Full::from(body.to_string())).unwrap()
}

async fn ask(sim: &SimHandle, fault: Option<&str>, body: &Value) -> (StatusCode, Bytes) {
    let reply = client().request(post(sim, "/v1/chat/completions", fault, body)).await.unwrap();
    let status = reply.status();
    (status, reply.into_body().collect().await.unwrap().to_bytes())
}

async fn text(sim: &SimHandle, question: &str) -> String {
    let (status, body) = ask(sim, None, &chat(question)).await;
    assert_eq!(status, StatusCode::OK);
    let answer: Value = serde_json::from_slice(&body).unwrap();
    answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

fn events(body: &[u8]) -> Vec<Value> {
    std::str::from_utf8(body)
        .unwrap()
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

async fn instant() -> SimHandle {
    Sim::start(SimConfig::instant()).await.unwrap()
}

#[tokio::test]
async fn an_answer_names_the_prompt_that_made_it_and_differs_every_time() {
    let sim = instant().await;
    let (first, second) = (text(&sim, "什么是退货政策?").await, text(&sim, "什么是退货政策?").await);
    let prompt = Ask::read(Surface::Chat, chat("什么是退货政策?").to_string().as_bytes()).unwrap().digest();
    let (one, two) = (Tag::find(&first).unwrap(), Tag::find(&second).unwrap());
    assert!(first.starts_with(&one.to_string()));
    assert_eq!((one.prompt, two.prompt), (prompt, prompt));
    assert_ne!(first, second);
    assert_ne!(one.call, two.call);
}

#[tokio::test]
async fn a_stream_is_shaped_as_vllm_shapes_it() {
    let sim = instant().await;
    let (_, body) = ask(&sim, None, &streamed("hello")).await;
    assert!(body.ends_with(b"data: [DONE]\n\n"));
    let chunks = events(&body);
    assert_eq!(chunks[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    let (usage, rest) = chunks.split_last().unwrap();
    let (finish, tokens) = rest[1..].split_last().unwrap();
    assert!(Tag::find(tokens[0]["choices"][0]["delta"]["content"].as_str().unwrap()).is_some());
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], tokens.len());
    assert_eq!(sim.stats().generation_tokens, tokens.len() as u64);
}

#[tokio::test]
async fn max_tokens_cuts_an_answer_and_says_so() {
    let sim = instant().await;
    let mut body = chat("hello");
    body["max_tokens"] = json!(2);
    let answer: Value = serde_json::from_slice(&ask(&sim, None, &body).await.1).unwrap();
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    assert_eq!(answer["usage"]["completion_tokens"], 2);
}

#[tokio::test]
async fn requests_above_the_slots_wait_and_the_metrics_page_says_so() {
    let sim = Sim::start(SimConfig { slots: 2, ..SimConfig::instant() }).await.unwrap();
    sim.hold_after(0);
    let callers: Vec<_> = (0..5)
        .map(|caller| {
            let sim = sim.clone();
            tokio::spawn(async move { text(&sim, &format!("question {caller}")).await })
        })
        .collect();
    sim.until(|stats| stats.running == 2 && stats.waiting == 3).await;
    let page = client().get(format!("{}/metrics", sim.url()).parse().unwrap()).await.unwrap();
    let page = String::from_utf8(page.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
    assert!(page.contains("vllm:num_requests_running{model_name=\"sim-model\"} 2\n"), "{page}");
    assert!(page.contains("vllm:num_requests_waiting{model_name=\"sim-model\"} 3\n"), "{page}");
    sim.release();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!((sim.stats().completed, sim.stats().running, sim.stats().peak_running), (5, 0, 2));
}

#[tokio::test]
async fn a_caller_who_leaves_gives_the_slot_back() {
    let sim = Sim::start(SimConfig { slots: 1, ..SimConfig::instant() }).await.unwrap();
    sim.hold_after(2);
    let mut reply = client().request(post(&sim, "/v1/chat/completions", None, &streamed("hello"))).await.unwrap();
    assert!(reply.body_mut().frame().await.unwrap().is_ok());
    assert_eq!(sim.stats().running, 1);
    drop(reply);
    sim.until(|stats| stats.running == 0).await;
    assert_eq!(sim.stats().aborted, 1);
}

#[tokio::test]
async fn time_by_tokens_is_slot_time() {
    let decode = Duration::from_millis(2);
    let config = SimConfig { decode, output_tokens: 20..=20, ..SimConfig::instant() };
    let sim = Sim::start(config).await.unwrap();
    text(&sim, "hello").await;
    assert!(sim.stats().slot_seconds >= 0.04, "{:?}", sim.stats());
}

#[tokio::test]
async fn status_faults_come_from_the_request_or_from_the_queue() {
    let sim = instant().await;
    let reply = client().request(post(&sim, "/v1/chat/completions", Some("429=7"), &chat("a"))).await.unwrap();
    assert_eq!(
        (reply.status(), &reply.headers()["retry-after"]),
        (StatusCode::TOO_MANY_REQUESTS, &"7".parse().unwrap())
    );

    let order = json!({"faults": ["500", "503"], "times": 1});
    client().request(post(&sim, "/sim/faults", None, &order)).await.unwrap();
    assert_eq!(ask(&sim, None, &chat("a")).await.0, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(ask(&sim, None, &chat("a")).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ask(&sim, None, &chat("a")).await.0, StatusCode::OK);
    assert_eq!((sim.stats().calls, sim.stats().faulted), (4, 3));
}

#[tokio::test]
async fn a_word_that_is_no_fault_is_refused() {
    let sim = instant().await;
    assert_eq!(ask(&sim, Some("explode"), &chat("a")).await.0, StatusCode::BAD_REQUEST);
    let reply = client().request(post(&sim, "/sim/faults", None, &json!({"faults": ["explode"]}))).await.unwrap();
    assert_eq!(reply.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_refused_or_reset_connection_brings_no_byte_of_answer() {
    let sim = instant().await;
    for fault in ["refuse", "rst"] {
        let reply = client().request(post(&sim, "/v1/chat/completions", Some(fault), &chat("a"))).await;
        assert!(reply.is_err(), "{fault}");
    }
}

#[tokio::test]
async fn a_broken_stream_breaks_after_real_tokens() {
    let sim = instant().await;
    for fault in ["cut=3", "rst-mid=3"] {
        let request = post(&sim, "/v1/chat/completions", Some(fault), &streamed("a"));
        let mut body = client().request(request).await.unwrap().into_body();
        let (mut seen, mut broken) = (Vec::new(), false);
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => seen.extend_from_slice(&frame.into_data().unwrap()),
                Err(_) => broken = true,
            }
        }
        assert!(broken, "{fault} ended well");
        // A reset may throw away what the peer had not read yet.
        if fault == "cut=3" {
            assert_eq!(events(&seen).len(), 4, "the role and three tokens");
        }
    }
    assert_eq!(sim.stats().aborted, 2);
}

#[tokio::test]
async fn a_cut_document_is_shorter_than_it_said() {
    let sim = instant().await;
    let reply = client().request(post(&sim, "/v1/chat/completions", Some("cut"), &chat("a"))).await.unwrap();
    assert!(reply.into_body().collect().await.is_err());
}

#[tokio::test]
async fn hanging_answers_hang_until_the_caller_leaves() {
    let sim = instant().await;
    let hanging = tokio::spawn(client().request(post(&sim, "/v1/chat/completions", Some("hang"), &chat("a"))));
    sim.until(|stats| stats.running == 1).await;
    hanging.abort();
    sim.until(|stats| stats.running == 0 && stats.aborted == 1).await;

    let request = post(&sim, "/v1/chat/completions", Some("hang-mid=1"), &streamed("a"));
    let mut reply = client().request(request).await.unwrap();
    assert!(reply.body_mut().frame().await.unwrap().is_ok());
    sim.until(|stats| stats.generation_tokens == 1).await;
    drop(reply);
    sim.until(|stats| stats.running == 0 && stats.aborted == 2).await;
}

#[tokio::test]
async fn incomplete_answers_look_as_they_do_in_the_wild() {
    let sim = instant().await;
    for (fault, finish) in [
        ("no-finish", Value::Null),
        ("finish=length", json!("length")),
        ("finish=content_filter", json!("content_filter")),
    ] {
        let answer: Value = serde_json::from_slice(&ask(&sim, Some(fault), &chat("a")).await.1).unwrap();
        assert_eq!(answer["choices"][0]["finish_reason"], finish, "{fault}");
        let chunks = events(&ask(&sim, Some(fault), &streamed("a")).await.1);
        assert_eq!(chunks[chunks.len() - 2]["choices"][0]["finish_reason"], finish, "{fault}");
    }
    let (status, body) = ask(&sim, Some("error-200"), &chat("a")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(serde_json::from_slice::<Value>(&body).unwrap()["error"].is_object());
    let answer: Value = serde_json::from_slice(&ask(&sim, Some("empty"), &chat("a")).await.1).unwrap();
    assert_eq!(answer["choices"][0]["message"]["content"], "");
}

#[tokio::test]
async fn slow_bytes_bring_the_same_answer_byte_by_byte() {
    let sim = instant().await;
    let (status, body) = ask(&sim, Some("slow-bytes=1us"), &chat("a")).await;
    assert_eq!(status, StatusCode::OK);
    assert!(serde_json::from_slice::<Value>(&body).is_ok());
}

#[tokio::test]
async fn raw_requests_are_kept_byte_for_byte() {
    let sim = Sim::start(SimConfig { keep: 2, ..SimConfig::instant() }).await.unwrap();
    let raw = "{ \"model\":\"m\",\t\"prompt\" : \"caf\\u00e9\" , \"unknown\":1.0}";
    for n in 0..3 {
        let request = Request::post(format!("{}/v1/completions?n={n}", sim.url())).header("x-one", "1");
        client().request(request.body(Full::from(raw)).unwrap()).await.unwrap();
    }
    let recorded = sim.recorded();
    assert_eq!(recorded.len(), 2);
    assert_eq!(recorded[1].body, raw);
    assert_eq!(recorded[1].path_and_query, "/v1/completions?n=2");
    assert_eq!(recorded[1].header("x-one"), Some("1"));
}

#[tokio::test]
async fn an_embedding_depends_on_its_text_alone() {
    let sim = instant().await;
    let body = json!({"model": "e", "input": ["one", "two", "one"]});
    let reply = client().request(post(&sim, "/v1/embeddings", None, &body)).await.unwrap();
    let answer: Value = serde_json::from_slice(&reply.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let vector = |index: usize| answer["data"][index]["embedding"].clone();
    assert_eq!(vector(0), vector(2));
    assert_ne!(vector(0), vector(1));
    assert_eq!(vector(0).as_array().unwrap().len(), 64);
}

#[tokio::test]
async fn malformed_requests_and_wrong_keys_cost_no_inference() {
    let sim = Sim::start(SimConfig { api_key: Some("sesame".into()), ..SimConfig::instant() }).await.unwrap();
    assert_eq!(ask(&sim, None, &chat("a")).await.0, StatusCode::UNAUTHORIZED);
    let request = Request::post(format!("{}/v1/chat/completions", sim.url())).header("authorization", "Bearer sesame");
    let reply = client().request(request.body(Full::from("{")).unwrap()).await.unwrap();
    assert_eq!(reply.status(), StatusCode::BAD_REQUEST);
    assert_eq!((sim.stats().calls, sim.stats().completed, sim.stats().prompt_tokens), (2, 0, 0));
}

#[tokio::test]
async fn a_reset_forgets_the_figures_but_never_repeats_an_answer() {
    let sim = instant().await;
    let before = text(&sim, "hello").await;
    sim.queue_faults([Fault::Refuse]);
    sim.reset();
    assert_eq!((sim.calls(), sim.recorded().len()), (0, 0));
    assert_ne!(text(&sim, "hello").await, before);
}
