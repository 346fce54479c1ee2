//! Watches an upstream response go by and says what it was worth: usage, and whether it is whole.
//!
//! The invariant: [`Ending::Complete`] only if every choice finished of its own accord. What was
//! cut by a limit or a filter, lacks its end, is empty or holds an error object must never be
//! stored, and what was cut on the wire must not look whole to its caller either. The tally reads
//! each event once, as it passes, and keeps counters only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::domain::{Form, Route, Usage};

use super::sse;

/// What a response must hold to be whole, as its request asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The surface, which decides the shape of the response.
    pub route: Route,
    /// Choices, or embeddings: one for each input.
    pub items: usize,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Whole, and fit to be stored.
    Complete,
    /// Delivered in full, but not to be stored or shared further.
    Unshareable(Flaw),
    /// Its caller did not get what was promised and must be told.
    Broken(Flaw),
}

/// What keeps a response from being stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Not JSON.
    Garbled,
    /// JSON, but not of the shape of an answer.
    Shape,
    /// An `error` object in a successful response.
    ErrorObject,
    /// Not as many choices or embeddings as the request asked for.
    Count,
    /// A choice has no `finish_reason`.
    Unfinished,
    /// No `[DONE]` at the end of the stream.
    NoDone,
    /// Stopped by `max_tokens`.
    Length,
    /// Withheld by a filter.
    ContentFilter,
    /// A `finish_reason` that we do not know.
    OtherFinish,
    /// A choice without content.
    Empty,
}

/// The running account of one response.
#[derive(Clone, Debug)]
pub struct Tally {
    expected: Expected,
    form: Form,
    choices: BTreeMap<u64, Choice>,
    embeddings: usize,
    usage: Option<Usage>,
    deltas: u64,
    done: bool,
    /// The first thing that was wrong for good.
    spoilt: Option<Flaw>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Choice {
    finish: Option<Finish>,
    has_content: bool,
}

#[derive(Clone, Copy, Debug)]
enum Finish {
    Natural,
    Length,
    ContentFilter,
    Other,
}

// === impl Expected ===

impl Expected {
    /// What a request body asks for: `n` choices for each prompt, one embedding for each input. Read
    /// leniently, since the decoder has refused what is wrong; a body that is no JSON expects one item.
    #[must_use]
    pub fn of(route: Route, body: &[u8]) -> Self {
        let asked: Asked<'_> = serde_json::from_slice(body).unwrap_or_default();
        let n = asked.n.unwrap_or(1);
        let items = match route {
            Route::Embeddings => asked.input.map_or(1, texts),
            Route::Completions => n.saturating_mul(asked.prompt.map_or(1, texts)),
            Route::Chat | Route::Ai | Route::Other => n,
        };
        Self { route, items }
    }
}

#[derive(Default, Deserialize)]
struct Asked<'a> {
    n: Option<usize>,
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// How many texts a `prompt` or `input` holds: one string, one list of token numbers, or several of either.
fn texts(raw: &RawValue) -> usize {
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Ok(elements) if elements.iter().any(|element| element.get().starts_with(['"', '[', '{'])) => elements.len(),
        _ => 1,
    }
}

// === impl Tally ===

impl Tally {
    /// An account of a response of that form.
    #[must_use]
    pub fn new(expected: Expected, form: Form) -> Self {
        Self {
            expected,
            form,
            choices: BTreeMap::new(),
            embeddings: 0,
            usage: None,
            deltas: 0,
            done: false,
            spoilt: None,
        }
    }

