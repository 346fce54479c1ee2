//! The founding path family: `POST /api/ai/{task}` with `{model, prompt, temperature, max_tokens, stream}`.
//!
//! Its form is closed, so a field that it does not have is a mistake of the caller, and refused.

use bytes::Bytes;
use serde_json::Value;

use crate::domain::Refusal;
use crate::wire::json::Json;

use super::body::{self, invalid};

const PREFIX: &str = "/api/ai/";
const FIELDS: [&str; 5] = ["model", "prompt", "temperature", "max_tokens", "stream"];

/// The task that the path names.
pub(super) fn task_in(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX).map(|task| task.trim_end_matches('/'))
}

/// The same request as a chat completion with one user message.
pub(super) fn as_chat(body: &Json<'_>) -> Result<Bytes, Refusal> {
    if let Some(unknown) = body.members().iter().find(|member| !FIELDS.contains(&member.key.as_ref())) {
        // A key may be as long as the body.
        let key: String = unknown.key.chars().take(64).collect();
        return Err(invalid(&key, &format!("is unknown here; known are {}", FIELDS.join(", "))));
    }
    let model = Value::from(body::model(body)?);
    let prompt = match body::string(body, "prompt")? {
        None => return Err(invalid("prompt", "is required")),
        Some(blank) if blank.trim().is_empty() => return Err(invalid("prompt", "must not be empty")),
        Some(prompt) => Value::from(prompt),
    };
    let mut chat = format!(r#"{{"model":{model},"messages":[{{"role":"user","content":{prompt}}}]"#);
    for key in ["temperature", "max_tokens"] {
        if let Some(number) = body::number(body, key)? {
            chat.extend([",\"", key, "\":", number.as_str()]);
        }
    }
    if body::boolean(body, "stream")? == Some(true) {
        // The founding reply tells the usage at its end.
        chat.push_str(r#","stream":true,"stream_options":{"include_usage":true}"#);
    }
    chat.push('}');
    Ok(chat.into())
}
