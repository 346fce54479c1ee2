//! Strict JSON of a request, and its canonical form for keys.
//!
//! A request is read by us and again by the upstream, and both must see the same thing. So what two
//! readers could understand differently is refused: a key given twice, bytes that are not UTF-8, a
//! byte order mark, anything behind the document, nesting without end. Why not `serde_json::Value`:
//! it keeps the last of two equal keys, rounds numbers beyond 64 bits and knows no positions, which
//! [`splice`](super::splice) needs. Strings are borrowed where they hold no escape.

mod canonical;
mod parse;

use std::borrow::Cow;
use std::ops::Range;

pub use canonical::canonical;
pub use parse::{Problem, ProblemKind, parse};

/// The deepest nesting accepted.
pub const MAX_DEPTH: usize = 128;

/// The most values accepted in one document. A body of nothing but `[],[],` takes up many times its
/// size once parsed; the largest batch of token numbers that engines take is far below this.
pub const MAX_VALUES: usize = 2_000_000;

/// A JSON value; objects keep the order of their keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was spelled.
    Number(Number<'a>),
    /// A string, without its escapes.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object; no key occurs twice.
    Object(Vec<Member<'a>>),
}

/// One entry of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// Its name, without escapes.
    pub key: Cow<'a, str>,
    /// Its value.
    pub value: Json<'a>,
    /// Where the value stands in the bytes that were parsed.
    pub span: Range<usize>,
}

/// A number in the spelling of its writer; finite as a 64-bit float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a>(&'a str);

// === impl Json ===

impl<'a> Json<'a> {
    /// The member of that name, if this is an object that has one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The members of an object; none for anything else.
    #[must_use]
    pub fn members(&self) -> &[Member<'a>] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; none for anything else.
    #[must_use]
    pub fn elements(&self) -> &[Json<'a>] {
        match self {
            Self::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// What it is, for an error message: `a string`, `an object`, …
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

// === impl Number ===

impl Number<'_> {
    /// As it was spelled.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0
    }

    /// The nearest float.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        // The parser has seen that it is a number; there is no other way to make one.
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// The whole number it stands for (`3`, `3.0` and `3e0` alike), if it fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        canonical::whole(self.0)
    }
}

#[cfg(test)]
mod tests;
