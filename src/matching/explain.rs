//! The same decision as `compare`, with its reasons: what each tier says, what differs, what the guard
//! makes of each difference.

use serde::Serialize;

use crate::domain::{Score, Tier};

use super::{MatchPolicy, Matcher};

/// What `weir explain` shows of two questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Each tier's opinion, in the order in which they are asked.
    pub tiers: Vec<TierReport>,
}

/// What one tier says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierReport {
    /// Which tier.
    pub tier: Tier,
    /// Similarity; `None` if there is none to give (no embedding).
    pub score: Option<Score>,
    /// Least similarity that the policy wants; `None` if the tier is off.
    pub threshold: Option<Score>,
}

// === impl Matcher ===

impl Matcher {
    /// What each tier and the guard say of two texts. `semantic` stands for the cosine of their
    /// embeddings; without it the semantic tier has no opinion.
    #[must_use]
    pub fn explain(&self, policy: &MatchPolicy, a: &str, b: &str, semantic: Option<Score>) -> Explanation {
        let _ = (policy, a, b, semantic);
        Explanation { tiers: Vec::new() }
    }
}
