//! A credential that cannot be printed by accident.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// An API key or token from the configuration. `Debug` and `Serialize` show only whether there is one, so
/// it cannot reach a log, the admin page or a printed configuration; [`Secret::expose`] is the one way out.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// What is shown in place of a secret.
const MASK: &str = "***";

// === impl Secret ===

impl Secret {
    /// Wraps a credential; the empty text means that none is set.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether one is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.0.is_empty()
    }

    /// The credential itself, to be sent to whom it belongs and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `given` is this credential. False if none is set. The time taken depends on the lengths only,
    /// so the right bytes cannot be guessed one by one.
    #[must_use]
    pub fn matches(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differing = own.iter().zip(given).fold(0, |bits, (a, b)| bits | (a ^ b));
        self.is_set() && own.len() == given.len() && differing == 0
    }

    fn shown(&self) -> &'static str {
        if self.is_set() { MASK } else { "" }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::new("sk-very-private");
        assert_eq!(format!("{secret:?}"), r#""***""#);
        assert_eq!(serde_json::to_string(&secret).unwrap(), r#""***""#);
        assert_eq!(serde_json::to_string(&Secret::default()).unwrap(), r#""""#);
    }

    #[test]
    fn only_the_very_same_bytes_match() {
        let secret = Secret::new("token");
        assert!(secret.matches(b"token"));
        for wrong in [&b"tokem"[..], b"toke", b"token2", b""] {
            assert!(!secret.matches(wrong));
        }
        assert!(!Secret::default().matches(b""), "no token set means nobody has it");
    }
}
