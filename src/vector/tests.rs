//! The promises of every index, checked on each of the three, and what only one of them promises.

use std::collections::HashSet;

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

const DIMENSIONS: usize = 32;

/// A way to make an empty index.
type Make = fn() -> Box<dyn AnnIndex>;

fn flat() -> Box<dyn AnnIndex> {
    Box::new(FlatIndex::new())
}

fn hnsw() -> Box<dyn AnnIndex> {
    Box::new(HnswIndex::new(256))
}

/// Changes its form in the middle of most tests.
fn adaptive() -> Box<dyn AnnIndex> {
    Box::new(VectorIndex::new(Config { hnsw_from: 100 }))
}

fn score(value: f32) -> Score {
    Score::new(value).unwrap()
}

/// Embeddings around a few centres, as questions lie around their subjects.
struct Questions {
    random: StdRng,
    centres: Vec<Vec<f32>>,
}

impl Questions {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let centres = (0..30).map(|_| (0..DIMENSIONS).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
        Self { random, centres }
    }

    fn next(&mut self) -> Embedding {
        let centre = self.random.random_range(0..self.centres.len());
        let values: Vec<f32> = self.centres[centre].iter().map(|x| x + self.random.random_range(-0.4..0.4)).collect();
        Embedding::new(&values).unwrap()
    }
}

/// Inserts `count` questions with the ids 0, 1, …
fn fill(index: &mut dyn AnnIndex, count: u64, seed: u64) -> Vec<Embedding> {
    let mut questions = Questions::new(seed);
    let all: Vec<Embedding> = (0..count).map(|_| questions.next()).collect();
    for (id, embedding) in (0..).zip(&all) {
        index.insert(EntryId(id), embedding.clone());
    }
    all
}

fn finds_what_was_inserted(make: Make) {
    let mut index = make();
    for (id, embedding) in (0..).zip(&fill(&mut *index, 300, 1)) {
        let found = index.search(embedding, score(0.9999), 1);
        assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [EntryId(id)]);
    }
    assert_eq!(index.len(), 300);
}

fn an_empty_index_finds_nothing(make: Make) {
    let mut index = make();
    let query = Questions::new(1).next();
    assert_eq!(index.search(&query, Score::ZERO, 10), []);
    index.remove(EntryId(1));
    assert!(index.is_empty());
}

fn never_returns_what_was_removed(make: Make) {
    let mut index = make();
    let all = fill(&mut *index, 300, 2);
    // Far more than the share of tombstones that a generation bears.
    let removed: HashSet<EntryId> = (0..300).filter(|id| id % 5 != 0).map(EntryId).collect();
    for id in &removed {
        index.remove(*id);
    }
    assert_eq!(index.len(), 60);
    for query in &all {
        let found = index.search(query, Score::ZERO, 60);
        assert!(found.iter().all(|(id, _)| !removed.contains(id)));
    }
    for id in (0..300).step_by(5) {
        let found = index.search(&all[usize::try_from(id).unwrap()], score(0.9999), 1);
        assert_eq!(found.first().map(|(id, _)| *id), Some(EntryId(id)), "a living entry was lost");
    }
}

fn survives_constant_change(make: Make) {
    let mut index = make();
    let mut questions = Questions::new(3);
    let all: Vec<Embedding> = (0..600).map(|_| questions.next()).collect();
    for (id, embedding) in (0..).zip(&all) {
        index.insert(EntryId(id), embedding.clone());
        if id >= 150 {
            index.remove(EntryId(id - 150));
        }
    }
    assert_eq!(index.len(), 150);
    for id in 450..600 {
        let found = index.search(&all[usize::try_from(id).unwrap()], score(0.9999), 1);
        assert_eq!(found.first().map(|(id, _)| *id), Some(EntryId(id)));
    }
}

fn a_second_insert_replaces_the_first(make: Make) {
    let mut index = make();
    let all = fill(&mut *index, 200, 4);
    let replacement = Questions::new(99).next();
    index.insert(EntryId(7), replacement.clone());
    assert_eq!(index.len(), 200);
    assert_eq!(index.search(&replacement, score(0.9999), 1).first().map(|(id, _)| *id), Some(EntryId(7)));
    assert!(index.search(&all[7], score(0.9999), 5).iter().all(|(id, _)| *id != EntryId(7)));
}

