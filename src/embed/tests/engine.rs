use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use futures_util::future::{join, join_all};
use futures_util::{FutureExt, pin_mut};

use super::super::worker::TextModel;
use super::*;

/// What the model does when it is given a text.
#[derive(Clone, Copy)]
enum Script {
    /// Answers when the test opens the gate.
    Gated,
    /// Answers at once.
    Prompt,
    /// Finds every text too long.
    Short,
    /// Panics.
    Fragile,
}

/// A model under the test's control, in an engine.
struct Scene {
    engine: OnnxEmbedder,
    meter: Meter,
    runs: Arc<AtomicU64>,
    /// One message for every text that a thread has begun with.
    begun: Receiver<()>,
    /// One message lets one gated text through.
    gate: Sender<()>,
}

struct Scripted {
    script: Script,
    runs: Arc<AtomicU64>,
    begun: Sender<()>,
    gate: Arc<Mutex<Receiver<()>>>,
}

impl TextModel for Scripted {
    fn embed(&mut self, text: &str) -> Result<Embedding, EmbedError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let _ = self.begun.send(());
        match self.script {
            Script::Prompt => {}
            Script::Gated => self.gate.lock().unwrap().recv().map_err(|_| EmbedError::Unavailable)?,
            Script::Short => return Err(EmbedError::TooLong),
            Script::Fragile => panic!("on purpose"),
        }
        Ok(noise(text))
    }
}

impl Scene {
    async fn new(script: Script, config: Config) -> Self {
        let (begun_sender, begun) = channel();
        let (gate, gate_receiver) = channel();
        let (runs, gate_receiver) = (Arc::<AtomicU64>::default(), Arc::new(Mutex::new(gate_receiver)));
        let (meter, counted) = (Meter::new(), Arc::clone(&runs));
        let engine = OnnxEmbedder::start_with(&config, meter.clone(), move || {
            let (runs, begun, gate) = (Arc::clone(&counted), begun_sender.clone(), Arc::clone(&gate_receiver));
            Ok(Box::new(Scripted { script, runs, begun, gate }) as Box<dyn TextModel>)
        });
        assert_eq!(engine.loaded().await, EmbedState::Ready);
        Self { engine, meter, runs, begun, gate }
    }

    fn runs(&self) -> u64 {
        self.runs.load(Ordering::SeqCst)
    }

    fn failures(&self, reason: &str) -> bool {
        self.meter.render().contains(&format!("weir_embed_failures_total{{reason=\"{reason}\"}} 1"))
    }
}

fn patient() -> Config {
    Config { budget: PATIENT, ..Config::default() }
}

/// Waits until the engine has failed, and says why.
async fn failure_of(engine: &OnnxEmbedder) -> String {
    let mut states = engine.states();
    let failed = states.wait_for(|state| matches!(state, EmbedState::Failed(_))).await.unwrap();
    let EmbedState::Failed(reason) = &*failed else { unreachable!() };
    reason.to_string()
}

#[tokio::test]
async fn a_text_has_its_embedding() {
    let scene = Scene::new(Script::Prompt, patient()).await;
    assert_eq!(scene.engine.embed("a").await, Ok(noise("a")));
    assert!(scene.meter.render().contains("weir_embed_runs_total 1"));
}

#[tokio::test]
async fn no_text_is_embedded_twice() {
    let scene = Scene::new(Script::Prompt, patient()).await;
    let first = scene.engine.embed("a").await;
    assert_eq!(scene.engine.embed("a").await, first);
    assert_eq!(scene.runs(), 1);
    assert!(scene.meter.render().contains("weir_embed_cache_hits_total 1"));
}

#[tokio::test]
async fn ten_equal_texts_at_once_are_one_run() {
    let scene = Scene::new(Script::Gated, patient()).await;
    let ten = join_all((0..10).map(|_| scene.engine.embed("a")));
    // All ten are polled, and so wait, before the gate opens.
    let (outcomes, ()) = join(ten, async { scene.gate.send(()).unwrap() }).await;
    assert_eq!(outcomes, vec![Ok(noise("a")); 10]);
    assert_eq!(scene.runs(), 1);
}

#[tokio::test]
async fn a_text_beyond_the_window_is_refused_and_not_tried_again() {
    let scene = Scene::new(Script::Short, patient()).await;
    assert_eq!(scene.engine.embed("a").await, Err(EmbedError::TooLong));
    assert_eq!(scene.engine.embed("a").await, Err(EmbedError::TooLong));
    assert_eq!(scene.runs(), 1);
}

