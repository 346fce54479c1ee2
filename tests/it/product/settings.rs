//! Configuration and thresholds of a running process.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

use super::support::{Gateway, Setting, ask, instant, until};

const QA: [(&str, &str); 1] = [("x-task-type", "qa")];

/// Waits until the last refusal gives this reason.
async fn until_refused(gateway: &Gateway, reason: &str) -> Value {
    until(async || {
        let status = gateway.in_force().await["status"].take();
        status["last_error"].to_string().contains(reason).then_some(status)
    })
    .await
}

async fn until_generation(gateway: &Gateway, generation: u64) {
    until(async || (gateway.in_force().await["status"]["generation"] == generation).then_some(())).await;
}

#[tokio::test]
async fn k10_01_bad_files_change_nothing_while_streams_run_and_a_good_one_is_applied() {
    let sim = instant().await;
    let url = sim.url();
    let base = "[server]\nlisten = \"127.0.0.1:0\"\n";
    let good = Setting { listen: None, ..Setting::with(base) };
    let text = good.text(&url);
    let gateway = Gateway::before(&sim, good).await;
    let write = |text: &str| fs::write(&gateway.file, text).unwrap();
    let before = gateway.in_force().await["status"].take();
    sim.hold_after(2);
    let questions: Vec<_> = (0..50).map(|n| format!("What is the square of {n}?")).collect();
    let mut running = join_all(questions.iter().map(|question| gateway.stream(question))).await;

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (bad, reason) in [
        (format!("{text}[window\n"), "weir.toml:"),
        (format!("{text}[tasks.qa]\nsemantic = 1.7\n"), "tasks.qa.semantic: 1.7"),
        (text.replace(&url, "http://nowhere.invalid"), "upstream.url: unknown host"),
        (text.replace("127.0.0.1:0", &taken.to_string()), "server.listen: "),
        (String::new(), "empty"),
    ] {
        write(&bad);
        let status = until_refused(&gateway, reason).await;
        assert_eq!(status["ok"], false);
        assert_eq!((&status["hash"], &status["generation"]), (&before["hash"], &before["generation"]));
        assert_eq!(gateway.metrics().await.sum("weir_config_last_reload_success", &[]), 0.0);
        gateway.until_logged(&reason.replace('"', "\\\"")).await;
        if bad.contains("1.7") {
            let line = bad.lines().position(|line| line.contains("1.7")).unwrap() + 1;
            assert!(status["last_error"].to_string().contains(&format!("weir.toml:{line}: ")), "{status}");
        }
        assert_eq!(sim.stats().running, 50, "the streams go on");
    }
    write(&format!("{text}[tasks.qa]\nsemantic = 0.9\n"));
    until_generation(&gateway, 2).await;
    assert_eq!(gateway.metrics().await.sum("weir_config_last_reload_success", &[]), 1.0);
    sim.release();
    for stream in &mut running {
        assert!(!stream.rest().await.is_empty());
    }
}

#[tokio::test]
async fn k10_03_after_a_refusal_every_replica_shows_what_is_in_force() {
    let sim = instant().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weir.toml");
    let good = Setting { upstream: "api_key = \"sk-provider\"".to_owned(), ..Setting::default() }.text(&sim.url());
    fs::write(&file, &good).unwrap();
    let start = || Gateway::before(&sim, Setting { file: Some(file.clone()), ..Setting::default() });
    let replicas = [start().await, start().await, start().await];
    let first = replicas[0].in_force().await;
    fs::write(&file, format!("{good}[tasks.qa]\nlexical = 1.7\n")).unwrap();
    for replica in &replicas {
        let status = until_refused(replica, "tasks.qa.lexical").await;
        assert!(status["last_error"]["at"].as_str().unwrap().ends_with('Z'));
        let page = replica.in_force().await;
        assert_eq!((&page["config"], &page["status"]["hash"]), (&first["config"], &first["status"]["hash"]));
        assert_eq!(page["config"]["upstream"]["api_key"], "***");
        let hash = status["hash"].as_str().unwrap();
        assert_eq!(replica.metrics().await.sum("weir_config_info", &[("hash", hash)]), 1.0);
    }
}

