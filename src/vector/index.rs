//! The index to use: flat while small, a graph once that pays.

use serde::{Deserialize, Serialize};

use super::{AnnIndex, Embedding, FlatIndex, HnswIndex, Neighbour, best};
use crate::domain::{EntryId, Score};

/// Entries moved from the list to the graph by each change of the index.
const MOVES_PER_CHANGE: usize = 4;

/// When an index becomes a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Above this many entries of one scope the index is a graph; below half of it, a list again.
    pub hnsw_from: usize,
}

/// A value that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// `hnsw_from` is out of range.
    #[error("hnsw_from is {0}, allowed are 64 to 100000000")]
    HnswFrom(usize),
}

/// A [`FlatIndex`] up to `hnsw_from` entries, an [`HnswIndex`] beyond, and a list again below half.
///
/// It changes its form a few entries at a time, so that no call pays for all of them: on the way both
/// forms hold a part and a search asks both. The times of [`FlatIndex`] and [`HnswIndex`] hold; above
/// `hnsw_from` an insert may take five inserts of the graph.
pub struct VectorIndex {
    config: Config,
    flat: FlatIndex,
    graph: Option<HnswIndex>,
}

// === impl Config ===

/// `benches/vector.rs` measures it: at 20,000 entries of 512 dimensions a list and a graph take the same time for a
/// search (2.5 and 2.2 ms), below that the list is faster (10,000: 1.2 and 2.1 ms). Counting inserts (nothing and
/// 4.2 ms) the graph would pay later still, but inserts happen behind the answer and searches in front of it.
impl Default for Config {
    fn default() -> Self {
        Self { hnsw_from: 20_000 }
    }
}

impl Config {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        if (64..=100_000_000).contains(&self.hnsw_from) { Ok(()) } else { Err(ConfigError::HnswFrom(self.hnsw_from)) }
    }
}

// === impl VectorIndex ===

impl VectorIndex {
    /// An empty index.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, flat: FlatIndex::new(), graph: None }
    }

    /// Whether the graph is in use.
    #[must_use]
    pub fn is_graph(&self) -> bool {
        self.graph.is_some()
    }

    /// Changes the form if the size calls for it, or goes on changing.
    fn adapt(&mut self) {
        let size = self.len();
        match &mut self.graph {
            None if size > self.config.hnsw_from => self.graph = Some(HnswIndex::new(size * 2)),
            Some(_) if size < self.config.hnsw_from / 2 => self.flatten(),
            Some(graph) => {
                for (id, embedding) in std::iter::from_fn(|| self.flat.pop()).take(MOVES_PER_CHANGE) {
                    graph.insert(id, embedding);
                }
            }
            None => {}
        }
    }

    fn flatten(&mut self) {
        for (id, embedding) in self.graph.take().into_iter().flat_map(HnswIndex::into_entries) {
            self.flat.insert(id, embedding);
        }
    }
}

impl AnnIndex for VectorIndex {
    fn insert(&mut self, id: EntryId, embedding: Embedding) {
        match &mut self.graph {
            Some(graph) if !self.flat.contains(id) => graph.insert(id, embedding),
            _ => self.flat.insert(id, embedding),
        }
        self.adapt();
    }

    fn remove(&mut self, id: EntryId) {
        self.flat.remove(id);
        if let Some(graph) = &mut self.graph {
            graph.remove(id);
        }
        self.adapt();
    }

    fn search(&self, query: &Embedding, least: Score, k: usize) -> Vec<Neighbour> {
        let mut found = self.flat.search(query, least, k);
        if let Some(graph) = &self.graph {
            found.extend(graph.search(query, least, k));
        }
        best(found, k)
    }

    fn len(&self) -> usize {
        self.flat.len() + self.graph.as_ref().map_or(0, AnnIndex::len)
    }
}