#[tokio::test]
async fn a_full_queue_says_so_at_once() {
    let scene = Scene::new(Script::Gated, Config { queue: 1, ..patient() }).await;
    let (running, queued) = (scene.engine.embed("a"), scene.engine.embed("b"));
    pin_mut!(running, queued);
    assert_eq!(running.as_mut().now_or_never(), None);
    scene.begun.recv().unwrap();
    assert_eq!(queued.as_mut().now_or_never(), None);
    assert_eq!(scene.engine.embed("c").await, Err(EmbedError::Full));
    assert!(scene.failures("full"));
    scene.gate.send(()).unwrap();
    scene.gate.send(()).unwrap();
    assert_eq!(join(running, queued).await, (Ok(noise("a")), Ok(noise("b"))));
}

#[tokio::test(start_paused = true)]
async fn a_call_over_budget_goes_on_and_the_next_one_has_the_result() {
    let scene = Scene::new(Script::Gated, patient()).await;
    assert_eq!(scene.engine.embed("a").await, Err(EmbedError::OverBudget));
    assert!(scene.failures("over_budget"));
    tokio::time::resume();
    scene.gate.send(()).unwrap();
    assert_eq!(scene.engine.embed("a").await, Ok(noise("a")));
    assert_eq!(scene.runs(), 1);
}

#[tokio::test]
async fn a_caller_who_leaves_does_not_end_the_run() {
    let scene = Scene::new(Script::Gated, patient()).await;
    assert_eq!(scene.engine.embed("a").now_or_never(), None);
    scene.gate.send(()).unwrap();
    assert_eq!(scene.engine.embed("a").await, Ok(noise("a")));
    assert_eq!(scene.runs(), 1);
}

#[tokio::test]
async fn a_panicking_model_fails_the_tier_and_nothing_else() {
    let scene = Scene::new(Script::Fragile, patient()).await;
    assert_eq!(scene.engine.embed("a").await, Err(EmbedError::Unavailable));
    assert_eq!(failure_of(&scene.engine).await, "the model's thread panicked");
    assert_eq!(scene.engine.embed("a").await, Err(EmbedError::Unavailable));
    assert!(scene.meter.render().contains("weir_embed_state{state=\"failed\"} 1"));
}

#[tokio::test]
async fn those_who_wait_behind_a_panic_are_told() {
    let scene = Scene::new(Script::Fragile, patient()).await;
    let outcomes = join_all(["a", "b", "c"].map(|text| scene.engine.embed(text))).await;
    assert_eq!(outcomes, vec![Err(EmbedError::Unavailable); 3]);
}

#[tokio::test]
async fn two_threads_work_at_once() {
    let scene = Scene::new(Script::Gated, Config { threads: 2, ..patient() }).await;
    let Scene { engine, begun, gate, .. } = scene;
    let both = join(engine.embed("a"), engine.embed("b"));
    let opening = tokio::task::spawn_blocking(move || {
        // Neither is let through before both have begun.
        for _ in 0..2 {
            begun.recv_timeout(PATIENT).unwrap();
        }
        gate.send(()).unwrap();
        gate.send(()).unwrap();
    });
    let (outcomes, opened) = join(both, opening).await;
    opened.unwrap();
    assert_eq!(outcomes, (Ok(noise("a")), Ok(noise("b"))));
}

#[tokio::test]
async fn a_model_that_cannot_be_loaded_is_a_state_with_a_reason() {
    let engine = OnnxEmbedder::start_with(&patient(), Meter::new(), || Err(LoadError::Model("broken".into())));
    assert_eq!(engine.loaded().await, EmbedState::Failed("the model cannot be used: broken".into()));
    assert_eq!(engine.embed("a").await, Err(EmbedError::Unavailable));
}

#[tokio::test]
async fn a_panic_while_loading_is_a_state_too() {
    let engine = OnnxEmbedder::start_with(&patient(), Meter::new(), || panic!("on purpose"));
    assert_eq!(engine.loaded().await, EmbedState::Failed("the model's thread panicked".into()));
}

#[tokio::test]
async fn nobody_waits_for_a_model_that_is_loading() {
    let (release, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let engine = OnnxEmbedder::start_with(&patient(), Meter::new(), move || {
        let _ = wait.lock().unwrap().recv();
        Err(LoadError::Model("late".into()))
    });
    assert_eq!(engine.state(), EmbedState::Loading);
    assert_eq!(engine.embed("a").await, Err(EmbedError::Unavailable));
    drop(release);
}

#[tokio::test]
async fn switched_off_there_is_no_thread_and_no_failure() {
    let meter = Meter::new();
    let engine = OnnxEmbedder::start(&Config { enabled: false, ..Config::default() }, meter.clone());
    assert_eq!(engine.loaded().await, EmbedState::Off);
    assert_eq!(engine.embed("a").await, Err(EmbedError::Unavailable));
    assert!(!meter.render().contains("weir_embed_failures_total{"));
}
