//! Everything the tiers want to know about one question.
//!
//! The dearer parts are made when first asked for, so that an exact hit pays for normalising and MD5 only.

use std::sync::{Arc, OnceLock};

use crate::text::{CanonicalForm, Fingerprint, Lexicon, TermVector, normalise};
use crate::vector::Embedding;

use super::guard::Reading;

/// What a question says, as one number. Equal readings have equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReadingKey(u64);

/// One question and what is known of it.
#[derive(Debug)]
pub struct Features {
    text: Box<str>,
    normal: Box<str>,
    fingerprint: Fingerprint,
    lexicon: Arc<Lexicon>,
    canonical: OnceLock<CanonicalForm>,
    terms: OnceLock<TermVector>,
    reading: OnceLock<Reading>,
    reading_key: OnceLock<ReadingKey>,
    embedding: OnceLock<Embedding>,
}

// === impl Features ===

impl Features {
    pub(super) fn new(lexicon: &Arc<Lexicon>, text: &str) -> Self {
        let normal: Box<str> = normalise(lexicon, text).into();
        Self {
            text: text.into(),
            fingerprint: Fingerprint::of(&normal),
            normal,
            lexicon: Arc::clone(lexicon),
            canonical: OnceLock::new(),
            terms: OnceLock::new(),
            reading: OnceLock::new(),
            reading_key: OnceLock::new(),
            embedding: OnceLock::new(),
        }
    }

    /// The question as it was asked.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The normalised text: equal ones are the same question. Confirms what a fingerprint finds.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// MD5 of the normalised text. Can be collided on purpose: compare [`Self::normal`] before sharing.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The canonical form: equal ones are a match of the canonical tier.
    pub fn canonical(&self) -> &CanonicalForm {
        self.canonical.get_or_init(|| CanonicalForm::of(&self.lexicon, &self.normal))
    }

    /// TF-IDF weights of the terms.
    pub fn terms(&self) -> &TermVector {
        self.terms.get_or_init(|| TermVector::of(&self.lexicon, self.canonical()))
    }

    /// What the guard compares.
    pub(super) fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| Reading::of(&self.lexicon, self.canonical()))
    }

    /// The same as one number, for indexes: different keys never pass the guard.
    #[must_use]
    pub fn reading_key(&self) -> ReadingKey {
        *self.reading_key.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            for meaning in self.reading().meanings() {
                hasher.update(&(meaning.key.len() as u64).to_le_bytes()).update(meaning.key.as_bytes());
            }
            let mut key = [0; 8];
            hasher.finalize_xof().fill(&mut key);
            ReadingKey(u64::from_le_bytes(key))
        })
    }

    /// Makes what the tiers will ask for. Takes milliseconds for texts of many kilobytes.
    pub fn prepare(&self) {
        let _ = (self.canonical(), self.terms(), self.reading_key());
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
