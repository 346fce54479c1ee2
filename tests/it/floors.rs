//! The floors of the house: a module names only what lies beneath it.

use std::fs;
use std::path::{Path, PathBuf};

/// (module, the modules of this crate it may name besides itself)
const FLOORS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("text", &["domain"]),
    ("stats", &["domain"]),
    ("vector", &["domain"]),
    ("meter", &["domain", "stats"]),
    ("wire", &["domain"]),
    ("matching", &["domain", "text", "stats", "vector", "meter", "wire"]),
    ("embed", &["domain", "text", "stats", "vector", "meter", "wire", "matching"]),
    ("cache", &["domain", "text", "stats", "vector", "meter", "wire", "matching"]),
    ("flights", &["domain", "text", "stats", "vector", "meter", "wire", "matching"]),
    ("limit", &["domain", "text", "stats", "vector", "meter", "wire", "matching"]),
    ("load", &["domain", "text", "stats", "vector", "meter", "wire", "matching"]),
    ("upstream", &["domain", "text", "stats", "vector", "meter", "wire", "matching"]),
    (
        "gateway",
        &[
            "domain", "text", "stats", "vector", "meter", "wire", "matching", "embed", "cache", "flights", "limit",
            "load", "upstream",
        ],
    ),
    ("http", &["domain", "text", "wire", "meter", "gateway"]),
    (
        "config",
        &[
            "domain",
            "text",
            "stats",
            "vector",
            "meter",
            "wire",
            "matching",
            "embed",
            "cache",
            "flights",
            "limit",
            "load",
            "upstream",
            "gateway",
            "http",
            "telemetry",
        ],
    ),
    ("telemetry", &["domain", "text", "stats", "vector", "meter", "wire"]),
];

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// The modules of this crate that a file names by an absolute path, comments left out.
fn named_modules(source: &str) -> Vec<String> {
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    code.match_indices("crate::")
        .map(|(at, prefix)| {
            code[at + prefix.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn a_module_names_only_the_floors_beneath_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (module, allowed) in FLOORS {
        let mut files = Vec::new();
        rust_files(&src.join(module), &mut files);
        assert!(!files.is_empty(), "no module {module}");
        for file in files {
            for name in named_modules(&fs::read_to_string(&file).unwrap()) {
                if name != *module && !allowed.contains(&name.as_str()) {
                    wrong.push(format!("{} names {name}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_floor() {
    let top = ["app", "cli", "sim", "replay"];
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    for module in lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')) {
        assert!(top.contains(&module) || FLOORS.iter().any(|(name, _)| *name == module), "{module} stands on no floor");
    }
}
