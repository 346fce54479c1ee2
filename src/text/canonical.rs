//! The key of the canonical tier.

use std::fmt;

/// A question as the sequence of its words, once width, foldable case, foldable punctuation, politeness
/// and labelled request ids are gone. Equal forms are the same question; a sequence, never a bag.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalForm(Box<str>);

// === impl CanonicalForm ===

impl CanonicalForm {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The form as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CanonicalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
