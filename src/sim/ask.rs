//! What a request asks for, as far as the simulator and the replayer need to know.

use serde_json::Value;

use super::PromptDigest;

/// The inference endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// `/v1/chat/completions`, and the gateway's `/api/ai/{task}`, which becomes one.
    Chat,
    /// `/v1/completions`
    Completions,
    /// `/v1/embeddings`
    Embeddings,
}

/// One message of the prompt. A part that is not text (an image) is kept as its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// `system`, `user`, `assistant` …
    pub role: String,
    /// Its text.
    pub text: String,
}

/// A parsed inference request.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Where it was sent.
    pub surface: Surface,
    /// The model it names.
    pub model: String,
    /// The whole prompt; for embeddings one turn an input.
    pub turns: Vec<Turn>,
    /// The cap on output tokens.
    pub max_tokens: Option<u32>,
    /// How many choices.
    pub choices: u32,
    /// Whether the answer comes as events.
    pub stream: bool,
    /// Whether a stream ends with the usage.
    pub include_usage: bool,
}

// === impl Surface ===

impl Surface {
    /// The endpoint of a path (without its query), if it is one.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/completions" => Some(Self::Completions),
            "/v1/embeddings" => Some(Self::Embeddings),
            _ => path.strip_prefix("/api/ai/").map(|_| Self::Chat),
        }
    }
}

// === impl Ask ===

impl Ask {
    /// Reads a body. The error is a sentence for the caller.
    pub fn read(surface: Surface, body: &[u8]) -> Result<Self, String> {
        let body: Value = serde_json::from_slice(body).map_err(|error| format!("invalid JSON: {error}"))?;
        let number = |key: &str| body.get(key).and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
        Ok(Self {
            surface,
            model: body.get("model").and_then(Value::as_str).unwrap_or("sim-model").to_owned(),
            turns: turns(surface, &body)?,
            max_tokens: number("max_completion_tokens").or_else(|| number("max_tokens")),
            choices: number("n").unwrap_or(1).clamp(1, 16),
            stream: surface != Surface::Embeddings && flag(body.get("stream")),
            include_usage: flag(body.pointer("/stream_options/include_usage")),
        })
    }

    /// The digest of the whole prompt: roles and texts, nothing else of the request.
    #[must_use]
    pub fn digest(&self) -> PromptDigest {
        let mut hash = blake3::Hasher::new();
        for part in self.turns.iter().flat_map(|turn| [&turn.role, &turn.text]) {
            hash.update(&part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        let mut first = [0; 8];
        hash.finalize_xof().fill(&mut first);
        PromptDigest(u64::from_be_bytes(first))
    }

    /// Tokens of the prompt by a rule of thumb that is the same every time: one for every character that
    /// is not ASCII, one for every four that are, and four around each turn.
    #[must_use]
    pub fn prompt_tokens(&self) -> u32 {
        let tokens: usize = self.turns.iter().map(|turn| tokens_of(&turn.text) + 4).sum();
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }
}

fn tokens_of(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count()
}

fn turns(surface: Surface, body: &Value) -> Result<Vec<Turn>, String> {
    let user = |text: String| Turn { role: "user".to_owned(), text };
    let (key, one_each) = match surface {
        // The gateway's own surface carries a prompt; a chat completion carries messages.
        Surface::Chat if body.get("messages").is_none() => ("prompt", false),
        Surface::Chat => return messages(body),
        Surface::Completions => ("prompt", false),
        Surface::Embeddings => ("input", true),
    };
    match body.get(key) {
        Some(Value::String(text)) => Ok(vec![user(text.clone())]),
        Some(Value::Array(list)) if one_each && !list.iter().all(Value::is_number) => {
            Ok(list.iter().map(|item| user(text_of(item))).collect())
        }
        Some(list @ Value::Array(_)) => Ok(vec![user(list.to_string())]),
        _ => Err(format!("`{key}` is required")),
    }
}

fn messages(body: &Value) -> Result<Vec<Turn>, String> {
    let messages = body.get("messages").and_then(Value::as_array).ok_or("`messages` must be a list")?;
    if messages.is_empty() {
        return Err("`messages` must not be empty".to_owned());
    }
    Ok(messages
        .iter()
        .map(|message| Turn {
            role: message.get("role").and_then(Value::as_str).unwrap_or("user").to_owned(),
            text: match message.get("content") {
                Some(Value::Array(parts)) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
                Some(content) => text_of(content),
                None => String::new(),
            },
        })
        .collect())
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        part => part.get("text").and_then(Value::as_str).map_or_else(|| part.to_string(), str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(surface: Surface, body: &str) -> PromptDigest {
        Ask::read(surface, body.as_bytes()).unwrap().digest()
    }

    #[test]
    fn the_digest_covers_every_turn_and_nothing_else() {
        let one = digest(Surface::Chat, r#"{"model":"a","messages":[{"role":"user","content":"hi"}]}"#);
        let same = digest(Surface::Chat, r#"{"model":"b","user":"x","messages":[{"role":"user","content":"hi"}]}"#);
        let other = digest(Surface::Chat, r#"{"model":"a","messages":[{"role":"user","content":"hi "}]}"#);
        let system = r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}"#;
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert_ne!(one, digest(Surface::Chat, system));
    }

    #[test]
    fn every_way_to_carry_one_prompt_has_one_digest() {
        let chat = digest(Surface::Chat, r#"{"messages":[{"role":"user","content":"hi"}]}"#);
        let parts = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
        assert_eq!(chat, digest(Surface::Chat, parts));
        assert_eq!(chat, digest(Surface::Chat, r#"{"prompt":"hi"}"#));
        assert_eq!(chat, digest(Surface::Completions, r#"{"prompt":"hi"}"#));
    }

    #[test]
    fn a_body_without_a_prompt_is_refused_by_name() {
        assert!(Ask::read(Surface::Chat, b"{\"messages\":[]}").unwrap_err().contains("messages"));
        assert!(Ask::read(Surface::Embeddings, b"{}").unwrap_err().contains("input"));
        assert!(Ask::read(Surface::Completions, b"{").unwrap_err().contains("JSON"));
    }
}
