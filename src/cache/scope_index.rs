//! The indexes of one Scope. They propose candidates; they decide nothing.

use std::collections::HashMap;
use std::sync::Arc;

use crate::domain::{EntryId, Score};
use crate::matching::Features;
use crate::text::{CanonicalForm, LexicalIndex};
use crate::vector::{self, AnnIndex, VectorIndex};

use super::Entry;

/// The stored answers of one Scope, by id, by canonical form, by words and by meaning.
pub(super) struct ScopeIndex {
    entries: HashMap<EntryId, Arc<Entry>>,
    canonical: HashMap<CanonicalForm, Vec<EntryId>>,
    lexical: LexicalIndex,
    vectors: VectorIndex,
}

// === impl ScopeIndex ===

impl ScopeIndex {
    pub(super) fn new(vectors: vector::Config) -> Self {
        Self {
            entries: HashMap::new(),
            canonical: HashMap::new(),
            lexical: LexicalIndex::default(),
            vectors: VectorIndex::new(vectors),
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

    /// Takes the entry's embedding into the index, if it has one by now and is still stored.
    pub(super) fn embedded(&mut self, entry: &Entry) {
        if entry.found_by.semantic.is_some()
            && let Some(embedding) = entry.question.embedding()
            && self.entries.contains_key(&entry.id)
        {
            self.vectors.insert(entry.id, embedding.clone());
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
        self.vectors.remove(entry.id);
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

    /// Whether an entry might be found by meaning: there are embeddings, and (as far as words are indexed) some
    /// entry might share words with the question.
    pub(super) fn may_have_kin(&self, question: &Features, least: Score) -> bool {
        !self.vectors.is_empty() && (self.lexical.is_empty() || self.lexical.could_reach(question.terms(), least))
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
