//! Real files in a folder, looked at when the test says so.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;

use futures_util::future::BoxFuture;

use super::*;
use crate::config::tests::Folder;
use crate::config::{Origin, Overrides};
use crate::domain::{Score, TaskName};

/// Knows `localhost` and nothing else.
struct OneHost;

impl Resolve for OneHost {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move {
            if host == "localhost" {
                Ok(vec![([127, 0, 0, 1], port).into()])
            } else {
                Err(io::Error::other("no such host"))
            }
        })
    }
}

/// What was put in force, in order.
type Applied = Arc<Mutex<Vec<Arc<Config>>>>;

fn start_at(file: &Path) -> (Reloader, ReloadHandle, Applied) {
    let (loader, initial) = Loader::start_in(Some(file), Overrides::default(), |_| None).unwrap();
    let applied = Applied::default();
    let log = Arc::clone(&applied);
    let apply: Apply = Box::new(move |config| {
        log.lock().unwrap().push(Arc::clone(config));
        Ok(())
    });
    let (reloader, handle) = Reloader::new(loader, initial, apply, Arc::new(OneHost), Meter::new());
    (reloader, handle, applied)
}

fn start(folder: &Folder) -> (Reloader, ReloadHandle, Applied) {
    start_at(&folder.path("weir.toml"))
}

fn callers(count: u32) -> String {
    format!("[window]\nmax_callers = {count}\n")
}

/// The `max_callers` of everything that was put in force.
fn callers_of(applied: &Applied) -> Vec<u32> {
    applied.lock().unwrap().iter().map(|config| config.window.max_callers).collect()
}

fn refusal(event: Event) -> String {
    match event {
        Event::Refused(error) => error.to_string(),
        other => panic!("{other:?} instead of a refusal"),
    }
}

#[tokio::test(start_paused = true)]
async fn k10_01_whatever_is_wrong_with_a_new_file_the_old_configuration_stays() {
    let folder = Folder::with(&callers(7));
    let (mut reloader, handle, applied) = start(&folder);
    let before = handle.in_force();
    for (text, reason) in [
        ("[window\nmax_callers = 8\n", "weir.toml:1: window"),
        (
            "[window]\nmax_callers = 8\n[tasks.qa]\nsemantic = 1.7\n",
            "weir.toml:4: tasks.qa.semantic: 1.7 is not between",
        ),
        (
            "[window]\nmax_callers = 8\n[upstream]\nurl = \"http://nowhere.invalid\"\n",
            "weir.toml:4: upstream.url: unknown host",
        ),
        ("[window]\nmax_callers = 8\n[log]\nformat = \"json\"\n", "weir.toml:4: log.format: is read at start only"),
        (
            "[window]\nmax_callers = 8\n[server]\nlisten = \"127.0.0.1:9900\"\n",
            "weir.toml:4: server.listen: is read at start only",
        ),
        (
            "[window]\nmax_callers = 8\n[admin]\ntoken = \"another-token\"\n",
            "weir.toml:4: admin.token: is read at start only",
        ),
        ("", "the file is empty"),
    ] {
        folder.write(text);
        let told = refusal(reloader.poll_once().await);
        assert!(told.contains(reason), "{told:?} does not say {reason:?}");
        assert_eq!(reloader.poll_once().await, Event::Unchanged, "a refusal is told once");
        let now = handle.in_force();
        assert_eq!((now.status.generation, &now.status.hash), (1, &before.status.hash));
        assert!(!now.status.ok && now.status.last_error.as_ref().unwrap().problems[0].contains(reason));
    }
    assert!(callers_of(&applied).is_empty(), "no partial effect");

    folder.write(&callers(8));
    assert_eq!(reloader.poll_once().await, Event::Applied(vec!["window.max_callers".to_owned()]));
    assert_eq!(callers_of(&applied), [8]);
    let now = handle.in_force();
    assert!(now.status.ok && now.status.generation == 2 && now.status.hash != before.status.hash);
}

