//! The tiers of the matcher, cheapest and surest first.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Score;

/// How two questions were found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Equal normalised text: the MD5 fingerprint, confirmed against the text.
    Exact,
    /// Equal token sequences once width, case, punctuation and politeness are folded.
    Canonical,
    /// TF-IDF cosine over segmented tokens.
    Lexical,
    /// Cosine of sentence embeddings.
    Semantic,
}

/// Two questions that may share one answer: the tier that proposed it and its similarity. A value
/// of this type exists only after the guard has agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The tier that found it.
    pub tier: Tier,
    /// Its similarity; 1 for exact and canonical.
    pub score: Score,
}

// === impl Tier ===

impl Tier {
    /// All tiers, in the order in which they are asked.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Canonical, Self::Lexical, Self::Semantic];

    /// The metric label and the word used in headers and configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Canonical => "canonical",
            Self::Lexical => "lexical",
            Self::Semantic => "semantic",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl Match ===

impl Match {
    /// Equal normalised text.
    pub const EXACT: Self = Self { tier: Tier::Exact, score: Score::ONE };
    /// Equal canonical token sequence.
    pub const CANONICAL: Self = Self { tier: Tier::Canonical, score: Score::ONE };
}
