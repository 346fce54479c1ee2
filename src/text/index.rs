//! Which stored vectors are at least this similar? An inverted index that reads few of its lists.
//!
//! Exact: the answer is that of a full scan (a property test says so). The saving is prefix filtering
//! (Chaudhuri et al. 2006, Bayardo et al. 2007): vectors have unit length, so a stored vector that shares
//! with the query only terms from a set `S` scores at most the length of the query's part in `S`
//! (Cauchy-Schwarz). While that length stays below the threshold, the lists of `S` need no reading at all,
//! and `S` is filled with the longest lists first.

use std::collections::{BTreeSet, HashMap};

use crate::domain::{EntryId, Score};

use super::{TermId, TermVector};

/// Rounding of 32-bit sums must not lose a hit that sits exactly on the threshold.
const SLACK: f32 = 1e-4;

/// An inverted index over term vectors.
#[derive(Debug, Default)]
pub struct LexicalIndex {
    /// Entries that hold a term, ascending.
    lists: HashMap<TermId, Vec<EntryId>>,
    vectors: HashMap<EntryId, TermVector>,
}

// === impl LexicalIndex ===

impl LexicalIndex {
    /// Adds an entry, or replaces the vector of one that is there.
    pub fn insert(&mut self, id: EntryId, vector: &TermVector) {
        self.remove(id);
        for (term, _) in vector.entries() {
            let list = self.lists.entry(*term).or_default();
            if let Err(at) = list.binary_search(&id) {
                list.insert(at, id);
            }
        }
        self.vectors.insert(id, vector.clone());
    }

    /// Forgets an entry; an unknown one is no error.
    pub fn remove(&mut self, id: EntryId) {
        let Some(vector) = self.vectors.remove(&id) else { return };
        for (term, _) in vector.entries() {
            let Some(list) = self.lists.get_mut(term) else { continue };
            if let Ok(at) = list.binary_search(&id) {
                list.remove(at);
            }
            if list.is_empty() {
                self.lists.remove(term);
            }
        }
    }

    /// How many entries it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// The `k` most similar entries that score at least `least` and share a term with the query: best
    /// first, the older entry first among equals.
    #[must_use]
    pub fn search(&self, query: &TermVector, least: Score, k: usize) -> Vec<(EntryId, Score)> {
        let mut candidates = BTreeSet::new();
        for list in self.lists_to_read(query, least) {
            candidates.extend(list.iter().copied());
        }
        let mut hits: Vec<(EntryId, Score)> = candidates
            .into_iter()
            .filter_map(|id| Some((id, self.vectors.get(&id)?.cosine(query))))
            .filter(|(_, score)| *score >= least)
            .collect();
        hits.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(k);
        hits
    }

    /// The lists that cannot be skipped: without the longest ones, as long as those together are too
    /// short to reach the threshold.
    fn lists_to_read(&self, query: &TermVector, least: Score) -> Vec<&[EntryId]> {
        let mut lists: Vec<(&[EntryId], f32)> = query
            .entries()
            .iter()
            .filter_map(|(term, weight)| Some((self.lists.get(term)?.as_slice(), *weight)))
            .collect();
        lists.sort_by_key(|(list, _)| std::cmp::Reverse(list.len()));
        let bound = (least.get() - SLACK).max(0.0).powi(2);
        let mut skipped = 0.0;
        lists.retain(|(_, weight)| {
            let with_this = skipped + weight * weight;
            let skip = with_this < bound;
            if skip {
                skipped = with_this;
            }
            !skip
        });
        lists.into_iter().map(|(list, _)| list).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(terms: &[u8]) -> TermVector {
        TermVector::from_occurrences(
            terms.iter().map(|t| (TermId::of(&t.to_string()), 1.0 + f32::from(*t % 7))).collect(),
        )
    }

    fn scan(stored: &[TermVector], query: &TermVector, least: Score, k: usize) -> Vec<(EntryId, Score)> {
        let mut hits: Vec<_> = (0..)
            .zip(stored)
            .filter(|(_, v)| v.entries().iter().any(|(t, _)| query.entries().iter().any(|(q, _)| q == t)))
            .map(|(id, v)| (EntryId(id), v.cosine(query)))
            .filter(|(_, score)| *score >= least)
            .collect();
        hits.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(k);
        hits
    }

    proptest! {
        #[test]
        fn a_search_finds_exactly_what_a_full_scan_finds(
            stored in prop::collection::vec(prop::collection::vec(0_u8..20, 0..8), 0..40),
            gone in prop::collection::vec(0_usize..40, 0..10),
            query in prop::collection::vec(0_u8..20, 0..8),
            least in 0.0_f32..=1.0,
            k in 1_usize..10,
        ) {
            let mut vectors: Vec<TermVector> = stored.iter().map(|terms| vector(terms)).collect();
            let mut index = LexicalIndex::default();
            for (id, v) in (0..).zip(&vectors) {
                index.insert(EntryId(id), v);
            }
            for id in gone {
                index.remove(EntryId(id as u64));
                if let Some(v) = vectors.get_mut(id) { *v = TermVector::default(); }
            }
            let (query, least) = (vector(&query), Score::clamped(least));
            prop_assert_eq!(index.search(&query, least, k), scan(&vectors, &query, least, k));
        }
    }

    #[test]
    fn a_list_that_cannot_reach_the_threshold_alone_is_not_read() {
        let mut index = LexicalIndex::default();
        for id in 0..100 {
            index.insert(EntryId(id), &vector(&[0, u8::try_from(id + 1).unwrap()]));
        }
        let query = vector(&[0, 5]);
        let read = index.lists_to_read(&query, Score::clamped(0.9));
        assert_eq!(read.iter().map(|list| list.len()).sum::<usize>(), 1, "the list of the common term was read");
    }

    #[test]
    fn a_forgotten_entry_leaves_nothing_behind() {
        let mut index = LexicalIndex::default();
        index.insert(EntryId(1), &vector(&[1, 2]));
        index.remove(EntryId(1));
        assert!(index.is_empty() && index.lists.is_empty());
    }
}
