//! The indexes of one Scope. They propose candidates; they decide nothing.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{EntryId, Score};
use crate::matching::{Features, MatchPolicy, ReadingKey};
use crate::text::{CanonicalForm, LexicalIndex};
use crate::vector::{self, AnnIndex, VectorIndex};

use super::Entry;

/// Entries whose words are searched in some tens of microseconds.
const SMALL: usize = 500;

/// The stored answers of one Scope, by id, by canonical form, by words and by meaning.
pub(super) struct ScopeIndex {
    entries: HashMap<EntryId, Arc<Entry>>,
    canonical: HashMap<CanonicalForm, Vec<EntryId>>,
    lexical: LexicalIndex,
    vectors: VectorIndex,
    /// How many entries read alike.
    readings: HashMap<ReadingKey, usize>,
}

// === impl ScopeIndex ===

impl ScopeIndex {
    pub(super) fn new(vectors: vector::Config) -> Self {
        Self {
            entries: HashMap::new(),
            canonical: HashMap::new(),
            lexical: LexicalIndex::default(),
            vectors: VectorIndex::new(vectors),
            readings: HashMap::new(),
        }
    }

    pub(super) fn insert(&mut self, entry: &Arc<Entry>) {
        if entry.found_by != MatchPolicy::EXACT_ONLY {
            *self.readings.entry(entry.question.reading_key()).or_default() += 1;
        }
        if entry.found_by.canonical {
            self.canonical.entry(entry.question.canonical().clone()).or_default().push(entry.id);
        }
        if entry.found_by.lexical.is_some() {
            self.lexical.insert(entry.id, entry.question.terms());
        }
        self.entries.insert(entry.id, Arc::clone(entry));
        self.embedded(entry);
    }

    /// Takes the entry's embedding into the index, if it has one by now and is still stored.
    pub(super) fn embedded(&mut self, entry: &Entry) {
        let wanted = entry.found_by.semantic.is_some() && self.entries.contains_key(&entry.id);
        if let Some(embedding) = entry.question.embedding().filter(|_| wanted) {
            self.vectors.insert(entry.id, embedding.clone());
        }
    }

    /// Forgets an entry; false if it was not here.
    pub(super) fn remove(&mut self, entry: &Entry) -> bool {
        if self.entries.remove(&entry.id).is_none() {
            return false;
        }
        if entry.found_by != MatchPolicy::EXACT_ONLY {
            self.remove_reading(entry.question.reading_key());
        }
        if entry.found_by.canonical {
            self.remove_form(entry);
        }
        self.lexical.remove(entry.id);
        self.vectors.remove(entry.id);
        true
    }

    fn remove_reading(&mut self, key: ReadingKey) {
        if let Some(count) = self.readings.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.readings.remove(&key);
            }
        }
    }

    fn remove_form(&mut self, entry: &Entry) {
        let form = entry.question.canonical();
        if let Some(ids) = self.canonical.get_mut(form) {
            ids.retain(|id| *id != entry.id);
            if ids.is_empty() {
                self.canonical.remove(form);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn vectors(&self) -> usize {
        self.vectors.len()
    }

    /// Whether an entry reads like the question: the guard accepts no other.
    pub(super) fn has_reading(&self, question: &Features) -> bool {
        self.readings.contains_key(&question.reading_key())
    }

    pub(super) fn is_graph(&self) -> bool {
        self.vectors.is_graph()
    }

    pub(super) fn all(&self) -> Vec<Arc<Entry>> {
        self.entries.values().cloned().collect()
    }

    /// Entries with the same canonical form, newest first.
    pub(super) fn by_form(&self, question: &Features, most: usize) -> Vec<Arc<Entry>> {
        let ids = self.canonical.get(question.canonical());
        ids.into_iter().flatten().rev().take(most).filter_map(|id| self.entries.get(id).cloned()).collect()
    }

    /// Entries with similar words, best first. In a large index only if one reads like the question; in a small one
    /// also those that the guard will refuse, so that operators see what it keeps apart.
    pub(super) fn by_words(&self, question: &Features, least: Score, most: usize) -> Vec<Arc<Entry>> {
        if self.entries.len() > SMALL && !self.has_reading(question) {
            return Vec::new();
        }
        self.resolve(self.lexical.search(question.terms(), least, most))
    }

    /// Entries of similar meaning, best first; none while the question has no embedding.
    pub(super) fn by_meaning(&self, question: &Features, least: Score, most: usize) -> Vec<Arc<Entry>> {
        question.embedding().map_or_else(Vec::new, |vector| self.resolve(self.vectors.search(vector, least, most)))
    }

    fn resolve(&self, found: Vec<(EntryId, Score)>) -> Vec<Arc<Entry>> {
        found.into_iter().filter_map(|(id, _)| self.entries.get(&id).cloned()).collect()
    }
}