#[tokio::test(start_paused = true)]
async fn k10_03_after_a_refusal_the_page_shows_what_is_in_force_with_the_error_and_its_time() {
    let good = "[upstream]\napi_key = \"sk-very-private\"\n[window]\nmax_callers = 7\n";
    let folder = Folder::with(good);
    let (mut reloader, handle, _) = start(&folder);
    let hash = handle.in_force().status.hash.clone();
    folder.write(&good.replace('7', "0"));
    refusal(reloader.poll_once().await);

    let page = handle.in_force().to_json();
    assert_eq!(page["config"]["window"]["max_callers"], 7);
    assert_eq!(page["config"]["upstream"]["api_key"], "***");
    assert_eq!(page["status"]["hash"], hash.as_str());
    assert!(page["status"]["last_error"]["problems"][0].as_str().unwrap().contains("window.max_callers"));
    assert!(page["status"]["last_error"]["at"].as_str().unwrap().ends_with('Z'));
    assert!(!page.to_string().contains("sk-very-private"));
    let metrics = reloader.meter.render();
    assert!(metrics.contains(&format!("weir_config_info{{hash=\"{hash}\"}} 1")), "{metrics}");
    assert!(metrics.contains("weir_config_last_reload_success 0"));
}

#[tokio::test(start_paused = true)]
async fn k10_07_a_mounted_configuration_that_changes_by_a_symlink_swap_is_taken_every_time() {
    let folder = Folder::with("# unused\n");
    let version = |number: u32| {
        let dir = folder.path(&format!("..v{number}"));
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("mounted.toml"), callers(number)).unwrap();
        dir
    };
    symlink(version(1), folder.path("..data")).unwrap();
    symlink("..data/mounted.toml", folder.path("mounted.toml")).unwrap();
    let (mut reloader, _, applied) = start_at(&folder.path("mounted.toml"));
    for number in 2..=4 {
        symlink(version(number), folder.path("..next")).unwrap();
        fs::rename(folder.path("..next"), folder.path("..data")).unwrap();
        fs::remove_dir_all(folder.path(&format!("..v{}", number - 1))).unwrap();
        assert_eq!(reloader.poll_once().await, Event::Applied(vec!["window.max_callers".to_owned()]));
        assert_eq!(reloader.poll_once().await, Event::Unchanged);
    }
    assert_eq!(callers_of(&applied), [2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn k10_07_a_file_that_is_renamed_or_copied_over_is_taken_exactly_once() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, _, applied) = start(&folder);
    for number in [2, 4] {
        fs::write(folder.path(".weir.toml.swp"), callers(number)).unwrap();
        fs::rename(folder.path(".weir.toml.swp"), folder.path("weir.toml")).unwrap();
        reloader.poll_once().await;
        fs::write(folder.path("new.toml"), callers(number + 1)).unwrap();
        fs::copy(folder.path("new.toml"), folder.path("weir.toml")).unwrap();
        reloader.poll_once().await;
        assert_eq!(reloader.poll_once().await, Event::Unchanged);
    }
    assert_eq!(callers_of(&applied), [2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_file_caught_half_written_is_read_again_before_it_is_taken() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, _, applied) = start(&folder);
    folder.write("[window]\n");
    let poll = tokio::spawn(async move { reloader.poll_once().await });
    // The first reading is over when the clock has moved: it only moves while the poll sleeps.
    sleep(SETTLE / 2).await;
    folder.write(&callers(2));
    assert!(matches!(poll.await.unwrap(), Event::Applied(_)));
    assert_eq!(callers_of(&applied), [2], "the half-written file was never in force");
}

#[tokio::test(start_paused = true)]
async fn a_running_gateway_takes_a_change_by_itself() {
    let folder = Folder::with(&callers(1));
    let (reloader, handle, applied) = start(&folder);
    let stop = CancellationToken::new();
    let task = tokio::spawn(reloader.run(stop.clone()));
    let mut reports = handle.report.clone();
    folder.write(&callers(2));
    timeout(Duration::from_secs(2), reports.changed()).await.expect("within two seconds").unwrap();
    assert_eq!(callers_of(&applied), [2]);
    stop.cancel();
    task.await.unwrap();
    assert!(matches!(handle.adjust(br#"{"tasks":{}}"#).await, Err(AdjustError::Stopped)));
}

#[tokio::test(start_paused = true)]
async fn a_comment_is_no_new_generation() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, handle, applied) = start(&folder);
    folder.write(&format!("# ten is too many\n{}", callers(1)));
    assert_eq!(reloader.poll_once().await, Event::Applied(vec![]));
    assert!(callers_of(&applied).is_empty());
    assert_eq!(handle.in_force().status.generation, 1);
}

#[tokio::test(start_paused = true)]
async fn a_changed_secret_is_applied_and_named_but_not_shown() {
    let folder = Folder::with("[upstream]\napi_key = \"one\"\n");
    let (mut reloader, handle, applied) = start(&folder);
    folder.write("[upstream]\napi_key = \"two\"\n");
    assert_eq!(reloader.poll_once().await, Event::Applied(vec!["upstream.api_key".to_owned()]));
    assert_eq!(applied.lock().unwrap()[0].upstream.api_key.expose(), "two");
    assert_eq!(handle.in_force().status.generation, 2);
}

#[tokio::test(start_paused = true)]
async fn what_the_gateway_itself_refuses_is_not_in_force() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, handle, _) = start(&folder);
    reloader.apply = Box::new(|_| Err("no room".to_owned()));
    folder.write(&callers(2));
    assert!(refusal(reloader.poll_once().await).contains("no room"));
    assert_eq!(handle.in_force().loaded.config.window.max_callers, 1);
}

