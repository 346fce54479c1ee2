//! The same answer in either form.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::domain::Usage;

use super::*;

fn events(payloads: &[Value]) -> Vec<Bytes> {
    let events = payloads.iter().map(|payload| sse::event(payload.to_string().as_bytes()));
    events.chain([sse::done()]).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it reads better where it is called")]
fn chunk(choice: Value) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [choice]})
}

#[expect(clippy::needless_pass_by_value, reason = "it reads better where it is called")]
fn delta(index: u64, delta: Value) -> Value {
    chunk(json!({"index": index, "delta": delta, "logprobs": null, "finish_reason": null}))
}

fn end(index: u64, reason: &str) -> Value {
    chunk(json!({"index": index, "delta": {}, "logprobs": null, "finish_reason": reason}))
}

fn assembled(events: &[Bytes]) -> Value {
    serde_json::from_slice(&assemble(events).unwrap()).unwrap()
}

fn payloads(events: &[Bytes]) -> Vec<Value> {
    events.iter().filter_map(|event| serde_json::from_slice(&sse::data(event)?).ok()).collect()
}

fn answer(form: Form, parts: Vec<Bytes>) -> Answer {
    let content_type = if form == Form::Stream { "text/event-stream; charset=utf-8" } else { "application/json" };
    let headers = vec![
        ("content-type".to_owned(), Bytes::from_static(content_type.as_bytes())),
        ("x-kept".to_owned(), Bytes::from_static(b"1")),
    ];
    Answer { head: Head { status: 200, headers, form }, parts, usage: Usage::default() }
}

/// K3-13: two choices interleaved; reasoning, content, two tool calls in pieces, unknown fields.
fn rich() -> Vec<Bytes> {
    events(&[
        delta(0, json!({"role": "assistant", "content": null, "refusal": null})),
        delta(1, json!({"role": "assistant", "content": ""})),
        delta(0, json!({"reasoning_content": "先想"})),
        delta(1, json!({"content": "Ho "})),
        delta(0, json!({"reasoning_content": "一想"})),
        delta(0, json!({"content": "Let me "})),
        delta(0, json!({"content": "look.", "mood": "calm"})),
        delta(
            0,
            json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]}),
        ),
        delta(0, json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"x\""}}]})),
        delta(
            0,
            json!({"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}}]}),
        ),
        delta(0, json!({"tool_calls": [{"index": 0, "id": "", "function": {"name": "f", "arguments": ":1}"}}]})),
        delta(0, json!({"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]})),
        delta(1, json!({"content": "ho"})),
        end(1, "stop"),
        end(0, "tool_calls"),
        json!({"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m", "choices": [],
               "usage": {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}}),
    ])
}

#[test]
fn k3_13_nothing_is_lost_or_doubled_when_deltas_are_merged() {
    assert_eq!(
        assembled(&rich()),
        json!({
            "id": "c1", "object": "chat.completion", "created": 7, "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant", "content": "Let me look.", "refusal": null,
                        "reasoning_content": "先想一想", "mood": "calm",
                        "tool_calls": [
                            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
                            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
                        ],
                    },
                    "logprobs": null, "finish_reason": "tool_calls",
                },
                {
                    "index": 1, "message": {"role": "assistant", "content": "Ho ho"},
                    "logprobs": null, "finish_reason": "stop",
                },
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12},
        })
    );
}

#[test]
fn k3_13_a_document_told_as_a_stream_merges_to_itself() {
    let document = assemble(&rich()).unwrap();
    let again = assemble(&disassemble(&document, true).unwrap()).unwrap();
    let [first, second]: [Value; 2] = [document, again].map(|json| serde_json::from_slice(&json).unwrap());
    assert_eq!(first, second);
}

