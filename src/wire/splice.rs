//! Changes one named spot of a JSON document in its own bytes.
//!
//! A body goes upstream as the caller wrote it. Where Weir must change a value, only the bytes of
//! that value change: white space, key order, number spellings and unknown fields stay, which
//! writing the document anew would not promise.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::json::{self, Json, Problem};

/// The document cannot be spliced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    /// It is not the JSON that we accept.
    #[error(transparent)]
    Json(#[from] Problem),
    /// A value on the way to the spot is no object.
    #[error("{0} is not an object")]
    NotAnObject(String),
}

/// Asks a streaming request for its usage: `stream_options.include_usage = true`. Without a copy if
/// it asks already.
pub fn include_usage(body: &Bytes) -> Result<Bytes, SpliceError> {
    let root = json::parse(body)?;
    if root.get("stream_options").and_then(|options| options.get("include_usage")) == Some(&Json::Bool(true)) {
        return Ok(body.clone());
    }
    set_in(&root, body, &["stream_options", "include_usage"], "true")
}

/// Replaces the value at `path`, or adds it where it is missing; a `null` on the way becomes an
/// object. An empty path changes nothing.
pub fn set(body: &Bytes, path: &[&str], value: &RawValue) -> Result<Bytes, SpliceError> {
    set_in(&json::parse(body)?, body, path, value.get())
}

/// The same for a string, such as another model's name.
pub fn set_string(body: &Bytes, path: &[&str], value: &str) -> Result<Bytes, SpliceError> {
    set_in(&json::parse(body)?, body, path, &serde_json::Value::from(value).to_string())
}

/// The same for a whole number, such as a cap on tokens.
pub fn set_number(body: &Bytes, path: &[&str], value: u64) -> Result<Bytes, SpliceError> {
    set_in(&json::parse(body)?, body, path, &value.to_string())
}

fn set_in(root: &Json<'_>, body: &Bytes, path: &[&str], value: &str) -> Result<Bytes, SpliceError> {
    let mut here = root;
    let mut span = 0..body.len();
    for (depth, key) in path.iter().enumerate() {
        let Json::Object(members) = here else {
            return Err(SpliceError::NotAnObject(path[..depth].join(".")));
        };
        let Some(member) = members.iter().find(|member| member.key == *key) else {
            return Ok(insert(body, span.start, members.is_empty(), &nested(&path[depth..], value)));
        };
        if member.value.is_null() || depth + 1 == path.len() {
            let rest = &path[depth + 1..];
            let new = if rest.is_empty() { value.to_owned() } else { format!("{{{}}}", nested(rest, value)) };
            return Ok([&body[..member.span.start], new.as_bytes(), &body[member.span.end..]].concat().into());
        }
        (here, span) = (&member.value, member.span.clone());
    }
    Ok(body.clone())
}

/// `"a":{"b":value}` for the path a, b.
fn nested(path: &[&str], value: &str) -> String {
    let Some((key, rest)) = path.split_first() else { return value.to_owned() };
    let key = serde_json::Value::from(*key);
    if rest.is_empty() { format!("{key}:{value}") } else { format!("{key}:{{{}}}", nested(rest, value)) }
}

/// Puts a member first into the object that begins at or, behind white space, after `from`.
fn insert(body: &Bytes, from: usize, into_empty: bool, member: &str) -> Bytes {
    let brace = body[from..].iter().position(|byte| *byte == b'{').map_or(from, |found| from + found);
    let comma: &[u8] = if into_empty { b"" } else { b"," };
    [&body[..=brace], member.as_bytes(), comma, &body[brace + 1..]].concat().into()
}

#[cfg(test)]
mod tests;
