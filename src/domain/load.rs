//! What the backend says of itself.

use std::fmt;

use super::Score;

/// The idle fraction of the GPU: 1 = nothing to do, 0 = saturated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GpuIdle(pub Score);

/// The load of the backend, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// No source, or none that is fresh: work is metered and never refused.
    Unknown,
    /// A fresh reading.
    Known {
        /// 1 - max(KV use, running/slots, 1 if anything waits); the mean over fresh backends.
        idle: GpuIdle,
        /// Requests waiting inside the backends, summed.
        waiting: u32,
        /// Requests running inside the backends, summed.
        running: u32,
    },
}

/// The same as a bounded metric label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadState {
    /// No source is configured or was found.
    Unknown,
    /// A source exists, but its last reading is too old.
    Stale,
    /// Fresh readings.
    Fresh,
}

// === impl LoadState ===

impl LoadState {
    /// All states, for metrics.
    pub const ALL: [Self; 3] = [Self::Unknown, Self::Stale, Self::Fresh];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Stale => "stale",
            Self::Fresh => "fresh",
        }
    }
}

impl fmt::Display for LoadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