#[test]
fn k3_01_a_document_becomes_a_proper_stream() {
    let document = json!({
        "id": "c1", "object": "chat.completion", "created": 7, "model": "m", "system_fingerprint": null,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi", "refusal": null},
                     "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    });
    let stream = disassemble(document.to_string().as_bytes(), false).unwrap();
    assert!(sse::is_done(stream.last().unwrap()));
    let chunks = payloads(&stream);
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk" && chunk["id"] == "c1"));
    let choices: Vec<&Value> = chunks.iter().map(|chunk| &chunk["choices"][0]).collect();
    assert_eq!(
        *choices[0],
        json!({"index": 0, "delta": {"role": "assistant", "content": "", "refusal": null},
                                   "logprobs": null, "finish_reason": null})
    );
    assert_eq!(choices[1]["delta"], json!({"content": "Hi"}));
    assert_eq!(*choices[2], json!({"index": 0, "delta": {}, "logprobs": null, "finish_reason": "stop"}));
    assert_eq!(choices.len(), 3, "no usage event unless asked for");
}

#[test]
fn k7_13_nulls_stay_and_only_the_last_chunk_has_a_finish_reason() {
    let document = assemble(&rich()).unwrap();
    let chunks = payloads(&disassemble(&document, true).unwrap());
    let (usage, chunks) = chunks.split_last().unwrap();
    assert_eq!((&usage["choices"], &usage["usage"]["total_tokens"]), (&json!([]), &json!(12)));
    for chunk in chunks {
        assert!(chunk.as_object().unwrap().contains_key("usage") && chunk["usage"].is_null());
        let choice = chunk["choices"][0].as_object().unwrap();
        assert!(choice.contains_key("logprobs") && choice.contains_key("finish_reason"));
        let is_last = choice["delta"] == json!({});
        assert_eq!(choice["finish_reason"].is_null(), !is_last);
    }
}

#[test]
fn k3_03_tabs_blanks_and_line_breaks_survive_every_form() {
    let text = "def f(x):\n    if x:\n\treturn 1\n\n\n  # 两个 空格  \n```";
    let streamed = events(&[delta(0, json!({"role": "assistant", "content": text})), end(0, "stop")]);
    let document = assemble(&streamed).unwrap();
    let replayed = payloads(&disassemble(&document, false).unwrap());
    let joined: String = replayed.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(joined, text);
    assert_eq!(assembled(&streamed)["choices"][0]["message"]["content"], text);
}

#[test]
fn log_probabilities_join_and_stay_with_their_text() {
    let token = |text: &str| json!({"token": text, "logprob": -0.5, "bytes": null, "top_logprobs": []});
    let piece = |text: &str| {
        chunk(json!({"index": 0, "delta": {"content": text}, "logprobs": {"content": [token(text)], "refusal": null},
                     "finish_reason": null}))
    };
    let document = assembled(&events(&[piece("a"), piece("b"), end(0, "stop")]));
    assert_eq!(document["choices"][0]["logprobs"], json!({"content": [token("a"), token("b")], "refusal": null}));
    let chunks = payloads(&disassemble(document.to_string().as_bytes(), false).unwrap());
    let with: Vec<&Value> = chunks.iter().map(|c| &c["choices"][0]).filter(|c| !c["logprobs"].is_null()).collect();
    assert_eq!(with.len(), 1);
    assert_eq!(with[0]["delta"], json!({"content": "ab"}));
}

#[test]
fn text_completions_merge_and_part_too() {
    let piece = |text: &str, finish: Value| {
        json!({"id": "x", "object": "text_completion", "model": "m",
               "choices": [{"index": 0, "text": text, "logprobs": {"tokens": [text], "text_offset": [0]},
                            "finish_reason": finish, "stop_reason": null}]})
    };
    let document = assembled(&events(&[piece("你", Value::Null), piece("好", json!("stop"))]));
    assert_eq!(
        document["choices"][0],
        json!({"index": 0, "text": "你好", "logprobs": {"tokens": ["你", "好"], "text_offset": [0, 0]},
               "finish_reason": "stop", "stop_reason": null})
    );
    let stream = disassemble(document.to_string().as_bytes(), false).unwrap();
    assert_eq!(assembled(&stream), document);
    assert_eq!(payloads(&stream)[0]["object"], "text_completion");
}

#[test]
fn a_choice_without_a_word_keeps_its_null_content() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let document = assembled(&events(&[delta(0, call), end(0, "tool_calls")]));
    let message = document["choices"][0]["message"].as_object().unwrap();
    assert_eq!((&message["role"], &message["content"]), (&json!("assistant"), &Value::Null));
}

#[test]
fn a_stored_answer_serves_every_mode() {
    let stored = answer(Form::Stream, rich());
    let silent = ReplyMode::Stream { include_usage: false };
    let (head, parts) = retell(&stored, silent).unwrap();
    assert_eq!(head, stored.head);
    let expected: Vec<Bytes> =
        rich().into_iter().filter(|event| memchr::memmem::find(event, b"usage").is_none()).collect();
    assert_eq!(parts, expected, "as it came, but for the usage that nobody asked for");
    let (_, parts) = retell(&stored, ReplyMode::Stream { include_usage: true }).unwrap();
    assert_eq!(parts, rich());
    let (head, parts) = retell(&stored, ReplyMode::Whole).unwrap();
    assert_eq!((head.form, head.header("content-type")), (Form::Whole, Some(b"application/json".as_slice())));
    assert_eq!(head.header("x-kept"), Some(b"1".as_slice()));
    let stored = answer(Form::Whole, parts.clone());
    assert_eq!(retell(&stored, ReplyMode::Whole).unwrap().1, parts);
    let (head, parts) = retell(&stored, silent).unwrap();
    assert_eq!((head.form, head.header("content-type")), (Form::Stream, Some(b"text/event-stream".as_slice())));
    assert!(sse::is_done(parts.last().unwrap()));
}

#[test]
fn k3_05_a_usage_event_has_choices_or_is_left_out() {
    let bare = sse::event(br#"{"id":"x","usage":{"prompt_tokens":1}}"#);
    assert_eq!(for_caller(&bare, false), None);
    assert_eq!(
        for_caller(&bare, true).unwrap(),
        "data: {\"choices\":[],\"id\":\"x\",\"usage\":{\"prompt_tokens\":1}}\n\n"
    );
    let with_text = sse::event(br#"{"choices":[{"delta":{"content":"usage"}}],"usage":{"prompt_tokens":1}}"#);
    let early = sse::event(br#"{"choices":[],"prompt_filter_results":[],"usage":null}"#);
    for untouched in [with_text, early, sse::done(), Bytes::from_static(b": ping\n\n")] {
        assert_eq!(for_caller(&untouched, false), Some(untouched.clone()));
    }
}

#[test]
fn what_has_no_other_form_is_an_error_not_a_guess() {
    let embeddings = br#"{"object":"list","data":[{"embedding":[0.1]}]}"#;
    assert_eq!(disassemble(embeddings, false), Err(ConvertError::NoStream));
    for bad in ["", "[]", "{}", r#"{"choices":[1]}"#, r#"{"choices":[{}]}"#] {
        assert_eq!(disassemble(bad.as_bytes(), false), Err(ConvertError::Shape), "{bad}");
    }
    assert_eq!(assemble(&[sse::done()]), Err(ConvertError::Shape));
    assert_eq!(assemble(&[sse::event(b"{\"choices\":[{")]), Err(ConvertError::Shape));
    assert_eq!(assemble(&[sse::event(b"{\"choices\":[7]}")]), Err(ConvertError::Shape));
}

proptest! {
    #[test]
    fn stream_to_document_to_stream_keeps_every_text(
        texts in prop::collection::vec(prop::collection::vec("[a-z \n\t\u{4f60}\u{1F469}\u{200D}\u{1F680}e\u{301}]{0,90}", 0..6), 1..4),
    ) {
        let mut chunks = Vec::new();
        for (index, pieces) in (0..).zip(&texts) {
            chunks.push(delta(index, json!({"role": "assistant", "content": ""})));
            chunks.extend(pieces.iter().map(|piece| delta(index, json!({"content": piece}))));
            chunks.push(end(index, "stop"));
        }
        let document = assemble(&events(&chunks)).unwrap();
        let replayed = disassemble(&document, false).unwrap();
        let mut said = vec![String::new(); texts.len()];
        for chunk in payloads(&replayed) {
            let choice = &chunk["choices"][0];
            let index = usize::try_from(choice["index"].as_u64().unwrap()).unwrap();
            said[index].push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        }
        let expected: Vec<String> = texts.iter().map(|pieces| pieces.concat()).collect();
        prop_assert_eq!(said, expected);
        prop_assert_eq!(assemble(&replayed).unwrap(), document);
    }

    #[test]
    fn no_piece_splits_a_character_as_a_person_sees_it(text in "([a-z]|\u{4f60}|e\u{301}|\u{1F469}\u{200D}\u{1F680}|\r\n){0,200}") {
        use unicode_segmentation::UnicodeSegmentation;
        let document = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]});
        let chunks = payloads(&disassemble(document.to_string().as_bytes(), false).unwrap());
        let pieces = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
        let within: usize = pieces.map(|piece| piece.graphemes(true).count()).sum();
        prop_assert_eq!(within, text.graphemes(true).count());
    }
}
