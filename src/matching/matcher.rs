//! The tiers, in order of certainty.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::{Match, Score, Tier};
use crate::text::Lexicon;

use super::{Features, Verdict, guard};

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

// === impl MatchPolicy ===

impl MatchPolicy {
    /// Equal normalised texts only.
    pub const EXACT_ONLY: Self = Self { canonical: false, lexical: None, semantic: None };
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

    pub(super) fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// The features of a question.
    #[must_use]
    pub fn features(&self, text: &str) -> Features {
        Features::new(&self.lexicon, text)
    }

    /// Asks the tiers in order; the first that proposes decides which tier is named, the guard decides whether
    /// the two may share. Symmetric in its two questions; equal normalised texts are always [`Match::EXACT`].
    #[must_use]
    pub fn compare(&self, policy: &MatchPolicy, asked: &Features, stored: &Features) -> Verdict {
        if asked.fingerprint() == stored.fingerprint() && asked.normal() == stored.normal() {
            return Verdict::Same(Match::EXACT);
        }
        let Some(Match { tier, score }) = propose(policy, asked, stored) else { return Verdict::Different };
        match guard::judge(asked.reading(), stored.reading()) {
            Ok(()) => Verdict::Same(Match { tier, score }),
            Err(reason) => Verdict::Vetoed { tier, score, reason },
        }
    }
}

/// The surest tier that finds two questions alike enough. The guard asks no tier for its opinion, so the tiers
/// below it need no asking once one has proposed.
fn propose(policy: &MatchPolicy, asked: &Features, stored: &Features) -> Option<Match> {
    if policy.canonical && asked.canonical() == stored.canonical() {
        return Some(Match::CANONICAL);
    }
    if let Some(least) = policy.lexical {
        let score = asked.terms().cosine(stored.terms());
        if score >= least {
            return Some(Match { tier: Tier::Lexical, score });
        }
    }
    let (least, asked, stored) = (policy.semantic?, asked.embedding()?, stored.embedding()?);
    let score = asked.cosine(stored);
    (score >= least).then_some(Match { tier: Tier::Semantic, score })
}
