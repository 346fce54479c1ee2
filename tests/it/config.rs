//! The configuration from outside: the command that checks it, a running gateway that reloads it, and the files
//! in the repository that name its keys and metrics.

pub mod gateway;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use http_body_util::BodyExt;
use serde_json::json;
use weir::config::{Loader, Overrides};

use gateway::{Gateway, TOKEN};

fn weir(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weir")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn check_ends_with_one_and_names_everything_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.toml");
    fs::write(&file, "[windwo]\nlength = \"1s\"\n[tasks.qa]\nsemantic = 1.7\n").unwrap();
    let output = weir(&["check", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("bad.toml:1: windwo: unknown key") && told.contains("did you mean \"window\"?"), "{told}");
    assert!(told.contains("bad.toml:4: tasks.qa.semantic: 1.7 is not between 0 and 1"), "{told}");
}

#[test]
fn the_printed_defaults_are_a_sound_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("defaults.toml");
    fs::write(&file, weir(&["check", "--defaults"]).stdout).unwrap();
    let output = weir(&["check", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn every_configuration_in_the_repository_is_sound() {
    for path in ["config/weir.toml", "docker/weir.toml"] {
        let loaded = Loader::start_in(Some(&repository(path)), Overrides::default(), |_| None);
        assert!(loaded.is_ok(), "{}", loaded.unwrap_err());
    }
}

/// The words of a text that look like metrics of ours, without the suffixes that a histogram adds.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let names = words.filter(|word| word.starts_with("weir_"));
    let bare =
        |name: &str| ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end).map(str::to_owned));
    names.map(|name| bare(name).unwrap_or_else(|| name.to_owned())).collect()
}

#[test]
fn the_dashboard_draws_metrics_that_exist() {
    let dashboard = fs::read_to_string(repository("docker/grafana/dashboards/weir.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&dashboard).is_ok());
    let drawn = metrics_in(&dashboard);
    let existing = metrics_in(&fs::read_to_string(repository("src/meter/names.txt")).unwrap());
    assert!(drawn.len() > 15, "{drawn:?}");
    let unknown: Vec<_> = drawn.difference(&existing).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[tokio::test]
async fn k10_01_streams_go_on_while_bad_files_are_refused_and_a_good_one_is_taken() {
    let gateway = Gateway::start("[window]\nmax_callers = 7\n").await;
    gateway.sim.hold_after(2);
    let mut streams = Vec::new();
    for n in 0..50 {
        streams.push(gateway.begin_stream(&format!("What is the square of {n}?")).await);
    }
    let before = gateway.status().await;
    for (bad, reason) in [
        ("[window\n", "window"),
        ("[tasks.qa]\nsemantic = 1.7\n", "tasks.qa.semantic: 1.7 is not between 0 and 1"),
        ("[server]\nlisten = \"127.0.0.1:1\"\n", "server.listen: is read at start only"),
    ] {
        gateway.write(bad);
        let status = gateway.until(|status| status["last_error"].to_string().contains(reason)).await;
        assert_eq!((&status["hash"], &status["generation"]), (&before["hash"], &before["generation"]));
    }
    gateway.write_whole("");
    gateway.until(|status| status["last_error"].to_string().contains("empty")).await;
    gateway.write_whole("[upstream]\nurl = \"http://nowhere.invalid\"\n");
    gateway.until(|status| status["last_error"].to_string().contains("upstream.url: ")).await;

    gateway.sim.release();
    for stream in streams {
        let rest = text(&stream.collect().await.unwrap().to_bytes());
        assert!(rest.ends_with("data: [DONE]\n\n"), "{rest}");
    }
    assert_eq!(gateway.sim.calls(), 50);
    gateway.write("[window]\nmax_callers = 8\n");
    let after = gateway.until(|status| status["ok"] == true).await;
    assert_eq!(after["generation"], 2);
    assert_eq!(gateway.get("/admin/config").await["config"]["window"]["max_callers"], 8);
    gateway.stop().await;
}

#[tokio::test]
async fn thresholds_are_shown_changed_at_once_and_kept_if_wished() {
    let gateway = Gateway::start("[tasks.qa]\nsemantic = 0.8\n").await;
    let shown = gateway.get("/admin/thresholds").await;
    assert_eq!(shown["tasks"]["qa"]["semantic"], json!({"value": 0.8, "from": "file"}));

    let (status, refused) = gateway.put("/admin/thresholds", &json!({"tasks": {"qa": {"semantic": 1.7}}})).await;
    assert_eq!(status, 400);
    assert_eq!(refused["error"]["param"], "tasks.qa.semantic");

    let wish = json!({"tasks": {"qa": {"semantic": 0.93}}, "persist": true});
    let (status, shown) = gateway.put("/admin/thresholds", &wish).await;
    assert_eq!(status, 200);
    assert_eq!(shown["tasks"]["qa"]["semantic"], json!({"value": 0.93, "from": "overlay"}));

    let again = gateway.restart().await;
    let shown = again.get("/admin/thresholds").await;
    assert_eq!(shown["tasks"]["qa"]["semantic"], json!({"value": 0.93, "from": "overlay"}));
    again.stop().await;
}

#[tokio::test]
async fn the_configuration_page_shows_what_is_in_force_without_its_secrets() {
    let gateway = Gateway::start("[window]\nmax_callers = 7\n").await;
    let page = gateway.get("/admin/config").await;
    assert_eq!(page["config"]["window"]["max_callers"], 7);
    assert_eq!(page["config"]["admin"]["token"], "***");
    assert!(!page.to_string().contains(TOKEN));
    gateway.stop().await;
}
