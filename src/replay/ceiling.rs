//! What the best possible sharer of equal requests would need: the bar that sharing by meaning must pass.

use std::collections::HashSet;

use serde::Serialize;

use super::Entry;

/// The figures of a sharer that keeps every answer for ever, answers a request if an earlier one had the very
/// same path, headers and body bytes, and is never wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ceiling {
    /// Inferences it makes: the different requests of the file.
    pub inferences: usize,
    /// Of all requests, the share it answers without an inference, 0..=1.
    pub saved: f64,
}

// === impl Ceiling ===

impl Ceiling {
    /// Counts the different requests.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Self {
        let different: HashSet<_> = entries.iter().map(|entry| (&entry.path, &entry.headers, entry.body())).collect();
        let saved = 1.0 - different.len() as f64 / entries.len().max(1) as f64;
        Self { inferences: different.len(), saved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_equal_in_path_headers_and_bytes_are_shared() {
        let lines = [
            r#"{"at_ms":0,"path":"/a","body":{"p":1},"group":"g"}"#,
            r#"{"at_ms":9,"path":"/a","body":{"p":1},"group":"g"}"#,
            r#"{"at_ms":0,"path":"/a","body":{"p": 1},"group":"g"}"#,
            r#"{"at_ms":0,"path":"/a","headers":{"x":"1"},"body":{"p":1},"group":"g"}"#,
            r#"{"at_ms":0,"path":"/b","body":{"p":1},"group":"g"}"#,
        ];
        let ceiling = Ceiling::of(&super::super::read(lines.join("\n").as_bytes()).unwrap());
        assert_eq!(ceiling.inferences, 4);
        assert!((ceiling.saved - 0.2).abs() < 1e-9);
    }
}
