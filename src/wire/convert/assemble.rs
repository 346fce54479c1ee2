//! Events to one document.

use bytes::Bytes;
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::wire::sse;

use super::ConvertError;

/// Strings that name something. A server may repeat them in every delta; they never come in pieces.
const IDENTITIES: [&str; 6] = ["role", "id", "type", "object", "finish_reason", "tool_call_id"];

/// Merges the events of a stream into the document that the same request would have brought without
/// `stream`. Deltas merge by choice: texts join, lists whose elements carry an `index` merge by it,
/// other lists join, `null` stays where nothing else came. Fields beside the choices keep the last
/// value that was not `null`.
pub fn assemble(events: &[Bytes]) -> Result<Bytes, ConvertError> {
    let mut document = Map::new();
    let mut choices: Vec<Value> = Vec::new();
    for event in events {
        let Some(data) = sse::data(event) else { continue };
        if data.trim_ascii() == b"[DONE]" {
            break;
        }
        let Ok(Value::Object(chunk)) = serde_json::from_slice(&data) else { return Err(ConvertError::Shape) };
        for (key, value) in chunk {
            match (key.as_str(), value) {
                ("choices", Value::Array(parts)) => {
                    // Keeps the place of the key among its neighbours.
                    document.entry("choices").or_insert(Value::Null);
                    parts.into_iter().try_for_each(|part| add_choice(&mut choices, part))?;
                }
                (_, value) => replace(&mut document, key, value),
            }
        }
    }
    if choices.is_empty() {
        return Err(ConvertError::Shape);
    }
    choices.sort_by_key(index_of);
    choices.iter_mut().for_each(finish_choice);
    document.insert("choices".to_owned(), Value::Array(choices));
    if document.get("object").is_some_and(|object| object == "chat.completion.chunk") {
        document.insert("object".to_owned(), Value::from("chat.completion"));
    }
    Ok(Value::Object(document).to_string().into())
}

fn add_choice(choices: &mut Vec<Value>, part: Value) -> Result<(), ConvertError> {
    let Value::Object(part) = part else { return Err(ConvertError::Shape) };
    let index = part.get("index").and_then(Value::as_u64);
    let position = choices.iter().position(|choice| index_of(choice) == index).unwrap_or_else(|| {
        choices.push(Value::Object(Map::new()));
        choices.len() - 1
    });
    let Some(Value::Object(choice)) = choices.get_mut(position) else { return Err(ConvertError::Shape) };
    for (key, value) in part {
        match key.as_str() {
            "delta" => merge(choice.entry("message").or_insert(Value::Null), value),
            "text" | "logprobs" => merge(choice.entry(key).or_insert(Value::Null), value),
            _ => replace(choice, key, value),
        }
    }
    Ok(())
}

fn index_of(value: &Value) -> Option<u64> {
    value.get("index").and_then(Value::as_u64)
}

/// The last value that says something wins.
fn replace(object: &mut Map<String, Value>, key: String, value: Value) {
    match object.entry(key) {
        Entry::Vacant(free) => {
            free.insert(value);
        }
        Entry::Occupied(mut taken) if !value.is_null() => {
            taken.insert(value);
        }
        Entry::Occupied(_) => {}
    }
}

fn merge(into: &mut Value, delta: Value) {
    match (into, delta) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(more)) => text.push_str(&more),
        (Value::Array(list), Value::Array(more)) => more.into_iter().for_each(|element| add_element(list, element)),
        (Value::Object(object), Value::Object(more)) => {
            for (key, value) in more {
                merge_field(object, key, value);
            }
        }
        (slot, Value::Array(more)) => {
            let mut list = Vec::new();
            for element in more {
                add_element(&mut list, element);
            }
            *slot = Value::Array(list);
        }
        (slot, value) => *slot = value,
    }
}

fn merge_field(object: &mut Map<String, Value>, key: String, value: Value) {
    let is_identity = IDENTITIES.contains(&key.as_str());
    match object.entry(key) {
        Entry::Vacant(free) => {
            merge(free.insert(Value::Null), value);
        }
        Entry::Occupied(taken) if is_identity => {
            let says_something = !value.is_null() && value != "";
            if says_something {
                *taken.into_mut() = value;
            }
        }
        // A function's name may be repeated whole, or come in pieces.
        Entry::Occupied(taken) if taken.key() == "name" && *taken.get() == value => {}
        Entry::Occupied(taken) => merge(taken.into_mut(), value),
    }
}

/// Elements that carry the same `index` are pieces of one.
fn add_element(list: &mut Vec<Value>, element: Value) {
    let index = index_of(&element);
    let known = if index.is_some() { list.iter_mut().find(|known| index_of(known) == index) } else { None };
    match known {
        Some(known) => merge(known, element),
        None => list.push(element),
    }
}

/// The marks of a whole document: `content` is there, if only as `null`, and tool calls stand in
/// order without the index that only their pieces needed.
fn finish_choice(choice: &mut Value) {
    let Some(Value::Object(message)) = choice.get_mut("message") else { return };
    message.entry("role").or_insert_with(|| Value::from("assistant"));
    message.entry("content").or_insert(Value::Null);
    if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
        calls.sort_by_key(index_of);
        calls.iter_mut().filter_map(Value::as_object_mut).for_each(|call| {
            call.shift_remove("index");
        });
    }
}
