//! Tests of the configuration as a whole.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A folder with a configuration file in it.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn with(text: &str) -> Self {
        let folder = Self { folder: tempfile::tempdir().unwrap() };
        folder.write(text);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, text: &str) {
        fs::write(self.path("weir.toml"), text).unwrap();
    }

    pub(crate) fn start(&self) -> Result<(Loader, Loaded), ConfigError> {
        let environment = |name: &str| (name == "LEVEL").then(|| "debug".to_owned());
        Loader::start_in(Some(&self.path("weir.toml")), Overrides::default(), environment)
    }
}

fn load(text: &str) -> Result<Config, ConfigError> {
    Folder::with(text).start().map(|(_, loaded)| loaded.config)
}

/// Everything that is wrong with a text, without the folder's name.
fn complaints(text: &str) -> Vec<String> {
    let folder = Folder::with(text);
    let prefix = format!("{}/", folder.folder.path().display());
    let error = folder.start().expect_err("this configuration is wrong");
    error.problems().iter().map(|problem| problem.to_string().replace(&prefix, "")).collect()
}

#[test]
fn k10_05_an_unknown_key_is_named_with_its_path_its_line_and_a_suggestion() {
    let found = complaints("[tasks.math]\nsemantc = 0.99\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("weir.toml:2: tasks.math.semantc: unknown key"), "{found:?}");
    assert!(found[0].ends_with(r#"(did you mean "semantic"?)"#), "{found:?}");

    let section = complaints("[window]\nlength = \"20ms\"\n\n[windwo]\nlength = \"1ms\"\n");
    assert!(section[0].starts_with("weir.toml:4: windwo: unknown key"), "{section:?}");
    assert!(section[0].ends_with(r#"(did you mean "window"?)"#), "{section:?}");
}

#[test]
fn k10_05_a_repeated_key_is_named_with_its_path_and_both_lines() {
    let key = complaints("[window]\nlength = \"60ms\"\nlength = \"600ms\"\n");
    assert_eq!(key, ["weir.toml:3: window.length: repeated key: already given on line 2; keep one of the two"]);
    let table = complaints("[tasks.math]\nlexical = 0.9\n[tasks.math]\nlexical = 0.8\n");
    assert!(table[0].starts_with("weir.toml:3: tasks.math: "), "{table:?}");
    assert!(table[0].contains("line 1"), "{table:?}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let found = complaints(
        "[log]\nlevl = \"info\"\nformat = \"xml\"\n[window]\nlength = 60\nmax_callers = 0\n[tasks.qa]\nsemantic = 1.7\nttl = \"5 parsecs\"\n",
    );
    let starts = [
        "weir.toml:2: log.levl: unknown key",
        "weir.toml:3: log.format: unknown value \"xml\"; known: text, json",
        "weir.toml:5: window.length: ",
        "weir.toml:8: tasks.qa.semantic: 1.7 is not between 0 and 1",
        "weir.toml:9: tasks.qa.ttl: ",
        "weir.toml:6: window.max_callers: must be between 1 and 1000",
    ];
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for start in starts {
        assert!(found.iter().any(|problem| problem.starts_with(start)), "no {start:?} in {found:#?}");
    }
}

#[test]
fn every_section_is_checked_and_its_error_placed() {
    for (text, start) in [
        ("[server]\nmax_body = \"2GiB\"\n", "weir.toml:2: server.max_body: must be between 1KiB and 1GiB"),
        ("[admin]\ntoken = \"short\"\n", "weir.toml:2: admin.token: must have at least 8 characters"),
        ("[upstream]\nurl = \"ftp://u\"\n", "weir.toml:2: upstream.url: only http:// and https:// are spoken"),
        ("[upstream]\nidle_timeout = \"0s\"\n", "weir.toml:2: upstream.idle_timeout: must be between"),
        ("[tenants]\nshared_scope = [[\"a\", \"\"]]\n", "weir.toml:2: tenants.shared_scope: a credential is empty"),
        ("[cache]\nmax_entries = 0\n", "weir.toml:2: cache.max_entries: "),
        ("[vectors]\nhnsw_from = 5\n", "weir.toml:2: vectors.hnsw_from: is 5, allowed are"),
        ("[embedder]\nthreads = 0\n", "weir.toml:2: embedder.threads: is 0, allowed are 1 to 64"),
        ("[load]\nstale_after = \"1s\"\n", "weir.toml:2: load.stale_after: must be at least twice"),
        ("[admission.weights]\ncode = 0\n", "weir.toml:2: admission.weights.code: must be between 1 and 1000"),
        (
            "[[rules]]\ntask = \"qa\"\n[[rules]]\nmodel = \"*\"\ntask = \"cod\"\n",
            "weir.toml:5: rules[1].task: unknown task \"cod\" (did you mean \"code\"?)",
        ),
        ("[log]\nlevel = \"loud\"\n", "weir.toml:2: log.level: "),
    ] {
        let found = complaints(text);
        assert!(found.len() == 1 && found[0].starts_with(start), "{found:?} does not start with {start:?}");
    }
}

#[test]
fn an_empty_file_is_an_error() {
    for text in ["", " \n\t\n", "\u{feff}"] {
        assert!(complaints(text)[0].contains("empty"), "{text:?}");
    }
    assert!(load("# only a comment\n").is_ok(), "someone wrote this on purpose");
}

#[test]
fn broken_toml_is_told_with_its_line() {
    let found = complaints("[window]\nlength = \nmode = \"fixed\"\n[log\n");
    assert!(found.iter().any(|problem| problem.starts_with("weir.toml:2: window.length: ")), "{found:#?}");
    assert!(found.iter().any(|problem| problem.starts_with("weir.toml:4: ")), "{found:#?}");
}

#[test]
fn a_file_that_is_not_utf_8_or_not_there_is_told() {
    let folder = Folder::with("");
    fs::write(folder.path("weir.toml"), b"[log]\nlevel = \"\xff\"\n").unwrap();
    assert!(folder.start().unwrap_err().to_string().contains("weir.toml:2: not UTF-8"));
    fs::remove_file(folder.path("weir.toml")).unwrap();
    assert!(folder.start().unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn variables_are_filled_in_and_never_repeated_in_messages() {
    assert_eq!(load("[log]\nlevel = \"${LEVEL}\"\n").unwrap().log.level, "debug");
    let unset = complaints("[log]\nlevel = \"${LEVLE}\"\n");
    assert!(unset[0].starts_with("weir.toml:2: log.level: the environment variable LEVLE is not set"), "{unset:?}");
    let misplaced = complaints("[window]\nlength = \"${LEVEL}\"\n");
    assert!(misplaced[0].starts_with("weir.toml:2: window.length: "), "{misplaced:?}");
    assert!(!misplaced[0].contains("debug"), "{misplaced:?}");
}

#[test]
fn the_printed_defaults_load_as_the_defaults() {
    let page = defaults_as_toml();
    let loaded = load(&page).unwrap_or_else(|error| panic!("{error}\n{page}"));
    assert_eq!(loaded.policies(), Config::default().policies());
    assert_eq!(Config { tasks: BTreeMap::new(), ..loaded }, Config::default());
    assert!(page.contains("# Longest time a flight gathers callers."), "the defaults are explained");
}

#[test]
fn the_documented_example_loads_as_the_defaults() {
    let example = load(print::EXAMPLE).unwrap();
    assert_eq!(example.policies(), Config::default().policies());
    assert_eq!(Config { tasks: BTreeMap::new(), ..example }, Config::default());
}

#[test]
fn every_restart_only_key_exists() {
    let defaults = toml::Value::Table(print::masked(&Config::default()));
    for path in diff::RESTART_ONLY {
        let found = path.split('.').try_fold(&defaults, |at, key| at.get(key));
        assert!(found.is_some(), "{path}");
    }
}

#[test]
fn equal_settings_have_equal_hashes_however_they_are_written() {
    let one = load("[window]\nlength = \"1s\"\nmode = \"fixed\"\n").unwrap();
    let other = load("# same\nwindow = { mode = \"fixed\", length = \"1000ms\" }\n").unwrap();
    assert_eq!(one.hash(), other.hash());
    assert_ne!(one.hash(), Config::default().hash());
    assert_eq!(one.hash().len(), 16);
}

#[test]
fn the_overlay_stands_over_the_file_and_is_checked_like_it() {
    let folder = Folder::with("[tasks.qa]\nlexical = 0.7\nsemantic = 0.8\n");
    fs::write(folder.path("weir.overlay.toml"), "[tasks.qa]\nsemantic = 0.9\n").unwrap();
    let (_, loaded) = folder.start().unwrap();
    let qa = &loaded.config.tasks[&TaskName::new("qa")];
    assert_eq!((qa.lexical.unwrap().get(), qa.semantic.unwrap().get()), (0.7, 0.9));

    fs::write(folder.path("weir.overlay.toml"), "[tasks.qa]\nttl = \"0s\"\n[log]\nlevel = \"info\"\n").unwrap();
    let error = folder.start().unwrap_err().to_string();
    assert!(error.contains("weir.overlay.toml:3: log: unknown key"), "{error}");
    fs::write(folder.path("weir.overlay.toml"), "[tasks.qa]\nttl = \"0s\"\n").unwrap();
    let error = folder.start().unwrap_err().to_string();
    assert!(error.contains("weir.overlay.toml:2: tasks.qa.ttl: must be above 0"), "{error}");
}

#[test]
fn without_a_file_the_defaults_hold() {
    let folder = Folder::with("");
    fs::write(folder.path("none.toml"), format!("[overlay]\npath = {:?}\n", folder.path("x.toml"))).unwrap();
    let start = Loader::start_in(Some(&folder.path("none.toml")), Overrides::default(), |_| None).unwrap();
    assert_eq!(start.0.overlay_path(), folder.path("x.toml"));
    assert_eq!(start.1.config.policies(), Config::default().policies());
}
