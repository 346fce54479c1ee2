//! May these two questions share one answer? Tiers propose, the guard decides.
//!
//! Pure: no clock, no I/O, no HTTP. The same `compare` serves the cache, the window and the late join.

pub mod detect;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::domain::{Match, Score, Tier};
use crate::vector::Embedding;

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

/// Everything the tiers want to know about one question. The dearer parts are made when first asked for,
/// so that an exact hit pays for none of them.
#[derive(Debug)]
pub struct Features {
    text: Box<str>,
    embedding: OnceLock<Embedding>,
}

/// What `compare` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// May share.
    Same(Match),
    /// No tier proposed it.
    Different,
    /// A tier proposed it and the guard refused.
    Vetoed {
        /// The tier that proposed it.
        tier: Tier,
        /// How similar it looked.
        score: Score,
        /// The guard's reason.
        reason: Veto,
    },
}

/// The guard's reasons; also the label of `weir_guard_vetoes_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Veto {
    /// Numbers differ.
    Number,
}

/// Makes features and compares them.
#[derive(Debug, Default)]
pub struct Matcher {}

// === impl Features ===

impl Features {
    /// The question as it was asked.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The sentence embedding, once somebody has made it.
    #[must_use]
    pub fn embedding(&self) -> Option<&Embedding> {
        self.embedding.get()
    }

    /// Adds the sentence embedding; the first one stays.
    pub fn set_embedding(&self, embedding: Embedding) {
        let _ = self.embedding.set(embedding);
    }
}

// === impl Matcher ===

impl Matcher {
    /// The features of a question.
    #[must_use]
    pub fn features(&self, text: &str) -> Features {
        Features { text: text.into(), embedding: OnceLock::new() }
    }

    /// Asks the tiers in order; the first that proposes and passes the guard wins. Symmetric in its
    /// two questions; equal texts are always [`Match::EXACT`].
    #[must_use]
    pub fn compare(&self, _policy: &MatchPolicy, asked: &Features, stored: &Features) -> Verdict {
        if asked.text == stored.text { Verdict::Same(Match::EXACT) } else { Verdict::Different }
    }
}