    /// Takes the next event of a stream, in order.
    pub fn event(&mut self, event: &[u8]) {
        let Some(data) = sse::data(event) else { return };
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
        } else {
            self.document(&data);
        }
    }

    /// Takes the whole body of a response that is not a stream.
    pub fn whole(&mut self, body: &[u8]) {
        self.document(body);
    }

    /// The usage that the upstream reported, if it did.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Chunks that brought content, reasoning or tool arguments.
    #[must_use]
    pub fn deltas(&self) -> u64 {
        self.deltas
    }

    /// The reported usage; without one, each delta counts as one token written.
    #[must_use]
    pub fn usage_or_estimate(&self) -> Usage {
        self.usage.unwrap_or(Usage { prompt: 0, completion: self.deltas })
    }

    /// Whether `[DONE]` was seen.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether this stream has brought an error object: nothing that may still come can save it.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.form == Form::Stream && self.spoilt == Some(Flaw::ErrorObject)
    }

    /// What the response amounts to if it ends here. At a `[DONE]` that has been taken but not yet
    /// forwarded, [`Ending::Broken`] means that the stream is about to claim an end it never had.
    #[must_use]
    pub fn ending(&self) -> Ending {
        let Some(flaw) = self.flaw() else { return Ending::Complete };
        match (self.form, flaw) {
            (Form::Stream, Flaw::ErrorObject | Flaw::Unfinished) => Ending::Broken(flaw),
            (Form::Stream, Flaw::Count) if self.choices.len() < self.expected.items => Ending::Broken(flaw),
            _ => Ending::Unshareable(flaw),
        }
    }

    fn flaw(&self) -> Option<Flaw> {
        if self.spoilt.is_some() {
            return self.spoilt;
        }
        if self.expected.route == Route::Embeddings {
            return (self.embeddings != self.expected.items).then_some(Flaw::Count);
        }
        if self.choices.len() != self.expected.items {
            return Some(Flaw::Count);
        }
        let unfinished = self.choices.values().any(|choice| choice.finish.is_none());
        let no_done = self.form == Form::Stream && !self.done;
        unfinished
            .then_some(Flaw::Unfinished)
            .or(no_done.then_some(Flaw::NoDone))
            .or_else(|| self.choices.values().find_map(|choice| choice.flaw()))
    }

    fn document(&mut self, bytes: &[u8]) {
        match serde_json::from_slice::<View<'_>>(bytes) {
            Ok(view) => self.take(view),
            Err(_) if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => self.spoil(Flaw::Shape),
            Err(_) => self.spoil(Flaw::Garbled),
        }
    }

    fn take(&mut self, view: View<'_>) {
        if let Some(usage) = view.usage {
            let prompt = usage.prompt_tokens.unwrap_or(0);
            self.usage = Some(Usage { prompt, completion: usage.completion_tokens.unwrap_or(0) });
        }
        let object = view.object.as_deref();
        if view.error.is_some() || object == Some("error") {
            self.spoil(Flaw::ErrorObject);
        }
        if object == Some("list") {
            let items = view.data.unwrap_or_default();
            self.embeddings += items.iter().filter(|item| !is_empty(item.embedding)).count();
        }
        for choice in view.choices.unwrap_or_default() {
            let message = choice.delta.or(choice.message).unwrap_or_default();
            let text = choice.text.is_some_and(|text| !text.is_empty());
            self.deltas += u64::from(text || message.says_anything());
            let known = self.choices.entry(choice.index).or_default();
            known.has_content |= text || message.has_content();
            known.finish = choice.finish_reason.as_deref().map(Finish::of).or(known.finish);
        }
    }

    fn spoil(&mut self, flaw: Flaw) {
        self.spoilt.get_or_insert(flaw);
    }
}

// === impl Choice, Finish ===

impl Choice {
    fn flaw(self) -> Option<Flaw> {
        match self.finish {
            None => Some(Flaw::Unfinished),
            Some(Finish::Length) => Some(Flaw::Length),
            Some(Finish::ContentFilter) => Some(Flaw::ContentFilter),
            Some(Finish::Other) => Some(Flaw::OtherFinish),
            Some(Finish::Natural) => (!self.has_content).then_some(Flaw::Empty),
        }
    }
}

impl Finish {
    fn of(reason: &str) -> Self {
        match reason {
            "stop" | "tool_calls" | "function_call" => Self::Natural,
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            _ => Self::Other,
        }
    }
}

// === what is read of a document ===

#[derive(Deserialize)]
struct View<'a> {
    #[serde(borrow)]
    choices: Option<Vec<ChoiceView<'a>>>,
    usage: Option<UsageView>,
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<Vec<EmbeddingView<'a>>>,
}

#[derive(Deserialize)]
struct ChoiceView<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<MessageView<'a>>,
    #[serde(borrow)]
    message: Option<MessageView<'a>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

/// Every field of a message or delta, unread.
#[derive(Default, Deserialize)]
struct MessageView<'a>(#[serde(borrow)] BTreeMap<Cow<'a, str>, &'a RawValue>);

#[derive(Deserialize)]
struct UsageView {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct EmbeddingView<'a> {
    #[serde(borrow)]
    embedding: &'a RawValue,
}

// === impl MessageView ===

impl MessageView<'_> {
    /// Whether it holds an answer. Reasoning alone is none.
    fn has_content(&self) -> bool {
        ["content", "tool_calls", "function_call", "refusal", "audio"]
            .iter()
            .any(|key| self.0.get(*key).is_some_and(|raw| !is_empty(raw)))
    }

    fn says_anything(&self) -> bool {
        self.0.iter().any(|(key, raw)| key != "role" && !is_empty(raw))
    }
}

fn is_empty(raw: &RawValue) -> bool {
    matches!(raw.get(), "null" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests;
