//! The one text of a request that may differ between two calls that share.
//!
//! The question is taken *out of* the body, which leaves the rest for the Scope: what is left of the
//! body and the question together are the whole request, so nothing can fall between the two.

use std::borrow::Cow;
use std::sync::Arc;

use crate::domain::{Refusal, Route, WhyNotShared};
use crate::wire::json::{self, Json, Member};

use super::body::{array, invalid, wrong_type};

/// What a call asks.
#[derive(Clone, Debug)]
pub(super) struct Question {
    /// The question, or the canonical form of all that stands in its place.
    pub(super) text: Arc<str>,
    pub(super) compared: Compared,
    /// Turns before the last, system and developer text not counted.
    pub(super) earlier_turns: usize,
    pub(super) has_tool_turns: bool,
}

/// How the question relates to the Scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// It is not part of the Scope.
    Apart,
    /// No single text stands for the call: the Scope holds all of it.
    AsWhole(WhyNotShared),
    /// The Scope holds it too, letter for letter: a vector of `Apple` is not one of `apple`.
    Literally,
}

/// Takes the question out of the body, unless the Scope must hold it.
pub(super) fn take(route: Route, body: &mut Json<'_>, reveals_prompt: bool) -> Result<Question, Refusal> {
    match route {
        Route::Embeddings => embedded(body),
        Route::Completions => prompted(body, reveals_prompt),
        Route::Chat | Route::Ai | Route::Other => chatted(body, reveals_prompt),
    }
}

// === impl Question ===

impl Question {
    /// What a task may be detected from: nothing if there is no single text.
    pub(super) fn text_to_detect(&self) -> &str {
        if matches!(self.compared, Compared::AsWhole(_)) { "" } else { &self.text }
    }

    fn new(text: &str, compared: Compared) -> Self {
        Self { text: Arc::from(text), compared, earlier_turns: 0, has_tool_turns: false }
    }
}

// === embeddings and completions ===

fn embedded(body: &Json<'_>) -> Result<Question, Refusal> {
    match body.get("input") {
        Some(Json::String(text)) if text.is_empty() => {
            Ok(Question::new("", Compared::AsWhole(WhyNotShared::NoQuestion)))
        }
        Some(Json::String(text)) => Ok(Question::new(text, Compared::Literally)),
        Some(input @ Json::Array(elements)) if !elements.is_empty() => {
            check_texts("input", elements)?;
            Ok(Question::new(&json::canonical(input), Compared::AsWhole(WhyNotShared::NoQuestion)))
        }
        Some(Json::Array(_)) => Err(invalid("input", "must not be empty")),
        // Some servers embed a conversation.
        None | Some(Json::Null) => match body.get("messages") {
            Some(messages) => {
                Ok(Question::new(&json::canonical(messages), Compared::AsWhole(WhyNotShared::NoQuestion)))
            }
            None => Err(invalid("input", "is required")),
        },
        Some(other) => Err(wrong_type("input", "a string or an array", other)),
    }
}

fn prompted(body: &mut Json<'_>, reveals_prompt: bool) -> Result<Question, Refusal> {
    let as_whole = Compared::AsWhole(WhyNotShared::NoQuestion);
    match body.get("prompt") {
        Some(Json::String(text)) if text.trim().is_empty() || reveals_prompt => Ok(Question::new(text, as_whole)),
        Some(Json::String(_)) => Ok(Question::new(&blank(body, "prompt"), Compared::Apart)),
        Some(prompt @ Json::Array(elements)) => {
            check_texts("prompt", elements)?;
            Ok(Question::new(&json::canonical(prompt), as_whole))
        }
        None | Some(Json::Null) => match body.get("prompt_embeds") {
            Some(_) => Ok(Question::new("", as_whole)),
            None => Err(invalid("prompt", "is required")),
        },
        Some(other) => Err(wrong_type("prompt", "a string or an array", other)),
    }
}