fn respects_least_and_k(make: Make) {
    let mut index = make();
    let all = fill(&mut *index, 300, 5);
    for query in all.iter().take(50) {
        let found = index.search(query, score(0.8), 3);
        assert!(found.len() <= 3);
        assert!(found.iter().all(|(_, found)| *found >= score(0.8)));
        assert!(found.is_sorted_by(|(_, a), (_, b)| a >= b), "the best comes first");
        assert_eq!(index.search(query, Score::ZERO, 0), []);
    }
}

fn scores_are_exact(make: Make) {
    let mut index = make();
    let all = fill(&mut *index, 300, 6);
    let query = Questions::new(77).next();
    for (id, found) in index.search(&query, Score::ZERO, 20) {
        assert_eq!(found, query.cosine(&all[usize::try_from(id.0).unwrap()]));
    }
}

fn vectors_of_another_model_are_not_found(make: Make) {
    let mut index = make();
    fill(&mut *index, 300, 7);
    let other = Embedding::new(&[1.0; DIMENSIONS / 2]).unwrap();
    assert_eq!(index.search(&other, Score::ZERO, 10), []);
    index.insert(EntryId(1000), other.clone());
    assert_eq!(index.search(&other, Score::ZERO, 10), []);
}

fn finds_nearly_all_true_neighbours(make: Make) {
    let (mut index, mut truth) = (make(), FlatIndex::new());
    fill(&mut *index, 1000, 8);
    fill(&mut truth, 1000, 8);
    let mut queries = Questions::new(8);
    let (mut found, mut expected) = (0, 0);
    for query in (0..200).map(|_| queries.next()) {
        let right: HashSet<EntryId> = truth.search(&query, Score::ZERO, 10).iter().map(|(id, _)| *id).collect();
        found += index.search(&query, Score::ZERO, 10).iter().filter(|(id, _)| right.contains(id)).count();
        expected += right.len();
    }
    assert!(found * 100 >= expected * 98, "found {found} of {expected}");
}

/// The shared suite, once per implementation.
macro_rules! promises {
    ($module:ident, $make:path; $($promise:ident),+ $(,)?) => {
        mod $module {
            $(#[test]
            fn $promise() {
                super::$promise($make);
            })+
        }
    };
    ($($module:ident: $make:path),+ $(,)?) => {
        $(promises! { $module, $make;
            finds_what_was_inserted,
            an_empty_index_finds_nothing,
            never_returns_what_was_removed,
            survives_constant_change,
            a_second_insert_replaces_the_first,
            respects_least_and_k,
            scores_are_exact,
            vectors_of_another_model_are_not_found,
            finds_nearly_all_true_neighbours,
        })+
    };
}

promises! { flat_index: super::flat, hnsw_index: super::hnsw, vector_index: super::adaptive }

proptest! {
    #[test]
    fn the_flat_index_agrees_with_sorting_everything(
        rows in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 4), 0..80),
        query in prop::collection::vec(-1.0_f32..1.0, 4),
        removed in prop::collection::vec(0_u64..80, 0..20),
        least in 0.0_f32..1.0,
        k in 0_usize..12,
    ) {
        let Some(query) = Embedding::new(&query) else { return Ok(()) };
        let mut index = FlatIndex::new();
        let mut plain: Vec<Neighbour> = Vec::new();
        for (id, row) in (0..).map(EntryId).zip(&rows) {
            let Some(embedding) = Embedding::new(row) else { continue };
            plain.push((id, query.cosine(&embedding)));
            index.insert(id, embedding);
        }
        for id in removed.into_iter().map(EntryId) {
            plain.retain(|(other, _)| *other != id);
            index.remove(id);
        }
        plain.retain(|(_, found)| *found >= score(least));
        prop_assert_eq!(index.search(&query, score(least), k), best(plain, k));
    }
}

#[test]
fn the_index_becomes_a_graph_when_it_grows_and_a_list_when_it_shrinks() {
    let mut index = VectorIndex::new(Config { hnsw_from: 100 });
    let all = fill(&mut index, 100, 9);
    assert!(!index.is_graph());
    index.insert(EntryId(100), all[0].clone());
    assert!(index.is_graph());
    for id in 0..52 {
        index.remove(EntryId(id));
    }
    assert!(!index.is_graph());
    assert_eq!(index.len(), 49);
    assert_eq!(index.search(&all[60], score(0.9999), 1).first().map(|(id, _)| *id), Some(EntryId(60)));
}

#[test]
fn a_threshold_out_of_range_is_refused_by_name() {
    assert_eq!(Config::default().check(), Ok(()));
    assert_eq!(Config { hnsw_from: 1 }.check(), Err(ConfigError::HnswFrom(1)));
}
