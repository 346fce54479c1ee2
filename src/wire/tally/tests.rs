//! What may be stored, and what never.

use super::*;

const ONE: Expected = Expected { route: Route::Chat, items: 1 };

fn whole(expected: Expected, body: &str) -> Ending {
    let mut tally = Tally::new(expected, Form::Whole);
    tally.whole(body.as_bytes());
    tally.ending()
}

fn streamed(expected: Expected, payloads: &[&str]) -> Tally {
    let mut tally = Tally::new(expected, Form::Stream);
    for payload in payloads {
        tally.event(format!("data: {payload}\n\n").as_bytes());
    }
    tally
}

fn chat(finish: &str) -> String {
    format!(
        r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":"Hi"}},"finish_reason":{finish}}}]}}"#
    )
}

const ROLE: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"usage":null}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}"#;
const DONE: &str = "[DONE]";

#[test]
fn k6_01_only_natural_ends_are_stored() {
    for natural in [r#""stop""#, r#""tool_calls""#, r#""function_call""#] {
        assert_eq!(whole(ONE, &chat(natural)), Ending::Complete, "{natural}");
    }
    for (cut, flaw) in [
        (r#""length""#, Flaw::Length),
        (r#""content_filter""#, Flaw::ContentFilter),
        ("null", Flaw::Unfinished),
        (r#""abort""#, Flaw::OtherFinish),
    ] {
        assert_eq!(whole(ONE, &chat(cut)), Ending::Unshareable(flaw), "{cut}");
        let end = format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{cut}}}]}}"#);
        assert_ne!(streamed(ONE, &[ROLE, HI, &end, DONE]).ending(), Ending::Complete, "{cut}");
    }
}

