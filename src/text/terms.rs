//! TF-IDF vectors, sparse and of unit length.
//!
//! A term is known by a hash of its text, so that a vector needs no shared vocabulary: two questions are
//! comparable whoever made their vectors. A collision of two terms can only propose a pair, never accept one.

use crate::domain::Score;

use super::{CanonicalForm, Kind, Lexicon, number, tokenise};

/// A term, as a 64-bit FNV-1a hash of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(pub u64);

/// Terms and their weights: sorted by term, of unit length (or empty).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermVector(Box<[(TermId, f32)]>);

// === impl TermId ===

impl TermId {
    /// The id of a term.
    #[must_use]
    pub fn of(term: &str) -> Self {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        Self(term.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
    }
}

// === impl TermVector ===

impl TermVector {
    /// The vector of a question: its words in lower case, numbers by value, no marks. Empty if it is too long.
    #[must_use]
    pub fn of(lexicon: &Lexicon, canonical: &CanonicalForm) -> Self {
        if canonical.is_opaque() {
            return Self::default();
        }
        let tokens = tokenise(lexicon, canonical.as_str());
        let terms = tokens.iter().filter(|token| !matches!(token.kind, Kind::Mark | Kind::Break)).map(|token| {
            let id = match token.kind {
                Kind::Number => TermId::of(&number::from_digits(&token.text).unwrap_or_else(|| token.text.to_string())),
                Kind::Word => TermId::of(&token.text.to_lowercase()),
                _ => TermId::of(&token.text),
            };
            (id, lexicon.idf(id))
        });
        Self::from_occurrences(terms.collect())
    }

    /// From `(term, idf)` for every occurrence in the text: weight = count / total * idf, scaled to unit
    /// length (the total cancels out in the scaling).
    #[must_use]
    pub fn from_occurrences(mut occurrences: Vec<(TermId, f32)>) -> Self {
        occurrences.sort_unstable_by_key(|(term, _)| *term);
        let mut weights: Vec<(TermId, f32)> = Vec::with_capacity(occurrences.len());
        for (term, idf) in occurrences {
            match weights.last_mut() {
                Some((last, weight)) if *last == term => *weight += idf,
                _ => weights.push((term, idf)),
            }
        }
        let norm = weights.iter().map(|(_, w)| w * w).sum::<f32>().sqrt();
        if !norm.is_normal() {
            return Self::default();
        }
        Self(weights.into_iter().map(|(term, w)| (term, w / norm)).collect())
    }

    /// The terms and their weights, sorted by term.
    #[must_use]
    pub fn entries(&self) -> &[(TermId, f32)] {
        &self.0
    }

    /// Whether the text had no term at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Cosine similarity, by one merge of the two sorted lists.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Score {
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut dot = 0.0;
        while let (Some((a, x)), Some((b, y))) = (mine.peek(), theirs.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => {
                    mine.next();
                }
                std::cmp::Ordering::Greater => {
                    theirs.next();
                }
                std::cmp::Ordering::Equal => {
                    dot += x * y;
                    mine.next();
                    theirs.next();
                }
            }
        }
        Score::clamped(dot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(terms: &[&str]) -> TermVector {
        TermVector::from_occurrences(terms.iter().map(|term| (TermId::of(term), 2.0)).collect())
    }

    #[test]
    fn a_vector_is_wholly_like_itself_and_unlike_a_stranger() {
        let v = vector(&["a", "b", "b"]);
        assert!(v.cosine(&v).get() > 0.999_99);
        assert_eq!(v.cosine(&vector(&["c"])), Score::ZERO);
    }

    #[test]
    fn a_text_without_terms_is_like_nothing_not_even_itself() {
        assert_eq!(vector(&[]).cosine(&vector(&[])), Score::ZERO);
    }

    #[test]
    fn a_term_counts_as_often_as_it_occurs() {
        let (once, twice) = (vector(&["a", "b"]), vector(&["a", "b", "b"]));
        assert!((once.cosine(&twice).get() - 3.0 / 10_f32.sqrt()).abs() < 1e-6);
    }
}