#[tokio::test]
async fn k10_07_every_way_to_change_a_file_is_seen_every_time_and_once() {
    let sim = instant().await;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = |callers: usize| Setting::with(&format!("[window]\nmax_callers = {callers}\n")).text(&sim.url());
    let put = |name: &str, callers: usize| {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("weir.toml"), text(callers)).unwrap();
    };
    let replace = |what: &Path, by: &Path| fs::rename(by, what).unwrap();
    put("..v1", 11);
    symlink("..v1", at("..data")).unwrap();
    symlink("..data/weir.toml", at("weir.toml")).unwrap();
    let gateway = Gateway::before(&sim, Setting { file: Some(at("weir.toml")), ..Setting::default() }).await;
    let applied = async || gateway.metrics().await.sum("weir_config_reloads_total", &[("outcome", "applied")]);
    let at_start = applied().await;
    for version in 2..=4 {
        put(&format!("..v{version}"), 10 + version);
        symlink(format!("..v{version}"), at("..new")).unwrap();
        replace(&at("..data"), &at("..new"));
        fs::remove_dir_all(at(&format!("..v{}", version - 1))).unwrap();
        until_generation(&gateway, version as u64).await;
        assert_eq!(gateway.in_force().await["config"]["window"]["max_callers"], 10 + version);
    }
    // As an editor saves: a new file renamed over the name.
    fs::write(at("weir.toml~"), text(15)).unwrap();
    replace(&at("weir.toml"), &at("weir.toml~"));
    until_generation(&gateway, 5).await;
    fs::write(at("other"), text(16)).unwrap();
    fs::copy(at("other"), at("weir.toml")).unwrap();
    until_generation(&gateway, 6).await;
    let metrics = gateway.metrics().await;
    assert_eq!(applied().await - at_start, 5.0, "once each");
    assert_eq!(metrics.sum("weir_config_reloads_total", &[("outcome", "refused")]), 0.0);
}

#[tokio::test]
async fn a_threshold_decides_the_next_call_and_survives_a_restart_if_it_is_to() {
    let sim = instant().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weir.toml");
    fs::write(&file, Setting::default().text(&sim.url())).unwrap();
    let start = || Gateway::before(&sim, Setting { file: Some(file.clone()), ..Setting::default() });
    let mut gateway = start().await;
    let reworded = ask("What's the capital city of France?");
    gateway.chat_with(&QA, &ask("What is the capital of France?")).await;
    assert!(gateway.stored(&QA, &reworded).await.is_some());

    let put = async |gateway: &Gateway, wish: Value| gateway.admin(Method::PUT, "/admin/thresholds", &wish).await;
    let bad = put(&gateway, json!({"tasks": {"qa": {"lexical": 1.7, "semantic": 0.9}}})).await;
    assert_eq!((bad.status.as_u16(), &bad.json()["error"]["param"]), (400, &json!("tasks.qa.lexical")));
    assert!(gateway.stored(&QA, &reworded).await.is_some(), "a bad value changes nothing");
    let wish = json!({"tasks": {"qa": {"tiers": ["exact"]}}, "persist": true});
    assert_eq!(put(&gateway, wish).await.status, 200);
    assert!(gateway.stored(&QA, &reworded).await.is_none(), "in force at once");

    gateway.terminate().await;
    assert_eq!(gateway.ended().await, Some(0));
    let again = start().await;
    let shown = again.admin(Method::GET, "/admin/thresholds", &Value::Null).await.json();
    assert_eq!(shown["tasks"]["qa"]["tiers"], json!({"value": ["exact"], "from": "overlay"}));
    again.chat_with(&QA, &ask("What is the capital of France?")).await;
    assert!(again.stored(&QA, &reworded).await.is_none());
}
