//! The founding reply, whole and in pieces.

use super::*;

#[test]
fn a_chat_completion_becomes_text_source_and_usage() {
    let chat = r#"{"choices":[{"message":{"role":"assistant","content":"你好"}}],"usage":{"total_tokens":3}}"#;
    let reply: Value = serde_json::from_slice(&ai_reply(chat.as_bytes(), Source::Cache).unwrap()).unwrap();
    assert_eq!(reply, json!({"text": "你好", "source": "cache", "usage": {"total_tokens": 3}}));
    for bad in ["", "{}", r#"{"choices":[]}"#] {
        assert_eq!(ai_reply(bad.as_bytes(), Source::Cache), Err(ConvertError::Shape), "{bad}");
    }
}

#[test]
fn chat_events_become_pieces_then_source_and_usage_then_done() {
    let mut stream = AiStream::new(Source::Window);
    let chat = [
        sse::event(br#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#),
        sse::event(br#"{"choices":[{"delta":{"content":"a\n"}}]}"#),
        Bytes::from_static(b": ping\n\n"),
        sse::event(br#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#),
        sse::event(br#"{"choices":[],"usage":{"total_tokens":3}}"#),
        sse::done(),
    ];
    let founding: Vec<Bytes> = chat.iter().filter_map(|event| stream.event(event)).collect();
    assert_eq!(
        founding.concat(),
        b"data: {\"text\":\"a\\n\"}\n\ndata: {\"source\":\"window\",\"usage\":{\"total_tokens\":3}}\n\ndata: [DONE]\n\n"
    );
}

#[test]
fn an_error_event_passes_as_it_is() {
    let error = sse::event(br#"{"error":{"message":"no"}}"#);
    assert_eq!(AiStream::new(Source::Upstream).event(&error), Some(error.clone()));
}