#[test]
fn k6_03_a_stream_that_ended_early_is_never_whole() {
    assert_eq!(streamed(ONE, &[ROLE, HI, STOP, USAGE, DONE]).ending(), Ending::Complete);
    assert_eq!(streamed(ONE, &[ROLE, HI, HI, HI]).ending(), Ending::Broken(Flaw::Unfinished), "closed early");
    assert_eq!(streamed(ONE, &[ROLE, HI, DONE]).ending(), Ending::Broken(Flaw::Unfinished), "DONE without an end");
    assert_eq!(streamed(ONE, &[ROLE, HI, STOP]).ending(), Ending::Unshareable(Flaw::NoDone));
    assert_eq!(streamed(ONE, &[]).ending(), Ending::Broken(Flaw::Count));
    assert_eq!(
        streamed(ONE, &[ROLE, r#"{"choices":[{"index":0,"delta":{"con"#]).ending(),
        Ending::Unshareable(Flaw::Garbled)
    );
    assert_eq!(whole(ONE, &chat("\"stop\"")[..40]), Ending::Unshareable(Flaw::Garbled), "cut body");
}

#[test]
fn an_error_in_a_success_is_no_answer() {
    let error = r#"{"error":{"message":"CUDA out of memory","type":"server_error"}}"#;
    assert_eq!(whole(ONE, error), Ending::Unshareable(Flaw::ErrorObject));
    assert_eq!(whole(ONE, r#"{"object":"error","message":"no"}"#), Ending::Unshareable(Flaw::ErrorObject));
    assert_eq!(streamed(ONE, &[ROLE, HI, error, STOP, DONE]).ending(), Ending::Broken(Flaw::ErrorObject));
    assert!(streamed(ONE, &[ROLE, HI, error]).has_failed() && !streamed(ONE, &[ROLE, HI]).has_failed());
    assert_eq!(whole(ONE, &chat("\"stop\"").replacen('{', r#"{"error":null,"#, 1)), Ending::Complete);
}

#[test]
fn json_of_another_shape_is_delivered_but_not_stored() {
    for odd in ["[]", r#"{"choices":{"0":1}}"#, r#"{"choices":[{"index":"a"}]}"#] {
        assert_eq!(whole(ONE, odd), Ending::Unshareable(Flaw::Shape), "{odd}");
    }
    assert_eq!(whole(ONE, r#"{"detail":"ok"}"#), Ending::Unshareable(Flaw::Count));
    assert_eq!(whole(ONE, "<html>"), Ending::Unshareable(Flaw::Garbled));
}

#[test]
fn an_empty_choice_is_no_answer() {
    let empty = chat("\"stop\"").replace("\"Hi\"", "\"\"");
    assert_eq!(whole(ONE, &empty), Ending::Unshareable(Flaw::Empty));
    assert_eq!(streamed(ONE, &[ROLE, STOP, DONE]).ending(), Ending::Unshareable(Flaw::Empty));
    let only_thoughts = r#"{"choices":[{"index":0,"delta":{"reasoning_content":"Hm"},"finish_reason":"stop"}]}"#;
    assert_eq!(streamed(ONE, &[only_thoughts, DONE]).ending(), Ending::Unshareable(Flaw::Empty));
    let call =
        r#"{"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0}]},"finish_reason":"tool_calls"}]}"#;
    assert_eq!(streamed(ONE, &[call, DONE]).ending(), Ending::Complete);
}

#[test]
fn every_choice_that_was_asked_for_must_have_ended() {
    let two = Expected { items: 2, ..ONE };
    let second = r#"{"choices":[{"index":1,"delta":{"content":"Ho"},"finish_reason":"stop"}]}"#;
    assert_eq!(streamed(two, &[HI, STOP, second, DONE]).ending(), Ending::Complete);
    assert_eq!(streamed(two, &[HI, second, DONE]).ending(), Ending::Broken(Flaw::Unfinished));
    assert_eq!(streamed(two, &[HI, STOP, DONE]).ending(), Ending::Broken(Flaw::Count));
    assert_eq!(streamed(ONE, &[HI, STOP, second, DONE]).ending(), Ending::Unshareable(Flaw::Count));
}

#[test]
fn text_completions_and_embeddings_are_told_whole_from_cut() {
    let text = Expected { route: Route::Completions, items: 1 };
    let completion =
        r#"{"object":"text_completion","choices":[{"index":0,"text":"x","logprobs":null,"finish_reason":"stop"}]}"#;
    assert_eq!(whole(text, completion), Ending::Complete);
    assert_eq!(whole(text, &completion.replace("\"x\"", "\"\"")), Ending::Unshareable(Flaw::Empty));
    let two = Expected { route: Route::Embeddings, items: 2 };
    let list = r#"{"object":"list","data":[{"index":0,"embedding":[0.1]},{"index":1,"embedding":"AAA="}],"usage":{"prompt_tokens":3,"total_tokens":3}}"#;
    assert_eq!(whole(two, list), Ending::Complete);
    assert_eq!(whole(Expected { items: 3, ..two }, list), Ending::Unshareable(Flaw::Count));
    assert_eq!(whole(two, &list.replace("[0.1]", "[]")), Ending::Unshareable(Flaw::Count));
    assert_eq!(whole(two, &list.replace("list", "page")), Ending::Unshareable(Flaw::Count));
}

#[test]
fn usage_is_the_upstreams_word_or_one_token_a_delta() {
    let told = streamed(ONE, &[ROLE, HI, HI, STOP, USAGE, DONE]);
    assert_eq!(told.usage(), Some(Usage { prompt: 5, completion: 7 }));
    let without_choices = r#"{"id":"x","usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    assert_eq!(streamed(ONE, &[HI, STOP, without_choices, DONE]).usage().map(Usage::total), Some(3));
    let silent = streamed(ONE, &[ROLE, HI, HI, STOP, DONE]);
    assert_eq!(silent.usage(), None);
    assert_eq!(silent.usage_or_estimate(), Usage { prompt: 0, completion: 2 });
}

#[test]
fn what_a_request_expects_is_read_from_its_body() {
    for (route, body, items) in [
        (Route::Chat, r#"{"model":"m"}"#, 1),
        (Route::Chat, r#"{"n":3}"#, 3),
        (Route::Chat, r#"{"n":null}"#, 1),
        (Route::Completions, r#"{"prompt":["a","b"],"n":2}"#, 4),
        (Route::Completions, r#"{"prompt":[1,2,3]}"#, 1),
        (Route::Embeddings, r#"{"input":"a"}"#, 1),
        (Route::Embeddings, r#"{"input":["a","b"]}"#, 2),
        (Route::Embeddings, r#"{"input":[[1],[2],[3]]}"#, 3),
    ] {
        assert_eq!(Expected::of(route, body.as_bytes()).items, items, "{body}");
    }
}

#[test]
fn comments_and_odd_frames_count_for_nothing() {
    let mut tally = streamed(ONE, &[r#"{"choices":[],"prompt_filter_results":[]}"#, HI]);
    tally.event(b": keep-alive\n\n");
    tally.event(b"retry: 3\n\n");
    assert_eq!(tally.deltas(), 1);
    assert!(!tally.is_done());
}
