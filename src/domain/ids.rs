//! Names and keys. Each is its own type, so that a tenant cannot be passed where a scope is meant.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Who asks, as a keyed hash of the credential; the credential itself is never kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tenant(pub [u8; 16]);

/// Everything that must be equal before two calls may share, as one 256-bit hash. Every store is
/// partitioned by it, so an answer of another scope cannot be found at all.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(pub [u8; 32]);

/// One upstream inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlightId(pub u64);

/// One stored answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub u64);

/// The name of a task type. Made only from the configuration, so metric labels stay bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskName(Arc<str>);

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

// === impl Tenant ===

impl Tenant {
    /// A caller without a credential.
    pub const ANONYMOUS: Self = Self([0; 16]);
}

/// Neither the hash nor the credential belongs in a log: even `Debug` says only who is anonymous.
impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::ANONYMOUS { "anonymous" } else { "known" })
    }
}

// === impl ScopeId ===

impl fmt::Debug for ScopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Full hexadecimal; this is the form that the purge API takes.
impl fmt::Display for ScopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

// === impl FlightId, EntryId ===

impl fmt::Display for FlightId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{:x}", self.0)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{:x}", self.0)
    }
}

// === impl TaskName ===

impl TaskName {
    /// A task name as the configuration spells it.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name as text, also the metric label.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
