//! The approximate index: a navigable graph (Malkov and Yashunin, 2016) from the crate `hnsw_rs`.
//!
//! The graph cannot delete. A removed entry stays in it as a tombstone that searches pass through and
//! do not return. Tombstones cost time and memory, so when too many points of a generation are dead
//! a new generation is begun. Rebuilding at once would block a call for many seconds; instead every
//! insert or removal moves a few living entries over, searches ask both generations meanwhile, and
//! the old one is dropped when the last has moved.

use std::collections::HashMap;

use hnsw_rs::prelude::{Distance, Hnsw};

use super::embedding::dot;
use super::{AnnIndex, Embedding, Neighbour, best};
use crate::domain::{EntryId, Score};

/// Links per point (M of the paper).
const LINKS: usize = 16;
/// Candidates looked at when linking a new point (efConstruction).
const BUILD_WIDTH: usize = 200;
/// Candidates kept while searching (ef), at least.
const SEARCH_WIDTH: usize = 96;
/// Levels of the graph; enough for tens of millions of points.
const LEVELS: usize = 16;
/// A generation of fewer points is not worth replacing.
const SMALLEST_REBUILD: usize = 64;
/// Entries moved to the new generation by each change of the index.
const MOVES_PER_CHANGE: usize = 4;

/// A graph of embeddings, for many entries.
///
/// At 20,000 entries of 512 dimensions a search takes 2.2 ms and an insert 4.2 ms; an insert or removal while a
/// generation is being replaced up to five times that. All of it belongs
/// off the async workers.
pub struct HnswIndex {
    /// Where entries are added.
    fresh: Generation,
    /// The generation that is being replaced.
    aged: Option<Generation>,
}

/// One graph, which only grows, and what is alive in it.
struct Generation {
    graph: Hnsw<'static, f32, Gap>,
    /// The entry behind each point, in the order of insertion; `None` = removed.
    points: Vec<Option<(EntryId, Embedding)>>,
    point_of: HashMap<EntryId, usize>,
    /// The length of its vectors, known from the first on.
    dimensions: Option<usize>,
}

/// 1 - cosine of unit vectors, never negative (the graph panics on a negative distance, which
/// rounding would produce).
#[derive(Clone, Copy)]
struct Gap;

// === impl Gap ===

impl Distance<f32> for Gap {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - dot(a, b)).max(0.0)
    }
}

// === impl HnswIndex ===

impl HnswIndex {
    /// An empty index; `expected` entries are a hint for the memory to reserve.
    #[must_use]
    pub fn new(expected: usize) -> Self {
        Self { fresh: Generation::new(expected), aged: None }
    }

    /// All living entries, in no particular order.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (EntryId, Embedding)> {
        let generations = [Some(self.fresh), self.aged];
        generations.into_iter().flatten().flat_map(|generation| generation.points).flatten()
    }

    /// Begins a new generation when the current one is mostly tombstones, or goes on moving.
    fn renew(&mut self) {
        if self.aged.is_none() && self.fresh.is_worn_out() {
            let expected = self.fresh.len() * 2;
            self.aged = Some(std::mem::replace(&mut self.fresh, Generation::new(expected)));
        }
        let Some(aged) = &mut self.aged else { return };
        for _ in 0..MOVES_PER_CHANGE {
            let Some((id, embedding)) = aged.take_any() else {
                self.aged = None;
                return;
            };
            self.fresh.insert(id, embedding);
        }
    }
}

impl AnnIndex for HnswIndex {
    fn insert(&mut self, id: EntryId, embedding: Embedding) {
        self.remove(id);
        self.fresh.insert(id, embedding);
    }

    fn remove(&mut self, id: EntryId) {
        self.fresh.remove(id);
        if let Some(aged) = &mut self.aged {
            aged.remove(id);
        }
        self.renew();
    }

    fn search(&self, query: &Embedding, least: Score, k: usize) -> Vec<Neighbour> {
        let generations = [Some(&self.fresh), self.aged.as_ref()];
        best(generations.into_iter().flatten().flat_map(|generation| generation.search(query, least, k)).collect(), k)
    }

    fn len(&self) -> usize {
        self.fresh.len() + self.aged.as_ref().map_or(0, Generation::len)
    }
}

// === impl Generation ===

impl Generation {
    fn new(expected: usize) -> Self {
        Self {
            graph: Hnsw::new(LINKS, expected.max(SMALLEST_REBUILD), LEVELS, BUILD_WIDTH, Gap),
            points: Vec::new(),
            point_of: HashMap::new(),
            dimensions: None,
        }
    }

    fn len(&self) -> usize {
        self.point_of.len()
    }

    /// More than 30% are tombstones: searches then take several times as long.
    fn is_worn_out(&self) -> bool {
        let dead = self.points.len() - self.len();
        self.points.len() >= SMALLEST_REBUILD && dead * 10 > self.points.len() * 3
    }

    fn insert(&mut self, id: EntryId, embedding: Embedding) {
        if !self.fits(&embedding) {
            return;
        }
        self.dimensions = Some(embedding.dimensions());
        let point = self.points.len();
        self.graph.insert((embedding.values(), point));
        self.points.push(Some((id, embedding)));
        self.point_of.insert(id, point);
    }

    fn remove(&mut self, id: EntryId) {
        if let Some(point) = self.point_of.remove(&id) {
            self.points[point] = None;
        }
    }

    /// Takes a living entry out of the list from its end, dropping the tombstones above it. The
    /// graph still holds their points; a point without an entry is a tombstone.
    fn take_any(&mut self) -> Option<(EntryId, Embedding)> {
        let (id, embedding) = std::iter::from_fn(|| self.points.pop()).flatten().next()?;
        self.point_of.remove(&id);
        Some((id, embedding))
    }

    fn search(&self, query: &Embedding, least: Score, k: usize) -> Vec<Neighbour> {
        if k == 0 || self.len() == 0 || !self.fits(query) {
            return Vec::new();
        }
        let is_alive = |point: &usize| self.entry(*point).is_some();
        let has_tombstones = self.graph.get_nb_point() > self.len();
        let filter = has_tombstones.then_some(&is_alive as &dyn hnsw_rs::prelude::FilterT);
        // Asking for the whole width: the graph may count a tombstone among its results, and the
        // exact cosine may order them differently.
        let width = SEARCH_WIDTH.max(2 * k);
        let found = self.graph.search_filter(query.values(), width, width, filter);
        let living = found.iter().filter_map(|neighbour| self.entry(neighbour.d_id));
        let scored = living.map(|(id, embedding)| (*id, query.cosine(embedding)));
        best(scored.filter(|(_, score)| *score >= least).collect(), k)
    }

    fn entry(&self, point: usize) -> Option<&(EntryId, Embedding)> {
        self.points.get(point)?.as_ref()
    }

    fn fits(&self, embedding: &Embedding) -> bool {
        self.dimensions.is_none_or(|dimensions| dimensions == embedding.dimensions())
    }
}
