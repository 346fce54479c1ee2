//! Vectors and the indexes over them: flat below a measured size, HNSW above.
//!
//! An index answers one question: which stored embeddings lie nearest to this one? It never returns
//! what was removed, never a score below `least`, and every score it returns is the exact cosine,
//! whatever approximation found the candidate. It may overlook a neighbour (HNSW does, rarely); that
//! costs an inference, never a wrong answer.
//!
//! Three indexes keep the same promises ([`AnnIndex`]): [`FlatIndex`] compares with everything,
//! [`HnswIndex`] walks a graph, and [`VectorIndex`], the one to use, is the first while it is small
//! and becomes the second when scanning costs more than keeping a graph up to date.
//!
//! Everything here is pure computation under `&self` or `&mut self`: no locks, no clock, no threads.
//! Each method says how long it takes, so that callers know what to move off the async workers.

mod embedding;
mod flat;
mod hnsw;
mod index;

#[cfg(test)]
mod tests;

pub use embedding::Embedding;
pub use flat::FlatIndex;
pub use hnsw::HnswIndex;
pub use index::{Config, ConfigError, VectorIndex};

use std::cmp::Reverse;

use crate::domain::{EntryId, Score};

/// A stored embedding near to the one asked for, and its cosine.
pub type Neighbour = (EntryId, Score);

/// An index of embeddings by entry.
///
/// All embeddings of one index come from one model. One of another dimension than the first is not
/// indexed and finds nothing: vectors of two models have no common meaning.
pub trait AnnIndex {
    /// Adds an embedding, or replaces that of a known entry.
    fn insert(&mut self, id: EntryId, embedding: Embedding);

    /// Forgets an entry; an unknown one is no error.
    fn remove(&mut self, id: EntryId);

    /// At most `k` entries whose cosine with `query` is at least `least`, best first; of equals, the
    /// one with the larger id first.
    fn search(&self, query: &Embedding, least: Score, k: usize) -> Vec<Neighbour>;

    /// How many entries it holds.
    fn len(&self) -> usize;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The best `k` of `found`, best first.
fn best(mut found: Vec<Neighbour>, k: usize) -> Vec<Neighbour> {
    found.sort_unstable_by_key(|&(id, score)| Reverse((score, id)));
    found.truncate(k);
    found
}
