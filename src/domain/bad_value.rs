//! A value of the configuration that cannot be.

use std::borrow::Cow;

/// Says which key of an engine's section is wrong and what is allowed; the configuration adds file, line and
/// the section's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct BadValue {
    /// The key within its section.
    pub key: Cow<'static, str>,
    /// What is allowed, as a lower-case fragment.
    pub reason: Cow<'static, str>,
}

// === impl BadValue ===

impl BadValue {
    /// Names the key and the rule that it breaks.
    pub fn new(key: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }
}