// --- thresholds

fn semantic(config: &Config) -> Score {
    config.policies().unwrap().of(&TaskName::new("qa")).semantic
}

fn score(value: f32) -> Score {
    Score::new(value).unwrap()
}

/// Runs the adjustment on the reloader itself, without its task.
async fn adjust(reloader: &mut Reloader, body: &str) -> Result<(), AdjustError> {
    let adjustment = Adjustment::from_json(body.as_bytes(), &reloader.report.borrow().loaded.config)?;
    reloader.adjust(adjustment).await
}

fn origin(handle: &ReloadHandle, key: &str) -> Origin {
    handle.in_force().loaded.thresholds()[&TaskName::new("qa")][key].from
}

#[tokio::test(start_paused = true)]
async fn thresholds_apply_at_once_and_say_where_they_came_from() {
    let folder = Folder::with("[window]\nlength = \"40ms\"\n[tasks.qa]\nlexical = 0.5\n");
    let (mut reloader, handle, applied) = start(&folder);
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":0.93}}}"#).await.unwrap();
    assert_eq!(semantic(&applied.lock().unwrap()[0]), score(0.93));
    assert_eq!(handle.in_force().status.generation, 2);
    let origins = ["ttl", "lexical", "window_length", "semantic"].map(|key| origin(&handle, key));
    assert_eq!(origins, [Origin::Default, Origin::File, Origin::File, Origin::Live]);
    let page = handle.in_force().thresholds_to_json();
    assert_eq!(page["tasks"]["qa"]["semantic"]["value"].to_string(), "0.93");
    assert!(!folder.path("weir.overlay.toml").exists(), "nobody asked to keep it");
}

