//! The mark that every simulated answer begins with: whose prompt made it, and which call it was.

use std::fmt;

/// The first 64 bits of the BLAKE3 hash of a prompt: every turn with its role, byte for byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptDigest(pub u64);

/// `[sim q=0123456789abcdef n=42]`. Contains nothing that JSON would escape, so it can be found in any reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The prompt that made the answer.
    pub prompt: PromptDigest,
    /// The number of the inference, from 1. No two answers share it.
    pub call: u64,
}

const OPEN: &str = "[sim q=";

// === impl PromptDigest ===

impl fmt::Display for PromptDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for PromptDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

// === impl Tag ===

impl Tag {
    /// The first tag in a text.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(OPEN)?;
        let (inside, _) = rest.split_once(']')?;
        let (prompt, call) = inside.split_once(" n=")?;
        Some(Self { prompt: PromptDigest(u64::from_str_radix(prompt, 16).ok()?), call: call.parse().ok()? })
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPEN}{} n={}]", self.prompt, self.call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_again_in_a_text() {
        let tag = Tag { prompt: PromptDigest(0x00ab_cdef_0123_4567), call: 42 };
        assert_eq!(tag.to_string(), "[sim q=00abcdef01234567 n=42]");
        assert_eq!(Tag::find(&format!("answer: {tag} and more ]")), Some(tag));
    }

    #[test]
    fn a_text_without_a_whole_tag_has_none() {
        for text in ["", "[sim q=12", "[sim q=xyz n=1]", "[sim q=12 n=]", "[sim q=12]"] {
            assert_eq!(Tag::find(text), None, "{text}");
        }
    }
}
