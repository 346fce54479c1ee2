//! Typed reading of request fields. `null` is as good as absent; a wrong type names its field.

use crate::domain::{MaxTokens, Refusal, ReplyMode, Route};
use crate::wire::json::{Json, Number};

/// The parameters that Weir itself looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knobs {
    pub(super) mode: ReplyMode,
    pub(super) max_tokens: Option<MaxTokens>,
    /// Temperature above 0.
    pub(super) is_sampled: bool,
    /// `seed`, `n` > 1, `logprobs`, tools, audio: only the very same request is the same.
    pub(super) is_particular: bool,
    /// The reply repeats the prompt, so even a blank more in it would show.
    pub(super) reveals_prompt: bool,
}

/// A refusal that names a field or header.
pub(super) fn invalid(field: &str, complaint: &str) -> Refusal {
    Refusal::Invalid { field: Some(field.to_owned()), message: format!("`{field}` {complaint}") }
}

/// The model that the request names.
pub(super) fn model<'b>(body: &'b Json<'_>) -> Result<&'b str, Refusal> {
    match string(body, "model")? {
        None => Err(invalid("model", "is required")),
        Some("") => Err(invalid("model", "must not be empty")),
        Some(model) => Ok(model),
    }
}

// === impl Knobs ===

impl Knobs {
    pub(super) fn read(route: Route, body: &Json<'_>) -> Result<Self, Refusal> {
        let temperature = number(body, "temperature")?;
        check_stop(body)?;
        Ok(Self {
            mode: mode(route, body)?,
            max_tokens: max_tokens(body)?,
            is_sampled: temperature.is_some_and(|temperature| temperature.as_f64() > 0.0),
            is_particular: is_particular(body)?,
            reveals_prompt: ["echo", "prompt_logprobs", "return_token_ids"].iter().any(|key| is_on(body, key)),
        })
    }
}

fn mode(route: Route, body: &Json<'_>) -> Result<ReplyMode, Refusal> {
    let streams = boolean(body, "stream")?.unwrap_or(false);
    let options = object(body, "stream_options")?;
    if !streams || route == Route::Embeddings {
        return Ok(ReplyMode::Whole);
    }
    let include_usage = match options.and_then(|options| options.get("include_usage")) {
        None | Some(Json::Null) => false,
        Some(Json::Bool(wanted)) => *wanted,
        Some(other) => return Err(wrong_type("stream_options.include_usage", "a boolean", other)),
    };
    // The founding reply tells the usage at its end, in either form.
    Ok(ReplyMode::Stream { include_usage: include_usage || route == Route::Ai })
}

fn max_tokens(body: &Json<'_>) -> Result<Option<MaxTokens>, Refusal> {
    let older = whole(body, "max_tokens")?;
    let newer = whole(body, "max_completion_tokens")?;
    // Some servers read a negative number as "no cap".
    let cap = newer.or(older).filter(|cap| *cap >= 0);
    Ok(cap.map(|cap| MaxTokens(u32::try_from(cap).unwrap_or(u32::MAX))))
}

fn is_particular(body: &Json<'_>) -> Result<bool, Refusal> {
    let several = whole(body, "n")?.is_some_and(|n| n != 1);
    // Seeds may need all 64 bits; their value is in the Scope.
    let seeded = number(body, "seed")?.is_some();
    let tools = array(body, "tools")?.is_some_and(|tools| !tools.is_empty());
    let functions = array(body, "functions")?.is_some_and(|functions| !functions.is_empty());
    let switches = ["logprobs", "top_logprobs", "prompt_logprobs", "audio"].iter().any(|key| is_on(body, key));
    let modalities = array(body, "modalities")?.unwrap_or_default();
    let speaks = modalities.iter().any(|modality| modality.as_str() != Some("text"));
    Ok(several || seeded || tools || functions || switches || speaks)
}

/// Whether a switch of any type is set: not absent, `null` or `false`.
fn is_on(body: &Json<'_>, key: &str) -> bool {
    !matches!(body.get(key), None | Some(Json::Null | Json::Bool(false)))
}

fn check_stop(body: &Json<'_>) -> Result<(), Refusal> {
    match body.get("stop") {
        None | Some(Json::Null | Json::String(_)) => Ok(()),
        Some(Json::Array(stops)) => match stops.iter().enumerate().find(|(_, stop)| stop.as_str().is_none()) {
            Some((index, stop)) => Err(wrong_type(&format!("stop[{index}]"), "a string", stop)),
            None => Ok(()),
        },
        Some(other) => Err(wrong_type("stop", "a string or an array of strings", other)),
    }
}

// === one field ===

pub(super) fn wrong_type(field: &str, wanted: &str, got: &Json<'_>) -> Refusal {
    invalid(field, &format!("must be {wanted}, not {}", got.kind()))
}

/// A field that is neither absent nor `null`.
fn given<'b, 'a>(body: &'b Json<'a>, key: &str) -> Option<&'b Json<'a>> {
    body.get(key).filter(|value| !value.is_null())
}

pub(super) fn string<'b>(body: &'b Json<'_>, key: &str) -> Result<Option<&'b str>, Refusal> {
    let Some(value) = given(body, key) else { return Ok(None) };
    value.as_str().map(Some).ok_or_else(|| wrong_type(key, "a string", value))
}

pub(super) fn boolean(body: &Json<'_>, key: &str) -> Result<Option<bool>, Refusal> {
    match given(body, key) {
        None => Ok(None),
        Some(Json::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(wrong_type(key, "a boolean", other)),
    }
}

pub(super) fn number<'a>(body: &Json<'a>, key: &str) -> Result<Option<Number<'a>>, Refusal> {
    match given(body, key) {
        None => Ok(None),
        Some(Json::Number(number)) => Ok(Some(*number)),
        Some(other) => Err(wrong_type(key, "a number", other)),
    }
}

pub(super) fn whole(body: &Json<'_>, key: &str) -> Result<Option<i64>, Refusal> {
    let Some(number) = number(body, key)? else { return Ok(None) };
    number.as_i64().map(Some).ok_or_else(|| invalid(key, "must be a whole number"))
}

pub(super) fn array<'b, 'a>(body: &'b Json<'a>, key: &str) -> Result<Option<&'b [Json<'a>]>, Refusal> {
    match given(body, key) {
        None => Ok(None),
        Some(Json::Array(elements)) => Ok(Some(elements)),
        Some(other) => Err(wrong_type(key, "an array", other)),
    }
}

fn object<'b, 'a>(body: &'b Json<'a>, key: &str) -> Result<Option<&'b Json<'a>>, Refusal> {
    match given(body, key) {
        None => Ok(None),
        Some(value @ Json::Object(_)) => Ok(Some(value)),
        Some(other) => Err(wrong_type(key, "an object", other)),
    }
}
