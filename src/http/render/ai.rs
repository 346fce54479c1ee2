//! The founding reply `{text, source, usage}`, from the chat completion that answered it.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::domain::Source;
use crate::wire::convert::ConvertError;
use crate::wire::sse;

/// The founding reply of an assembled chat completion. `usage` is the upstream's own, or `null`.
pub fn ai_reply(chat: &[u8], source: Source) -> Result<Bytes, ConvertError> {
    let chat: Value = serde_json::from_slice(chat).map_err(|_| ConvertError::Shape)?;
    let message = chat.pointer("/choices/0/message").ok_or(ConvertError::Shape)?;
    let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
    let usage = chat.get("usage").unwrap_or(&Value::Null);
    Ok(json!({ "text": text, "source": source.as_str(), "usage": usage }).to_string().into())
}

/// Turns chat events into founding ones: `data: {"text": piece}` for each piece, then
/// `data: {"source", "usage"}`, then `data: [DONE]`. An error event passes as it is.
#[derive(Debug)]
pub struct AiStream {
    source: Source,
    usage: Value,
}

// === impl AiStream ===

impl AiStream {
    /// A stream whose answer comes from `source`.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self { source, usage: Value::Null }
    }

    /// The founding event of the next chat event, if it says anything.
    pub fn event(&mut self, event: &Bytes) -> Option<Bytes> {
        let data = sse::data(event)?;
        if data.trim_ascii() == b"[DONE]" {
            let end = json!({ "source": self.source.as_str(), "usage": self.usage }).to_string();
            return Some([sse::event(end.as_bytes()), sse::done()].concat().into());
        }
        let chunk: Map<String, Value> = serde_json::from_slice(&data).ok()?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Some(event.clone());
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            self.usage = usage.clone();
        }
        let text = chunk.get("choices")?.get(0)?.get("delta")?.get("content")?.as_str()?;
        (!text.is_empty()).then(|| sse::event(json!({ "text": text }).to_string().as_bytes()))
    }
}

#[cfg(test)]
mod tests;