#[tokio::test(start_paused = true)]
async fn a_bad_threshold_changes_nothing_and_is_named() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, handle, applied) = start(&folder);
    for (body, reason) in [
        (r#"{"tasks":{"qa":{"semantic":1.7,"lexical":0.5}}}"#, "tasks.qa.semantic: 1.7 is not between 0 and 1"),
        (r#"{"tasks":{"qa":{"semantc":0.7}}}"#, "tasks.qa.semantc: unknown key"),
        (r#"{"tasks":{"qa":{"semantc":null}}}"#, r#"did you mean "semantic"?"#),
        (
            r#"{"tasks":{"translaton":{"semantic":0.7}}}"#,
            r#"tasks.translaton: unknown task (did you mean "translation"?)"#,
        ),
        (r#"{"tasks":{"qa":{"tiers":["semantic"]}}}"#, "tasks.qa.tiers: must contain"),
        (r#"{"tasks":{"qa":{"ttl":60}}}"#, "tasks.qa.ttl: "),
        (r#"{"task":{}}"#, "unknown field `task`"),
        ("", "EOF"),
    ] {
        let told = adjust(&mut reloader, body).await.expect_err(body).to_string();
        assert!(told.contains(reason), "{told:?} does not say {reason:?}");
    }
    assert!(applied.lock().unwrap().is_empty());
    assert_eq!(handle.in_force().status.generation, 1);
}

#[tokio::test(start_paused = true)]
async fn kept_thresholds_survive_a_restart_and_live_ones_do_not() {
    let folder = Folder::with("[tasks.qa]\nsemantic = 0.8\n");
    let (mut reloader, handle, _) = start(&folder);
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":0.9}},"persist":true}"#).await.unwrap();
    adjust(&mut reloader, r#"{"tasks":{"qa":{"lexical":0.4}}}"#).await.unwrap();
    assert_eq!((origin(&handle, "semantic"), origin(&handle, "lexical")), (Origin::Overlay, Origin::Live));
    assert_eq!(reloader.poll_once().await, Event::Unchanged, "the overlay it wrote itself is no news");

    let (_, restarted, _) = start(&folder);
    assert_eq!(semantic(&restarted.in_force().loaded.config), score(0.9));
    assert_eq!((origin(&restarted, "semantic"), origin(&restarted, "lexical")), (Origin::Overlay, Origin::Default));
    assert_eq!(fs::read_to_string(folder.path("weir.toml")).unwrap(), "[tasks.qa]\nsemantic = 0.8\n");
}

#[tokio::test(start_paused = true)]
async fn null_takes_an_operators_value_back() {
    let folder = Folder::with("[tasks.qa]\nsemantic = 0.8\n");
    let (mut reloader, handle, _) = start(&folder);
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":0.9}}}"#).await.unwrap();
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":null}}}"#).await.unwrap();
    assert_eq!(origin(&handle, "semantic"), Origin::File);
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":0.9}},"persist":true}"#).await.unwrap();
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":null}},"persist":true}"#).await.unwrap();
    assert_eq!(origin(&handle, "semantic"), Origin::File);
    assert_eq!(semantic(&handle.in_force().loaded.config), score(0.8));
}

#[tokio::test(start_paused = true)]
async fn live_thresholds_stay_when_the_file_changes() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, handle, _) = start(&folder);
    adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":0.9}}}"#).await.unwrap();
    folder.write(&callers(2));
    assert!(matches!(reloader.poll_once().await, Event::Applied(_)));
    let config = &handle.in_force().loaded.config;
    assert_eq!((semantic(config), config.window.max_callers), (score(0.9), 2));
}

#[tokio::test(start_paused = true)]
async fn an_overlay_that_cannot_be_written_changes_nothing() {
    let folder = Folder::with("[overlay]\npath = \"/proc/none/weir.toml\"\n");
    let (mut reloader, handle, applied) = start(&folder);
    let refused = adjust(&mut reloader, r#"{"tasks":{"qa":{"semantic":0.9}},"persist":true}"#).await;
    assert!(matches!(refused, Err(AdjustError::NotKept(_))), "{refused:?}");
    assert!(applied.lock().unwrap().is_empty());
    assert_eq!(origin(&handle, "semantic"), Origin::Default);
}

#[tokio::test(start_paused = true)]
async fn an_overlay_edited_by_hand_is_taken_like_the_file() {
    let folder = Folder::with(&callers(1));
    let (mut reloader, handle, _) = start(&folder);
    fs::write(folder.path("weir.overlay.toml"), "[tasks.qa]\nsemantic = 0.95\n").unwrap();
    assert_eq!(reloader.poll_once().await, Event::Applied(vec!["tasks.qa.semantic".to_owned()]));
    assert_eq!(handle.in_force().loaded.thresholds()[&TaskName::new("qa")]["semantic"].value, 0.95);
    assert_eq!(semantic(&handle.in_force().loaded.config), score(0.95));
}
