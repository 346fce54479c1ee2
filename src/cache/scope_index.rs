//! The indexes of one Scope. They propose candidates; they decide nothing.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{EntryId, Score};
use crate::matching::{Features, ReadingKey};
use crate::text::{CanonicalForm, LexicalIndex};
use crate::vector::{self, AnnIndex, VectorIndex};

use super::Entry;

/// The stored answers of one Scope, by id, by canonical form, by words and by meaning.
pub(super) struct ScopeIndex {
    entries: HashMap<EntryId, Arc<Entry>>,
    canonical: HashMap<CanonicalForm, Vec<EntryId>>,
    lexical: LexicalIndex,
    vectors: VectorIndex,
    /// How many of the embedded entries read alike.
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
        if entry.found_by.canonical {
            self.canonical.entry(entry.question.canonical().clone()).or_default().push(entry.id);
        }
        if entry.found_by.lexical.is_some() {
            self.lexical.insert(entry.id, entry.question.terms());
        }
        self.entries.insert(entry.id, Arc::clone(entry));
        self.embedded(entry);
    }

    /// Takes the entry's embedding into the index, if it has one by now and is still stored; once per entry.
    pub(super) fn embedded(&mut self, entry: &Entry) {
        let wanted = entry.found_by.semantic.is_some() && self.entries.contains_key(&entry.id);
        let Some(embedding) = entry.question.embedding().filter(|_| wanted) else { return };
        let held = self.vectors.len();
        self.vectors.insert(entry.id, embedding.clone());
        if self.vectors.len() > held {
            *self.readings.entry(entry.question.reading_key()).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        if self.entries.remove(&entry.id).is_none() {
            return;
        }
        if entry.found_by.canonical {
            self.remove_form(entry);
        }
        self.lexical.remove(entry.id);
        self.remove_vector(entry);
    }

    fn remove_vector(&mut self, entry: &Entry) {
        let held = self.vectors.len();
        self.vectors.remove(entry.id);
        if self.vectors.len() == held {
            return;
        }
        let key = entry.question.reading_key();
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

    /// Whether an entry with an embedding reads like the question.
    pub(super) fn may_mean_the_same(&self, question: &Features) -> bool {
        !self.vectors.is_empty() && self.readings.contains_key(&question.reading_key())
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

    /// Entries with similar words, best first.
    pub(super) fn by_words(&self, question: &Features, least: Score, most: usize) -> Vec<Arc<Entry>> {
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
