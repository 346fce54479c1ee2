//! Takes keys out of what an upstream says when it is unhappy.
//!
//! Servers like to repeat the key that they refuse, and the key may be the operator's. Every body and
//! header of a response that is not a success goes through here. It works on a stream: the last bytes of
//! a chunk are held back as long as they may be the beginning of a key.

use bytes::{Bytes, BytesMut};
use memchr::memmem;

/// Shorter texts are no keys, and replacing them would garble the message.
const SHORTEST: usize = 6;
const MASK: &[u8] = b"[redacted]";

/// Replaces a few secrets in a body that comes in chunks.
#[derive(Default)]
pub struct Scrubber {
    /// Longest first, so that a key within a key leaves nothing behind.
    secrets: Vec<Vec<u8>>,
    held: BytesMut,
}

// === impl Scrubber ===

impl Scrubber {
    /// A scrubber of these secrets.
    pub fn new(secrets: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets, held: BytesMut::new() }
    }

    /// What of the body so far can be passed on.
    pub fn push(&mut self, chunk: &Bytes) -> Bytes {
        if self.secrets.is_empty() {
            return chunk.clone();
        }
        self.held.extend_from_slice(chunk);
        let clean = self.scrub(&self.held);
        let safe = clean.len() - self.open_end(&clean);
        self.held = BytesMut::from(&clean[safe..]);
        Bytes::copy_from_slice(&clean[..safe])
    }

    /// What was held back, once the body is complete.
    pub fn finish(&mut self) -> Bytes {
        std::mem::take(&mut self.held).freeze()
    }

    /// A complete text without the secrets.
    #[must_use]
    pub fn scrub(&self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for secret in &self.secrets {
            let mut from = 0;
            while let Some(at) = memmem::find(&text[from..], secret) {
                text.splice(from + at..from + at + secret.len(), MASK.iter().copied());
                from += at + MASK.len();
            }
        }
        text
    }

    /// How many bytes at the end may be the beginning of a secret.
    fn open_end(&self, text: &[u8]) -> usize {
        let longest = |secret: &Vec<u8>| {
            (1..secret.len().min(text.len() + 1)).rev().find(|&len| text.ends_with(&secret[..len])).unwrap_or(0)
        };
        self.secrets.iter().map(longest).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(secrets: &[&str], chunks: &[&str]) -> String {
        let mut scrubber = Scrubber::new(secrets.iter().map(|s| s.as_bytes().to_vec()));
        let mut out = Vec::new();
        for chunk in chunks {
            out.extend_from_slice(&scrubber.push(&Bytes::copy_from_slice(chunk.as_bytes())));
        }
        out.extend_from_slice(&scrubber.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_key_is_gone_wherever_the_chunks_are_cut() {
        let text = "Incorrect key sk-operator-1 (not sk-operator-2).";
        for cut in 0..text.len() {
            let (a, b) = text.split_at(cut);
            let expected = "Incorrect key [redacted] (not sk-operator-2).";
            assert_eq!(scrubbed(&["sk-operator-1"], &[a, b]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_unfinished_key_at_the_end_is_still_delivered() {
        assert_eq!(scrubbed(&["sk-operator-1"], &["key sk-op", "er"]), "key sk-oper");
    }

    #[test]
    fn a_key_within_a_key_leaves_nothing_behind() {
        assert_eq!(scrubbed(&["secret-key", "secret-key-long"], &["x secret-key-long y"]), "x [redacted] y");
    }

    #[test]
    fn a_key_that_looks_like_the_mask_ends_too() {
        assert_eq!(scrubbed(&["redacted"], &["x redacted y"]), "x [redacted] y");
    }

    #[test]
    fn texts_too_short_for_a_key_stay() {
        assert_eq!(scrubbed(&["a", ""], &["a banana"]), "a banana");
    }
}
