//! What the comparison of two questions found.

use crate::domain::{Match, Score, Tier};

use super::Veto;

/// What `compare` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// May share.
    Same(Match),
    /// No tier proposed it.
    Different,
    /// A tier proposed it and the guard refused.
    Vetoed {
        /// The surest tier that proposed it.
        tier: Tier,
        /// How similar it looked to that tier.
        score: Score,
        /// The guard's reason.
        reason: Veto,
    },
}

// === impl Verdict ===

impl Verdict {
    /// The match, if the two may share.
    #[must_use]
    pub fn matched(self) -> Option<Match> {
        if let Self::Same(found) = self { Some(found) } else { None }
    }
}
