//! The replayer over real connections: it must see a wrong answer when there is one.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use indicatif::ProgressBar;
use weir::replay::{Book, Entry, Pace, RunFigures, Target, read, send};
use weir::sim::{Sim, SimConfig};

const FILE: &str = r#"{"at_ms":0,"path":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"一共几天?"}]},"group":"a"}
{"at_ms":1,"path":"/v1/chat/completions","body":{"stream":true,"messages":[{"role":"user","content":"一共几周?"}]},"group":"b"}
{"at_ms":2,"path":"/v1/completions","body":{"prompt":"How many days in all?"},"group":"c"}"#;

fn entries() -> Vec<Entry> {
    read(FILE.as_bytes()).unwrap()
}

async fn run(base: &str) -> RunFigures {
    let book = Arc::new(Book::new(&entries()).unwrap());
    let samples = send(&entries(), &Target::new(base), Pace::OWN, &book, &ProgressBar::hidden()).await;
    RunFigures::of(&samples, None)
}

/// A gateway that gives everybody the same answer and says that it came from the cache.
async fn careless(answer: String) -> String {
    let headers =
        [("content-type", "application/json"), ("x-weir-source", "cache"), ("x-weir-match", "semantic;score=0.990")];
    let router = Router::new().fallback(move || {
        let answer = answer.clone();
        async move { (headers, answer) }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

#[tokio::test]
async fn a_direct_run_is_answered_in_full_by_each_askers_own_prompt() {
    let sim = Sim::start(SimConfig::instant()).await.unwrap();
    let figures = run(&sim.url()).await;
    assert_eq!((figures.answered, figures.wrong, figures.unverified, figures.inferences), (3, 0, 0, 3));
    assert_eq!(figures.first_bytes.count, 1);
}

#[tokio::test]
async fn a_gateway_that_shares_what_differs_is_found_out() {
    let sim = Sim::start(SimConfig::instant()).await.unwrap();
    let target = Target::new(&sim.url());
    let body = entries()[0].body();
    let answer = target.post("/v1/chat/completions", body).await.unwrap();
    let figures = run(&careless(String::from_utf8(answer.to_vec()).unwrap()).await).await;
    assert_eq!((figures.answered, figures.wrong, figures.inferences), (3, 2, 0));
    assert_eq!(figures.by_source, BTreeMap::from([("cache".into(), BTreeMap::from([("semantic".into(), 3)]))]));
}

#[tokio::test]
async fn requests_leave_at_their_time_whatever_became_of_the_earlier_ones() {
    let sim = Sim::start(SimConfig::instant()).await.unwrap();
    sim.hold_after(0);
    let url = sim.url();
    let running = tokio::spawn(async move { run(&url).await });
    sim.until(|stats| stats.calls == 3).await;
    assert_eq!(sim.stats().completed, 0);
    sim.release();
    assert_eq!(running.await.unwrap().answered, 3);
}

#[tokio::test]
async fn refusals_and_failures_are_told_apart_from_answers() {
    let sim = Sim::start(SimConfig::instant()).await.unwrap();
    sim.queue_faults(["429", "cut", "500"].map(|fault| fault.parse().unwrap()));
    let figures = run(&sim.url()).await;
    assert_eq!((figures.answered, figures.refused, figures.failed), (0, 1, 2), "{:?}", figures.failures);
}
