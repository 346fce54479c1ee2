//! Retells a stored answer in the form that its next caller wants.
//!
//! The invariant: whatever the form, every choice says the same, byte for byte, and no field that
//! the upstream sent is lost, known to us or not. An answer asked for in its own form goes out as
//! it came, except for a usage event that its caller did not ask for.

mod assemble;
mod disassemble;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::domain::{Answer, Form, Head, ReplyMode};

use super::sse;

pub use assemble::assemble;
pub use disassemble::disassemble;

/// Bytes that cannot be retold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// Not JSON, or not an object with choices.
    #[error("the stored answer is not of a shape that can be retold")]
    Shape,
    /// No such response exists as a stream.
    #[error("this answer has no stream form")]
    NoStream,
}

/// The head and the parts of a stored answer for a caller in that mode.
pub fn retell(answer: &Answer, mode: ReplyMode) -> Result<(Head, Vec<Bytes>), ConvertError> {
    let parts = match (answer.head.form, mode) {
        (Form::Whole, ReplyMode::Whole) => answer.parts.clone(),
        (Form::Stream, ReplyMode::Stream { include_usage }) => {
            answer.parts.iter().filter_map(|event| for_caller(event, include_usage)).collect()
        }
        (Form::Stream, ReplyMode::Whole) => vec![assemble(&answer.parts)?],
        (Form::Whole, ReplyMode::Stream { include_usage }) => disassemble(&answer.parts.concat(), include_usage)?,
    };
    let form = match mode {
        ReplyMode::Whole => Form::Whole,
        ReplyMode::Stream { .. } => Form::Stream,
    };
    Ok((in_form(&answer.head, form), parts))
}

/// A head that announces the other form: its `content-type` changes, all else stays.
#[must_use]
pub fn in_form(head: &Head, form: Form) -> Head {
    let mut head = head.clone();
    if head.form == form {
        return head;
    }
    let content_type: &'static [u8] = match form {
        Form::Whole => b"application/json",
        Form::Stream => b"text/event-stream",
    };
    head.form = form;
    head.headers.retain(|(name, _)| name != "content-type");
    head.headers.push(("content-type".to_owned(), Bytes::from_static(content_type)));
    head
}

/// One event of a stream as its caller should see it: `None` for the usage event that only we asked
/// for; a usage event without `choices` gets an empty list, which strict clients need; any other
/// event unchanged.
#[must_use]
pub fn for_caller(event: &Bytes, include_usage: bool) -> Option<Bytes> {
    let Some(choices) = usage_event(event) else { return Some(event.clone()) };
    match (include_usage, choices) {
        (false, _) => None,
        (true, Choices::Empty) => Some(event.clone()),
        (true, Choices::Absent) => Some(with_choices(event)),
    }
}

enum Choices {
    Empty,
    Absent,
}

/// Whether the event brings usage and no choice. Most events bring a choice, so a search for the
/// word spares them the parser.
fn usage_event(event: &[u8]) -> Option<Choices> {
    #[derive(serde::Deserialize)]
    struct View<'a> {
        #[serde(borrow)]
        choices: Option<Vec<&'a RawValue>>,
        usage: Option<serde::de::IgnoredAny>,
    }
    memchr::memmem::find(event, b"\"usage\"")?;
    let data = sse::data(event)?;
    let view: View<'_> = serde_json::from_slice(&data).ok()?;
    view.usage?;
    match view.choices {
        None => Some(Choices::Absent),
        Some(choices) if choices.is_empty() => Some(Choices::Empty),
        Some(_) => None,
    }
}

fn with_choices(event: &Bytes) -> Bytes {
    let Some(data) = sse::data(event) else { return event.clone() };
    let empty: Option<Box<RawValue>> = RawValue::from_string("[]".to_owned()).ok();
    let spliced = empty.and_then(|empty| super::splice::set(&data.into_owned().into(), &["choices"], &empty).ok());
    spliced.map_or_else(|| event.clone(), |json| sse::event(&json))
}

#[cfg(test)]
mod tests;
