//! What admission costs beside a plain atomic counter. Read the ratios of one run, not the nanoseconds of
//! one machine: `cargo bench --bench admission`.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use divan::Bencher;
use weir::domain::{Cost, GpuIdle, Load, MaxTokens, Outcome, Route, Score, Source, TaskName, Tick, Tier};
use weir::limit::{BaseRate, Config, GpuGate};
use weir::meter::{CallEnd, Meter, Stage};
use weir::stats::{Bucket, MicroTokens, Rate};

/// Callers at once; the machine need not have that many cores.
const THREADS: [usize; 2] = [1, 4];

fn main() {
    divan::main();
}

/// A gate with tokens for everyone, at a known load.
fn rich_gate(base_rate: BaseRate) -> GpuGate {
    let gate = GpuGate::new(Config { base_rate, capacity: 1 << 31, ..Config::default() }, Meter::new());
    gate.set_load(Load::Known { idle: GpuIdle(Score::ONE), waiting: 0, running: 1 });
    gate
}

/// The yardstick.
#[divan::bench(threads = THREADS)]
fn a_plain_atomic_counter(bencher: Bencher) {
    let counter = AtomicU64::new(0);
    bencher.bench(|| counter.fetch_add(black_box(1), Ordering::Relaxed));
}

#[divan::bench]
fn bucket_take(bencher: Bencher) {
    let mut bucket = Bucket::full(MicroTokens::whole(1 << 31), Rate::per_second(1e9), Tick::START);
    let mut now = Tick::START;
    bencher.bench_local(|| {
        now = now + Duration::from_micros(1);
        bucket.take(black_box(now), MicroTokens::whole(5))
    });
}

#[divan::bench]
fn cost_of_a_task(bencher: Bencher) {
    let (gate, task) = (rich_gate(BaseRate::Auto), TaskName::new("generation"));
    bencher.bench(|| gate.cost(black_box(&task), Some(MaxTokens(1000))));
}

#[divan::bench(threads = THREADS)]
fn would_wait(bencher: Bencher) {
    let gate = rich_gate(BaseRate::Fixed(1e9));
    bencher.bench(|| gate.would_wait(black_box(Cost(5))));
}

#[divan::bench(threads = THREADS)]
fn admit_and_leave_at_a_fixed_rate(bencher: Bencher) {
    let gate = rich_gate(BaseRate::Fixed(1e9));
    bencher.bench(|| gate.try_admit(black_box(Cost(5))));
}

#[divan::bench(threads = THREADS)]
fn admit_and_leave_while_open(bencher: Bencher) {
    let gate = rich_gate(BaseRate::Auto);
    bencher.bench(|| gate.try_admit(black_box(Cost(5))));
}

// The first call makes the series and would set the sample size for all.
#[divan::bench(threads = THREADS, sample_size = 512)]
fn meter_a_call(bencher: Bencher) {
    let (meter, task) = (Meter::new(), TaskName::new("qa"));
    let end = CallEnd {
        route: Route::Chat,
        source: Source::Cache,
        tier: Some(Tier::Exact),
        outcome: Outcome::Ok,
        elapsed: Duration::from_micros(300),
    };
    bencher.bench(|| meter.call_ended(&task, black_box(end)));
}

#[divan::bench(threads = THREADS)]
fn meter_a_stage(bencher: Bencher) {
    let meter = Meter::new();
    bencher.bench(|| meter.stage(Stage::Exact, black_box(Duration::from_micros(3))));
}
