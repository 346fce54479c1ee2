//! One inference for many callers, each in its own mode.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use weir::sim::{Sim, SimConfig};

use super::reading::{Events, Reply};
use super::support::{Gateway, Setting, ask, ask_streaming, instant};

#[tokio::test]
async fn fifty_identical_calls_at_once_are_one_inference() {
    let sim = Sim::start(SimConfig::taking(Duration::from_millis(300))).await.unwrap();
    let gateway = Gateway::before(&sim, Setting { model: true, ..Setting::default() }).await;
    let body = ask("How many moons does Mars have?");
    let replies = join_all((0..50).map(|_| gateway.chat(&body))).await;
    assert_eq!(sim.calls(), 1);
    assert!(replies.iter().all(|reply| reply.body == replies[0].body && !reply.said().is_empty()));
    gateway.until_quiet().await;
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("weir_requests_total", &[("outcome", "ok")]), 50.0);
    assert_eq!(metrics.sum("weir_upstream_inferences_total", &[]), 1.0);
    assert_eq!(metrics.sum("weir_shared_total", &[("tier", "exact")]), 49.0);
}

#[tokio::test]
async fn fifty_identical_streams_fan_out_while_the_one_inference_still_runs() {
    let sim = Sim::start(SimConfig::taking(Duration::from_millis(300))).await.unwrap();
    let gateway = Gateway::before(&sim, Setting { model: true, ..Setting::default() }).await;
    sim.hold_after(2);
    let mut streams = join_all((0..50).map(|_| gateway.stream("How many moons does Mars have?"))).await;
    let first_words = join_all(streams.iter_mut().map(Events::word)).await;
    assert_eq!(
        (sim.calls(), sim.stats().completed),
        (1, 0),
        "every caller has a word of an answer that is not finished"
    );
    sim.release();
    let rests = join_all(streams.iter_mut().map(Events::rest)).await;
    let said: Vec<_> = first_words.into_iter().zip(rests).map(|(word, rest)| word.expect("a word") + &rest).collect();
    assert!(!said[0].is_empty());
    assert!(said.iter().all(|other| *other == said[0]));
    assert_eq!(sim.calls(), 1);
}

#[tokio::test]
async fn a_stored_answer_is_told_in_the_callers_own_mode() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::default()).await;
    for (first, then) in [(ask("Who wrote Faust?"), ask_streaming("Who wrote Faust?")), {
        let question = "Who painted the Mona Lisa?";
        (ask_streaming(question), ask(question))
    }] {
        let miss = gateway.chat(&first).await;
        let hit = gateway.chat(&then).await;
        assert_eq!((miss.header("x-weir-source"), hit.header("x-weir-source")), ("upstream", "cache"));
        assert_eq!(hit.said(), miss.said());
        for (body, reply) in [(&first, &miss), (&then, &hit)] {
            let streamed = body["stream"] == json!(true);
            let kind = if streamed { "text/event-stream" } else { "application/json" };
            assert!(reply.header("content-type").starts_with(kind), "{reply:?}");
            assert_eq!(streamed, reply.text().ends_with("data: [DONE]\n\n"));
        }
    }
    assert_eq!(sim.calls(), 2);
}

#[tokio::test]
async fn a_caller_who_did_not_ask_for_the_usage_of_a_stream_does_not_see_it() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::default()).await;
    let silent = ask_streaming("Who wrote Faust?");
    let mut asking = silent.clone();
    asking["stream_options"] = json!({"include_usage": true});
    for turn in ["live", "stored"] {
        assert!(!gateway.chat(&silent).await.text().contains("prompt_tokens"), "{turn}");
        assert!(gateway.chat(&asking).await.text().contains("prompt_tokens"), "{turn}");
    }
}

fn founding_text(reply: &Reply) -> String {
    let events = reply.text();
    let data = events.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str::<Value>(data).ok()?["text"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn the_founding_path_answers_as_a_document_and_as_a_stream() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::default()).await;
    let body = json!({"model": "m", "prompt": "概括一下这篇文章", "temperature": 0, "max_tokens": 50});
    let reply = gateway.post("/api/ai/summarization", &[], body.to_string()).await;
    let document = reply.json();
    assert_eq!((reply.header("x-weir-task"), &document["source"]), ("summarization", &json!("upstream")));
    assert!(document["usage"]["total_tokens"].as_u64() > Some(0), "{document}");

    let mut streaming = body;
    streaming["stream"] = json!(true);
    let streamed = gateway.post("/api/ai/summarization", &[], streaming.to_string()).await;
    assert_eq!(founding_text(&streamed), document["text"].as_str().unwrap());
    assert!(streamed.text().contains(r#""source":"cache""#) && streamed.text().contains("total_tokens"));
    assert_eq!(sim.calls(), 1);
    assert!(sim.recorded().iter().any(|request| request.path_and_query == "/v1/chat/completions"));
}

#[tokio::test]
async fn the_task_is_what_the_caller_says_else_a_rule_else_the_prompts_words() {
    let rule = "[[rules]]\nmodel = \"coder-*\"\ntask = \"code\"\n[tasks.support]\nlexical = 0.9\n";
    let gateway = Gateway::before(&instant().await, Setting::with(rule)).await;
    let task = async |headers: &[(&str, &str)], model: &str, question: &str| {
        let mut body = ask(question);
        body["model"] = json!(model);
        let reply = gateway.chat_with(headers, &body).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.header("x-weir-task").to_owned()
    };
    assert_eq!(task(&[("x-task-type", "support")], "coder-7b", "翻译成英文：你好").await, "support");
    assert_eq!(task(&[], "coder-7b", "翻译成英文：你好").await, "code");
    assert_eq!(task(&[], "m", "翻译成英文：你好").await, "translation");
    assert_eq!(task(&[], "m", "Hmm, Mars").await, "default");
    let unknown = gateway.chat_with(&[("x-task-type", "astrology")], &ask("Hmm, Mars")).await;
    assert_eq!(unknown.status, 400);
    assert!(unknown.text().contains("x-task-type"), "{unknown:?}");
}
