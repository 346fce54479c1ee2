//! The learned base rate against a simulated backend, in paused time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;

/// A backend with slots and an inner queue, first come first served.
struct Backend {
    slots: Semaphore,
    total: AtomicU32,
    inside: AtomicU32,
    /// Slot time used, in milliseconds.
    busy: AtomicU64,
    done: AtomicU32,
}

impl Backend {
    fn new(slots: u32) -> Arc<Self> {
        Arc::new(Self {
            slots: Semaphore::new(slots as usize),
            total: AtomicU32::new(slots),
            inside: AtomicU32::new(0),
            busy: AtomicU64::new(0),
            done: AtomicU32::new(0),
        })
    }

    async fn run(&self, service: Duration) {
        self.inside.fetch_add(1, Relaxed);
        let slot = self.slots.acquire().await.unwrap();
        sleep(service).await;
        drop(slot);
        self.busy.fetch_add(u64::try_from(service.as_millis()).unwrap(), Relaxed);
        self.inside.fetch_sub(1, Relaxed);
        self.done.fetch_add(1, Relaxed);
    }

    fn total(&self) -> u32 {
        self.total.load(Relaxed)
    }

    fn grow(&self, by: u32) {
        self.slots.add_permits(by as usize);
        self.total.fetch_add(by, Relaxed);
    }

    async fn shrink(&self, by: u32) {
        self.slots.acquire_many(by).await.unwrap().forget();
        self.total.fetch_sub(by, Relaxed);
    }

    fn running(&self) -> u32 {
        self.inside.load(Relaxed).min(self.total())
    }

    fn waiting(&self) -> u32 {
        self.inside.load(Relaxed).saturating_sub(self.total())
    }

    /// What its metrics page says; it does not know its slots, only that something waits.
    fn load(&self) -> Load {
        known(if self.waiting() > 0 { 0.0 } else { 0.6 }, self.running(), self.waiting())
    }

    fn utilisation(&self, span: Duration) -> f64 {
        self.busy.swap(0, Relaxed) as f64 / 1000.0 / f64::from(self.total()) / span.as_secs_f64()
    }
}

/// A service time between half and one and a half of `mean`, from a fixed seed.
fn service(seed: &AtomicU64, mean: Duration) -> Duration {
    let next = seed.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mean.mul_f64(0.5 + (next >> 11) as f64 / (1_u64 << 53) as f64)
}

/// One inference of generation that produces about 250 tokens: charged 5, really 10.
async fn call(gate: &GpuGate, backend: &Backend, service: Duration) -> Result<(), Busy> {
    let generation = task("generation");
    let mut permit = gate.admit(gate.cost(&generation, None), None).await?;
    backend.run(service).await;
    permit.settle(&generation, Usage { prompt: 10, completion: 250 });
    Ok(())
}

/// Callers that ask again as soon as they are answered, until dropped; and how many were refused.
fn crowd(callers: u32, gate: &GpuGate, backend: &Arc<Backend>, mean: Duration) -> (JoinSet<()>, Arc<AtomicU32>) {
    let (refused, seed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(7)));
    let mut all = JoinSet::new();
    for _ in 0..callers {
        let (gate, backend) = (gate.clone(), Arc::clone(backend));
        let (refused, seed) = (Arc::clone(&refused), Arc::clone(&seed));
        all.spawn(async move {
            loop {
                if call(&gate, &backend, service(&seed, mean)).await.is_err() {
                    refused.fetch_add(1, Relaxed);
                }
            }
        });
    }
    (all, refused)
}

/// The probe's part, for so many seconds; returns the mean number that waited inside the backend.
async fn probe(seconds: u32, gate: &GpuGate, backend: &Backend) -> f64 {
    let mut waited = 0;
    for _ in 0..seconds {
        sleep(Duration::from_secs(1)).await;
        waited += backend.waiting();
        gate.set_load(backend.load());
    }
    f64::from(waited) / f64::from(seconds)
}

#[tokio::test(start_paused = true)]
async fn the_gate_stays_open_until_the_backend_has_shown_what_it_can_do() {
    let gate = gate(Config { max_wait: Duration::ZERO, ..Config::default() });
    gate.set_load(known(0.0, 8, 500));
    let all: Vec<_> = (0..1000).map(|_| gate.try_admit(Cost(50)).unwrap()).collect();
    assert_eq!(all.len(), 1000);
    assert_eq!(gate.status().learned, None);
}

#[tokio::test(start_paused = true)]
async fn the_measured_capacity_is_what_the_backend_completes() {
    let (gate, backend) = (gate(Config::default()), Backend::new(8));
    let (_crowd, _) = crowd(60, &gate, &backend, Duration::from_secs(1));
    probe(60, &gate, &backend).await;
    let learned = gate.status().learned.unwrap();
    // 8 slots, 1 s, 10 tokens each.
    assert!((learned.per_second / 80.0 - 1.0).abs() < 0.2, "{learned:?}");
    assert!((learned.slots / 8.0 - 1.0).abs() < 0.2, "{learned:?}");
}

