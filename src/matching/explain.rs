//! The same decision as `compare`, with its reasons: what each tier says, what differs, what the guard
//! makes of each difference.

use serde::Serialize;

use crate::domain::{Score, Tier};
use crate::text::{Token, tokenise};

use super::guard::{self, Reading};
use super::{Features, MatchPolicy, Matcher, Verdict, Veto, align};

/// What `weir explain` shows of two questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The first question, step by step.
    pub a: Steps,
    /// The second question, step by step.
    pub b: Steps,
    /// Each tier's opinion, in the order in which they are asked.
    pub tiers: Vec<TierReport>,
    /// What differs between the canonical forms.
    pub differences: Vec<Difference>,
    /// The guard's reason against the pair; `None` if it has none.
    pub veto: Option<Veto>,
    /// Whether the two may share one answer.
    pub share: bool,
    /// The tier that decided.
    pub decided_by: Option<Tier>,
}

/// What is made of one question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps {
    /// The normalised text, the key of the exact tier.
    pub normal: String,
    /// The MD5 of it, in hexadecimal.
    pub fingerprint: String,
    /// The canonical form.
    pub canonical: String,
    /// What the guard compares: one spelling for each meaning.
    pub reading: Vec<String>,
}

/// What one tier says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TierReport {
    /// Which tier.
    pub tier: Tier,
    /// Whether the policy has it on.
    pub enabled: bool,
    /// Similarity; `None` if there is none to give (no embedding).
    pub score: Option<Score>,
    /// Least similarity that the policy wants; `None` if the tier is off.
    pub threshold: Option<Score>,
    /// Whether it proposes the pair.
    pub proposes: bool,
}

/// One difference and what the guard makes of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What stands in the first question, perhaps nothing.
    pub a: String,
    /// What stands in the second, perhaps nothing.
    pub b: String,
    /// The reason against it; `None` if both say the same.
    pub veto: Option<Veto>,
}

// === impl Matcher ===

impl Matcher {
    /// What each tier and the guard say of two texts. `semantic` stands for the cosine of their
    /// embeddings; without it the semantic tier has no opinion.
    #[must_use]
    pub fn explain(&self, policy: &MatchPolicy, a: &str, b: &str, semantic: Option<Score>) -> Explanation {
        let (a, b) = (self.features(a), self.features(b));
        let tiers = reports(policy, &a, &b, semantic);
        let verdict = guard::judge(a.reading(), b.reading());
        let decided_by = tiers.iter().find(|report| report.proposes).map(|report| report.tier);
        let share = decided_by == Some(Tier::Exact) || (decided_by.is_some() && verdict.is_ok());
        Explanation {
            differences: self.differences(&a, &b),
            a: Steps::of(&a),
            b: Steps::of(&b),
            tiers,
            veto: verdict.err(),
            share,
            decided_by,
        }
    }

    fn differences(&self, a: &Features, b: &Features) -> Vec<Difference> {
        let (forms, readings) = ((a.canonical().as_str(), b.canonical().as_str()), (a.reading(), b.reading()));
        let (tokens_a, tokens_b) = (tokenise(self.lexicon(), forms.0), tokenise(self.lexicon(), forms.1));
        let words = |tokens: &[Token<'_>]| tokens.iter().map(|t| t.text.to_string()).collect::<Vec<_>>();
        let (words_a, words_b) = (words(&tokens_a), words(&tokens_b));
        let unexplained = align::differences(readings.0.meanings(), readings.1.meanings());
        let hunks = align::differences(&words_a, &words_b);
        let told = hunks.into_iter().map(|(in_a, in_b)| {
            let touched = unexplained.iter().find(|(x, y)| {
                let inside = |reading: &Reading, meanings: &std::ops::Range<usize>, tokens: &std::ops::Range<usize>| {
                    reading.tokens()[meanings.clone()].iter().any(|at| tokens.contains(at))
                };
                inside(readings.0, x, &in_a) || inside(readings.1, y, &in_b)
            });
            let veto = touched.map(|(x, y)| {
                let only_a: Vec<_> = readings.0.meanings()[x.clone()].iter().collect();
                let only_b: Vec<_> = readings.1.meanings()[y.clone()].iter().collect();
                guard::gravest(&only_a, &only_b)
            });
            Difference { a: words_a[in_a].join(" "), b: words_b[in_b].join(" "), veto }
        });
        told.collect()
    }
}

// === impl Steps ===

impl Steps {
    fn of(features: &Features) -> Self {
        Self {
            normal: features.normal().to_owned(),
            fingerprint: features.fingerprint().to_string(),
            canonical: features.canonical().as_str().to_owned(),
            reading: features.reading().meanings().iter().map(|meaning| meaning.key.to_string()).collect(),
        }
    }
}

fn reports(policy: &MatchPolicy, a: &Features, b: &Features, semantic: Option<Score>) -> Vec<TierReport> {
    let equal = |same: bool| Some(if same { Score::ONE } else { Score::ZERO });
    let report = |tier, score: Option<Score>, threshold: Option<Score>| TierReport {
        tier,
        enabled: threshold.is_some(),
        score,
        threshold,
        proposes: score.zip(threshold).is_some_and(|(score, least)| score >= least),
    };
    vec![
        report(Tier::Exact, equal(a.normal() == b.normal()), Some(Score::ONE)),
        report(Tier::Canonical, equal(a.canonical() == b.canonical()), policy.canonical.then_some(Score::ONE)),
        report(Tier::Lexical, Some(a.terms().cosine(b.terms())), policy.lexical),
        report(Tier::Semantic, semantic, policy.semantic),
    ]
}

// === impl Explanation ===

impl Explanation {
    /// The verdict that `compare` gives.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let Some(report) = self.tiers.iter().find(|report| report.proposes) else { return Verdict::Different };
        let (tier, score) = (report.tier, report.score.unwrap_or(Score::ZERO));
        match self.veto {
            Some(reason) if tier != Tier::Exact => Verdict::Vetoed { tier, score, reason },
            _ => Verdict::Same(crate::domain::Match { tier, score }),
        }
    }
}