/// Texts, token numbers, or lists of token numbers.
fn check_texts(field: &str, elements: &[Json<'_>]) -> Result<(), Refusal> {
    for (index, element) in elements.iter().enumerate() {
        match element {
            Json::String(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {}
            other => return Err(wrong_type(&format!("{field}[{index}]"), "a string or token numbers", other)),
        }
    }
    Ok(())
}

// === chat ===

fn chatted(body: &mut Json<'_>, reveals_prompt: bool) -> Result<Question, Refusal> {
    let Some(messages) = array(body, "messages")? else { return Err(invalid("messages", "is required")) };
    if messages.is_empty() {
        return Err(invalid("messages", "must not be empty"));
    }
    let mut turns = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        turns.push(Turn::read(index, message)?);
    }
    let has_tool_turns = turns.iter().any(|turn| turn.speaker == Speaker::Tool);
    let has_media = turns.iter().any(|turn| turn.has_media);
    let last = turns.len() - 1;
    let earlier_turns = turns[..last].iter().filter(|turn| turn.speaker != Speaker::Instruction).count();
    let is_question = turns[last].speaker == Speaker::User && turns[last].has_text;
    let compared = match (has_media, is_question && !reveals_prompt) {
        (true, _) => Compared::AsWhole(WhyNotShared::Parameters),
        (false, true) => Compared::Apart,
        (false, false) if has_tool_turns || reveals_prompt => Compared::AsWhole(WhyNotShared::Parameters),
        (false, false) => Compared::AsWhole(WhyNotShared::NoQuestion),
    };
    let text = match compared {
        Compared::Apart => take_last_text(body),
        Compared::AsWhole(_) | Compared::Literally => json::canonical(&Json::Array(messages.to_vec())),
    };
    Ok(Question { text: Arc::from(text), compared, earlier_turns, has_tool_turns })
}

/// What one message is.
struct Turn {
    speaker: Speaker,
    has_text: bool,
    /// Images, audio, files: whatever is no text.
    has_media: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    /// System or developer.
    Instruction,
    /// A tool's result, or an assistant calling tools.
    Tool,
    Other,
}

// === impl Turn ===

impl Turn {
    fn read(index: usize, message: &Json<'_>) -> Result<Self, Refusal> {
        let field = format!("messages[{index}]");
        if !matches!(message, Json::Object(_)) {
            return Err(wrong_type(&field, "an object", message));
        }
        let role = match message.get("role") {
            Some(Json::String(role)) if !role.is_empty() => role.as_ref(),
            Some(Json::String(_)) => return Err(invalid(&format!("{field}.role"), "must not be empty")),
            Some(other) => return Err(wrong_type(&format!("{field}.role"), "a string", other)),
            None => return Err(invalid(&format!("{field}.role"), "is required")),
        };
        let calls = ["tool_calls", "function_call"].iter().any(|key| message.get(key).is_some_and(|c| !c.is_null()));
        let (has_text, has_media) = content(&format!("{field}.content"), message.get("content"))?;
        let speaker = match role {
            "tool" | "function" => Speaker::Tool,
            _ if calls => Speaker::Tool,
            "user" => Speaker::User,
            "system" | "developer" => Speaker::Instruction,
            _ => Speaker::Other,
        };
        Ok(Self { speaker, has_text, has_media })
    }
}

/// Whether there is text in a content, and whether there is anything else.
fn content(field: &str, content: Option<&Json<'_>>) -> Result<(bool, bool), Refusal> {
    match content {
        None | Some(Json::Null) => Ok((false, false)),
        Some(Json::String(text)) => Ok((!text.trim().is_empty(), false)),
        Some(Json::Array(parts)) => {
            let (mut has_text, mut has_media) = (false, false);
            for (index, part) in parts.iter().enumerate() {
                match part_text(&format!("{field}[{index}]"), part)? {
                    Some(text) => has_text |= !text.trim().is_empty(),
                    None => has_media = true,
                }
            }
            Ok((has_text, has_media))
        }
        Some(other) => Err(wrong_type(field, "a string, an array of parts or null", other)),
    }
}

/// The text of a text part; `None` for a part of another kind.
fn part_text<'b>(field: &str, part: &'b Json<'_>) -> Result<Option<&'b str>, Refusal> {
    match (part, part.get("type")) {
        (Json::Object(_), Some(Json::String(kind))) if kind == "text" => match part.get("text") {
            Some(Json::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(&format!("{field}.text"), "a string", other)),
            None => Err(invalid(&format!("{field}.text"), "is required")),
        },
        (Json::Object(_), Some(Json::String(_))) => Ok(None),
        (Json::Object(_), Some(other)) => Err(wrong_type(&format!("{field}.type"), "a string", other)),
        (Json::Object(_), None) => Err(invalid(&format!("{field}.type"), "is required")),
        (other, _) => Err(wrong_type(field, "an object", other)),
    }
}

/// Takes the text out of the last message and leaves its shape: several parts are not one text, since
/// servers join them differently. One plain part is the same as a plain string.
fn take_last_text(body: &mut Json<'_>) -> String {
    let messages = member(body, "messages").map(|member| &mut member.value);
    let Some(Json::Array(messages)) = messages else { return String::new() };
    let Some(content) = messages.last_mut().and_then(|message| member(message, "content")) else {
        return String::new();
    };
    match &mut content.value {
        Json::Array(parts) => {
            let is_plain = parts.len() == 1 && parts[0].members().len() == 2;
            let texts: Vec<String> = parts.iter_mut().map(|part| blank(part, "text")).collect();
            if is_plain {
                content.value = Json::Null;
            }
            texts.join("\n")
        }
        text => match std::mem::replace(text, Json::Null) {
            Json::String(text) => text.into_owned(),
            _ => String::new(),
        },
    }
}

/// Takes a string out of an object and leaves `null` in its place.
fn blank(object: &mut Json<'_>, key: &str) -> String {
    match member(object, key).map(|member| std::mem::replace(&mut member.value, Json::Null)) {
        Some(Json::String(text)) => Cow::into_owned(text),
        _ => String::new(),
    }
}

fn member<'b, 'a>(object: &'b mut Json<'a>, key: &str) -> Option<&'b mut Member<'a>> {
    match object {
        Json::Object(members) => members.iter_mut().find(|member| member.key == key),
        _ => None,
    }
}