#[tokio::test(start_paused = true)]
async fn excess_waits_with_us_and_the_backend_stays_busy() {
    for (slots, mean) in [(8, Duration::from_secs(1)), (4, Duration::from_secs(6)), (32, Duration::from_millis(400))] {
        let (gate, backend) = (gate(Config::default()), Backend::new(slots));
        let callers = slots * 4;
        let (_crowd, refused) = crowd(callers, &gate, &backend, mean);
        probe(60, &gate, &backend).await;
        backend.busy.store(0, Relaxed);
        let span = Duration::from_mins(5);
        let waited_inside = probe(300, &gate, &backend).await;
        let busy = backend.utilisation(span);
        assert!(busy > 0.95, "{slots} slots of {mean:?} were only {busy} busy");
        let excess = f64::from(callers - slots);
        assert!(waited_inside < excess * 0.2, "{waited_inside} of {excess} waited inside the backend");
        assert_eq!(refused.load(Relaxed), 0, "capacity sufficed for everyone within 30 s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_with_room_is_never_kept_waiting() {
    let (gate, backend) = (gate(Config::default()), Backend::new(8));
    let (crowd, _) = crowd(40, &gate, &backend, Duration::from_millis(500));
    probe(30, &gate, &backend).await;
    drop(crowd);
    sleep(Duration::from_millis(1)).await;
    gate.set_load(known(0.9, 0, 0));
    assert!(gate.status().learned.is_some_and(|learned| learned.slots >= 8.0), "{:?}", gate.status());
    // Far dearer than anything the bucket holds; but there is a slot for each.
    let permits: Vec<_> = (0..8).map_while(|_| gate.try_admit(Cost(1000))).collect();
    assert_eq!(permits.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_grows_is_used_again_in_full() {
    let (gate, backend) = (gate(Config::default()), Backend::new(4));
    let (_crowd, _) = crowd(100, &gate, &backend, Duration::from_secs(1));
    probe(60, &gate, &backend).await;
    backend.grow(12);
    probe(60, &gate, &backend).await;
    backend.busy.store(0, Relaxed);
    probe(60, &gate, &backend).await;
    let busy = backend.utilisation(Duration::from_mins(1));
    assert!(busy > 0.95, "16 slots were only {busy} busy: {:?}", gate.status());
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_shrinks_is_not_flooded() {
    let (gate, backend) = (gate(Config::default()), Backend::new(16));
    let (_crowd, _) = crowd(64, &gate, &backend, Duration::from_secs(1));
    probe(60, &gate, &backend).await;
    backend.shrink(12).await;
    probe(30, &gate, &backend).await;
    let waited_inside = probe(60, &gate, &backend).await;
    assert!(waited_inside < 6.0, "{waited_inside} of 60 waited inside the 4 slots: {:?}", gate.status());
}

#[tokio::test(start_paused = true)]
async fn a_backend_filled_by_others_teaches_nothing() {
    let gate = gate(Config::default());
    for _ in 0..60 {
        let mut permit = gate.try_admit(Cost(5)).unwrap();
        sleep(Duration::from_secs(1)).await;
        gate.set_load(known(0.0, 8, 40));
        permit.settle(&task("generation"), Usage { prompt: 1, completion: 100 });
    }
    assert_eq!(gate.status().learned, None, "our share of it is not its capacity");
}

/// Mean time of 4,000 calls that come by chance at 80% of the capacity of 8 slots, 60 of every 400 at once.
async fn mean_time(gate: &GpuGate) -> Duration {
    let (backend, seed) = (Backend::new(8), Arc::new(AtomicU64::new(42)));
    let (probed, watched) = (gate.clone(), Arc::clone(&backend));
    let probe = tokio::spawn(async move { probe(u32::MAX, &probed, &watched).await });
    let mut calls = JoinSet::new();
    for n in 0..4000 {
        if n % 400 >= 60 {
            sleep(service(&seed, Duration::from_millis(180))).await;
        }
        let (gate, backend, time) = (gate.clone(), Arc::clone(&backend), service(&seed, Duration::from_secs(1)));
        calls.spawn(async move {
            let came = Instant::now();
            call(&gate, &backend, time).await.unwrap();
            came.elapsed()
        });
    }
    let total: Duration = calls.join_all().await.iter().sum();
    probe.abort();
    total / 4000
}

#[tokio::test(start_paused = true)]
async fn a_load_that_the_backend_can_carry_is_as_fast_as_without_a_gate() {
    let learning = gate(Config::default());
    let with_gate = mean_time(&learning).await;
    assert!(learning.status().learned.is_some(), "the crowds should have taught it");
    // Fixed far above anything: never waits.
    let without =
        mean_time(&gate(Config { base_rate: BaseRate::Fixed(1e9), capacity: 1 << 30, ..Config::default() })).await;
    assert!(with_gate <= without.mul_f64(1.01), "{with_gate:?} with the gate, {without:?} without");
}
