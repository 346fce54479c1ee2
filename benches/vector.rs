//! Where a graph begins to pay: search and insert of the flat index and of HNSW, by size.
//!
//! `cargo bench --bench vector`. The default of `vector::Config::hnsw_from` comes from here: it is where the
//! searches, which callers wait for, take the same time; inserts happen behind the answer. Building
//! the graphs takes a minute or two before their first figure.

use divan::{Bencher, black_box};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use weir::domain::{EntryId, Score};
use weir::vector::{AnnIndex, Embedding, FlatIndex, HnswIndex};

const DIMENSIONS: usize = 512;
const SUBJECTS: usize = 1_000;
const SIZES: [usize; 4] = [1_000, 5_000, 10_000, 20_000];
/// Neighbours asked for.
const WANTED: usize = 8;

fn main() {
    divan::main();
}

/// Embeddings around centres, as questions lie around their subjects.
struct Questions {
    random: StdRng,
    centres: Vec<Vec<f32>>,
}

impl Questions {
    /// The subjects are always the same; `seed` chooses the questions.
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(1);
        let centres =
            (0..SUBJECTS).map(|_| (0..DIMENSIONS).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
        Self { random: StdRng::seed_from_u64(seed), centres }
    }
}

impl Iterator for Questions {
    type Item = Embedding;
    fn next(&mut self) -> Option<Embedding> {
        let subject = self.random.random_range(0..SUBJECTS);
        let values: Vec<f32> = self.centres[subject].iter().map(|x| x + self.random.random_range(-0.5..0.5)).collect();
        Embedding::new(&values)
    }
}

fn filled<I: AnnIndex>(mut index: I, size: usize) -> I {
    for (id, embedding) in (0..).zip(Questions::new(2).take(size)) {
        index.insert(EntryId(id), embedding);
    }
    index
}

fn bench_search(bencher: Bencher, index: &impl AnnIndex) {
    let mut questions = Questions::new(3);
    let least = Score::clamped(0.5);
    bencher
        .with_inputs(|| questions.next())
        .bench_local_values(|query| query.map(|query| index.search(black_box(&query), least, WANTED)));
}

fn bench_insert(bencher: Bencher, mut index: impl AnnIndex) {
    let (mut questions, mut ids) = (Questions::new(4), 1_000_000..);
    bencher.with_inputs(|| questions.next().zip(ids.next())).bench_local_values(|input| {
        if let Some((embedding, id)) = input {
            index.insert(EntryId(id), embedding);
        }
    });
}

#[divan::bench(args = SIZES, sample_count = 200, sample_size = 1)]
fn search_flat(bencher: Bencher, size: usize) {
    bench_search(bencher, &filled(FlatIndex::new(), size));
}

#[divan::bench(args = SIZES, sample_count = 200, sample_size = 1)]
fn search_hnsw(bencher: Bencher, size: usize) {
    bench_search(bencher, &filled(HnswIndex::new(size), size));
}

#[divan::bench(args = SIZES, sample_count = 200, sample_size = 1)]
fn insert_flat(bencher: Bencher, size: usize) {
    bench_insert(bencher, filled(FlatIndex::new(), size));
}

#[divan::bench(args = SIZES, sample_count = 200, sample_size = 1)]
fn insert_hnsw(bencher: Bencher, size: usize) {
    bench_insert(bencher, filled(HnswIndex::new(size), size));
}
