//! The shapes in which vLLM answers: documents, chunks, errors.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Ask, Surface, Tag};

/// The content of one answer before it has a shape.
pub(super) struct Reply<'a> {
    ask: &'a Ask,
    id: String,
    created: u64,
    /// One list of tokens a choice.
    pub(super) choices: Vec<Vec<String>>,
    /// `None` for a server that never says why it stopped.
    pub(super) finish: Option<&'static str>,
}

/// Words without a meaning, so that nobody mistakes an answer of the simulator for one.
const WORDS: [&str; 32] = [
    "amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll", "ledge",
    "marsh", "north", "ocean", "pebble", "quarry", "ridge", "shore", "tide", "upland", "valley", "weir", "yarrow",
    "zephyr", "bridge", "canal", "dune", "estuary", "flume", "gorge", "harbour",
];

// === impl Reply ===

impl<'a> Reply<'a> {
    /// `length` tokens a choice; the first is the tag, so one is always there.
    pub(super) fn new(ask: &'a Ask, tag: Tag, length: u32, finish: &'static str) -> Self {
        let prefix = if ask.surface == Surface::Chat { "chatcmpl" } else { "cmpl" };
        Self {
            ask,
            id: format!("{prefix}-sim-{}", tag.call),
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            choices: (0..ask.choices).map(|choice| tokens(tag, choice, length)).collect(),
            finish: Some(finish),
        }
    }

    /// Output tokens of all choices.
    pub(super) fn output_tokens(&self) -> u32 {
        u32::try_from(self.choices.iter().map(Vec::len).sum::<usize>()).unwrap_or(u32::MAX)
    }

    fn usage(&self) -> Value {
        let (prompt, output) = (self.ask.prompt_tokens(), self.output_tokens());
        json!({"prompt_tokens": prompt, "total_tokens": prompt.saturating_add(output), "completion_tokens": output})
    }

    /// The whole document.
    pub(super) fn document(&self) -> Bytes {
        let choices: Vec<Value> =
            self.choices.iter().enumerate().map(|(index, tokens)| self.choice(index, &tokens.concat())).collect();
        let object = if self.ask.surface == Surface::Chat { "chat.completion" } else { "text_completion" };
        bytes_of(&json!({
            "id": self.id, "object": object, "created": self.created, "model": self.ask.model,
            "choices": choices, "usage": self.usage(),
        }))
    }

    fn choice(&self, index: usize, text: &str) -> Value {
        if self.ask.surface == Surface::Chat {
            json!({"index": index, "message": {"role": "assistant", "content": text}, "logprobs": null,
                   "finish_reason": self.finish})
        } else {
            json!({"index": index, "text": text, "logprobs": null, "finish_reason": self.finish})
        }
    }

    /// The chunk that opens a choice of a chat; a completion has none.
    pub(super) fn role_chunk(&self, index: usize) -> Option<Bytes> {
        (self.ask.surface == Surface::Chat)
            .then(|| self.chunk(&json!([delta(index, &json!({"role": "assistant", "content": ""}), None)]), None))
    }

    /// One token of a choice.
    pub(super) fn token_chunk(&self, index: usize, token: &str) -> Bytes {
        let choice = if self.ask.surface == Surface::Chat {
            delta(index, &json!({ "content": token }), None)
        } else {
            json!({"index": index, "text": token, "logprobs": null, "finish_reason": null})
        };
        self.chunk(&json!([choice]), None)
    }

    /// The chunk that says why a choice ended.
    pub(super) fn finish_chunk(&self, index: usize) -> Bytes {
        let choice = if self.ask.surface == Surface::Chat {
            delta(index, &json!({ "content": "" }), self.finish)
        } else {
            json!({"index": index, "text": "", "logprobs": null, "finish_reason": self.finish})
        };
        self.chunk(&json!([choice]), None)
    }

    /// The last chunk, for callers that asked for the usage.
    pub(super) fn usage_chunk(&self) -> Bytes {
        self.chunk(&json!([]), Some(self.usage()))
    }

    fn chunk(&self, choices: &Value, usage: Option<Value>) -> Bytes {
        let object = if self.ask.surface == Surface::Chat { "chat.completion.chunk" } else { "text_completion" };
        let mut chunk = json!({
            "id": self.id, "object": object, "created": self.created, "model": self.ask.model, "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        event(&chunk)
    }
}

fn delta(index: usize, delta: &Value, finish: Option<&str>) -> Value {
    json!({"index": index, "delta": delta, "logprobs": null, "finish_reason": finish})
}

/// The tag, then words that depend on the call, so that no two answers are equal.
fn tokens(tag: Tag, choice: u32, length: u32) -> Vec<String> {
    let mut seed = blake3::Hasher::new();
    seed.update(&tag.prompt.0.to_le_bytes()).update(&tag.call.to_le_bytes()).update(&choice.to_le_bytes());
    let mut picks = vec![0; usize::try_from(length.saturating_sub(1)).unwrap_or(0)];
    seed.finalize_xof().fill(&mut picks);
    let words = picks.iter().map(|pick| format!(" {}", WORDS[usize::from(*pick) % WORDS.len()]));
    std::iter::once(tag.to_string()).chain(words).collect()
}

/// One server-sent event.
pub(super) fn event(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}

/// The event after which nothing comes.
pub(super) fn done() -> Bytes {
    Bytes::from_static(b"data: [DONE]\n\n")
}

/// An OpenAI-shaped error object.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 | 404 | 422 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        _ => "server_error",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": status}})
}

pub(super) fn bytes_of(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

/// The answer to an embeddings call: a unit vector for every input, made from the hash of its text alone.
pub(super) fn embeddings(ask: &Ask, call: u64, dimensions: usize) -> Bytes {
    let data: Vec<Value> = ask
        .turns
        .iter()
        .enumerate()
        .map(|(index, turn)| {
            json!({"object": "embedding", "index": index, "embedding": embedding(&turn.text, dimensions)})
        })
        .collect();
    let tokens = ask.prompt_tokens();
    bytes_of(&json!({
        "id": format!("embd-sim-{call}"), "object": "list", "model": ask.model, "data": data,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens, "completion_tokens": 0},
    }))
}

fn embedding(text: &str, dimensions: usize) -> Vec<f32> {
    let mut bytes = vec![0; dimensions];
    blake3::Hasher::new().update(text.as_bytes()).finalize_xof().fill(&mut bytes);
    let raw: Vec<f32> = bytes.iter().map(|byte| f32::from(*byte) - 127.5).collect();
    let norm = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.iter().map(|x| x / norm).collect()
}
