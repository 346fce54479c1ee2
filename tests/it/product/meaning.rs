//! The semantic tier with the real model, without one, and under too much work.

use std::fs;
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use weir::sim::{Sim, SimConfig};

use super::support::{Gateway, Setting, ask, instant, until};

/// A rewording whose every difference is explained.
const QUESTION: &str = "What is the capital of France?";
const REWORDED: &str = "What's the capital city of France?";
/// One letter and another answer.
const OTHER: &str = "What is the capital of Francia?";

const QA: [(&str, &str); 1] = [("x-task-type", "qa")];

#[tokio::test]
async fn a_rewording_is_answered_by_the_tier_that_understands_it() {
    for (tiers, tier) in [("\"lexical\"", "lexical"), ("\"semantic\"", "semantic")] {
        let sim = instant().await;
        // The machine may be busy; how long an embedding may take is not what is shown here.
        let config = format!("[tasks.qa]\ntiers = [\"exact\", {tiers}]\n[embedder]\nbudget = \"10s\"\n");
        let gateway = Gateway::before(&sim, Setting { model: true, ..Setting::with(&config) }).await;
        let first = gateway.chat_with(&QA, &ask(QUESTION)).await;
        // The stored question is embedded after its caller has been served.
        let hit = until(async || gateway.stored(&QA, &ask(REWORDED)).await).await;
        assert!(hit.header("x-weir-match").starts_with(tier), "{hit:?}");
        assert_eq!(hit.said(), first.said());
        let other = gateway.chat_with(&QA, &ask(OTHER)).await;
        assert_eq!(other.header("x-weir-source"), "upstream", "never the wrong answer");
        assert_eq!(sim.calls(), 2);
        assert_eq!(gateway.metrics().await.sum("weir_embed_state", &[("state", "ready")]), 1.0);
    }
}

/// The default model's folder with a model that is none.
fn corrupted(folder: &Path) {
    let good = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/use-multilingual-3");
    let files = fs::read_dir(good).expect("no model: run models/setup.sh");
    for file in files.map(Result::unwrap).filter(|file| file.file_name() != "model.onnx") {
        std::os::unix::fs::symlink(file.path(), folder.join(file.file_name())).unwrap();
    }
    fs::write(folder.join("model.onnx"), b"this is not a model").unwrap();
}

#[tokio::test]
async fn without_a_working_model_the_other_tiers_go_on_and_one_line_says_so() {
    let folder = tempfile::tempdir().unwrap();
    corrupted(folder.path());
    let sim = instant().await;
    let config = format!("[embedder]\nmodel = {:?}\n", folder.path());
    let gateway = Gateway::before(&sim, Setting { model: true, ..Setting::with(&config) }).await;
    gateway.until_metric("weir_embed_state", &[("state", "failed")], 1.0).await;
    assert_eq!(gateway.ready().await, 200);
    for (question, source) in [(QUESTION, "upstream"), (QUESTION, "cache"), (REWORDED, "cache"), (OTHER, "upstream")] {
        let reply = gateway.chat_with(&QA, &ask(question)).await;
        assert_eq!(reply.header("x-weir-source"), source, "{question}");
    }
    assert_eq!(gateway.log().matches("an embedding thread has ended").count(), 1, "{}", gateway.log());
}

fn embed_threads(pid: u32) -> usize {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "weir-embed").count()
}

/// About 400 tokens that no other prompt has.
fn long_prompt(n: usize) -> String {
    let words = ["river", "harbour", "mountain", "garden", "bridge", "window", "market", "forest"];
    let text: Vec<String> = (0..380).map(|at| words[(at * (n + 3) + n) % words.len()].to_owned()).collect();
    format!("What does passage number {n} describe: {}?", text.join(" "))
}

#[tokio::test]
async fn k12_07_more_embeddings_than_time_cost_a_tier_and_neither_an_answer_nor_a_stream() {
    let per_token = Duration::from_millis(50);
    let sim = Sim::start(SimConfig { decode: per_token, output_tokens: 40..=40, ..SimConfig::taking(Duration::ZERO) });
    let sim = sim.await.unwrap();
    let queue = 16;
    let config = format!("[embedder]\nthreads = 2\nqueue = {queue}\nmax_tokens = 512\n");
    let gateway = Gateway::before(&sim, Setting { model: true, ..Setting::with(&config) }).await;
    gateway.chat_with(&QA, &ask(QUESTION)).await;
    gateway.until_metric("weir_embed_runs_total", &[], 1.0).await;

    let mut stream = gateway.stream("What does the river say?").await;
    let prompts: Vec<_> = (0..200).map(|n| ask(&long_prompt(n))).collect();
    let asking = join_all(prompts.iter().map(|body| gateway.chat_with(&QA, body)));
    let listening = async {
        let (mut gaps, mut last) = (Vec::new(), Instant::now());
        while stream.next().await.is_some() {
            gaps.push(last.elapsed());
            last = Instant::now();
        }
        gaps
    };
    let watching = async {
        let mut longest = 0.0_f64;
        until(async || {
            let metrics = gateway.metrics().await;
            longest = longest.max(metrics.sum("weir_embed_queue", &[]));
            (metrics.sum("weir_requests_total", &[("outcome", "ok")]) >= 202.0).then_some(())
        })
        .await;
        longest
    };
    let (replies, mut gaps, longest) = tokio::join!(asking, listening, watching);
    assert!(replies.iter().all(|reply| reply.status == 200));
    // A text counts as waiting while it is offered to a full queue and while a thread takes it.
    assert!(longest <= f64::from(queue + 8), "{longest} texts waited");
    let failures = gateway.metrics().await;
    let [late, full] =
        ["over_budget", "full"].map(|reason| failures.sum("weir_embed_failures_total", &[("reason", reason)]));
    assert!(late + full > 0.0, "there was more to embed than time");
    assert_eq!(embed_threads(gateway.pid()), 2);
    gaps.sort();
    println!("gap between deltas of {per_token:?}: p99 {:?}; late {late}, full {full}", gaps[gaps.len() * 99 / 100]);
}
