//! One document to events.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::wire::sse;

use super::ConvertError;

/// Text goes out in pieces of about this many bytes, so that a client which draws as it reads has
/// something to draw.
const PIECE: usize = 64;

/// Fields of a message whose text may come in pieces; any other field comes whole.
const TEXTS: [&str; 4] = ["content", "reasoning_content", "reasoning", "refusal"];

/// Tells one document as the stream that the same request would have brought: for each choice its
/// role, its content in pieces that never split a character, and its end; then the usage, if asked
/// for, and `[DONE]`.
pub fn disassemble(document: &[u8], include_usage: bool) -> Result<Vec<Bytes>, ConvertError> {
    let Ok(Value::Object(mut document)) = serde_json::from_slice(document) else { return Err(ConvertError::Shape) };
    if document.contains_key("data") {
        return Err(ConvertError::NoStream);
    }
    let Some(Value::Array(choices)) = document.shift_remove("choices") else { return Err(ConvertError::Shape) };
    let usage = document.shift_remove("usage");
    let mut stream = Stream::new(document, include_usage);
    for (position, choice) in choices.into_iter().enumerate() {
        let Value::Object(choice) = choice else { return Err(ConvertError::Shape) };
        stream.choice(position, choice)?;
    }
    if let Some(usage) = usage.filter(|usage| include_usage && !usage.is_null()) {
        stream.usage(usage);
    }
    stream.events.push(sse::done());
    Ok(stream.events)
}

/// The events so far, and what each of them repeats.
struct Stream {
    envelope: Map<String, Value>,
    /// What need not be said more than once.
    once: Map<String, Value>,
    events: Vec<Bytes>,
}

// === impl Stream ===

impl Stream {
    fn new(document: Map<String, Value>, include_usage: bool) -> Self {
        let (once, mut envelope): (Map<_, _>, Map<_, _>) =
            document.into_iter().partition(|(_, value)| value.is_object() || value.is_array());
        if envelope.get("object").is_some_and(|object| object == "chat.completion") {
            envelope.insert("object".to_owned(), Value::from("chat.completion.chunk"));
        }
        if include_usage {
            envelope.insert("usage".to_owned(), Value::Null);
        }
        Self { envelope, once, events: Vec::new() }
    }

    fn choice(&mut self, position: usize, mut choice: Map<String, Value>) -> Result<(), ConvertError> {
        let index = choice.shift_remove("index").unwrap_or_else(|| Value::from(position));
        let logprobs = choice.shift_remove("logprobs").unwrap_or(Value::Null);
        let finish = choice.shift_remove("finish_reason").unwrap_or(Value::Null);
        let (said, empty) = match (choice.shift_remove("message"), choice.shift_remove("text")) {
            (Some(Value::Object(message)), _) => {
                let deltas = deltas(message, !logprobs.is_null()).into_iter();
                (deltas.map(|delta| ("delta", Value::Object(delta))).collect::<Vec<_>>(), ("delta", json!({})))
            }
            (None, Some(Value::String(text))) => {
                let texts = pieces(&text, !logprobs.is_null()).into_iter();
                (texts.map(|piece| ("text", Value::from(piece))).collect(), ("text", Value::from("")))
            }
            _ => return Err(ConvertError::Shape),
        };
        // Log probabilities belong to the text, which then comes in one piece: the last one said.
        let last = said.len().saturating_sub(1);
        for (at, (key, delta)) in said.into_iter().enumerate() {
            let logprobs = if at == last { logprobs.clone() } else { Value::Null };
            self.chunk(json!({"index": index, key: delta, "logprobs": logprobs, "finish_reason": null}));
        }
        let mut end = json!({"index": index, empty.0: empty.1, "logprobs": null, "finish_reason": finish});
        if let Some(end) = end.as_object_mut() {
            end.extend(choice);
        }
        self.chunk(end);
        Ok(())
    }

    fn chunk(&mut self, choice: Value) {
        let mut chunk = self.envelope.clone();
        chunk.append(&mut self.once);
        chunk.insert("choices".to_owned(), Value::Array(vec![choice]));
        self.events.push(sse::event(Value::Object(chunk).to_string().as_bytes()));
    }

    fn usage(&mut self, usage: Value) {
        let mut chunk = self.envelope.clone();
        chunk.insert("choices".to_owned(), json!([]));
        chunk.insert("usage".to_owned(), usage);
        self.events.push(sse::event(Value::Object(chunk).to_string().as_bytes()));
    }
}

/// A message as deltas: first the role with every field that is empty, then the others one by one.
fn deltas(message: Map<String, Value>, in_one_piece: bool) -> Vec<Map<String, Value>> {
    let mut first = Map::new();
    let mut rest = Vec::new();
    for (key, value) in message {
        match value {
            Value::String(text) if TEXTS.contains(&key.as_str()) => {
                first.insert(key.clone(), Value::from(""));
                rest.extend(pieces(&text, in_one_piece).into_iter().map(|piece| single(&key, Value::from(piece))));
            }
            Value::Array(calls) if key == "tool_calls" => rest.extend(
                calls.into_iter().enumerate().map(|(index, call)| single(&key, json!([with_index(call, index)]))),
            ),
            value if key == "role" || value.is_null() => {
                first.insert(key, value);
            }
            value => rest.push(single(&key, value)),
        }
    }
    first.entry("role").or_insert_with(|| Value::from("assistant"));
    rest.insert(0, first);
    rest
}

fn single(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}

fn with_index(call: Value, index: usize) -> Value {
    let Value::Object(fields) = call else { return call };
    let mut indexed = single("index", Value::from(index));
    indexed.extend(fields);
    Value::Object(indexed)
}

/// Cuts a text between characters as a person sees them. An empty text has no pieces.
fn pieces(text: &str, in_one_piece: bool) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    if in_one_piece {
        return vec![text];
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in text.grapheme_indices(true) {
        if at - start >= PIECE {
            pieces.push(&text[start..at]);
            start = at;
        }
    }
    pieces.push(&text[start..]);
    pieces
}
