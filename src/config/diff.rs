//! What a reload would change, by key path, and which of it only a restart can.

use toml::{Table, Value};

use super::{Config, print};

/// Keys that are read at start only. A reload that changes one is refused by name: to apply half of a file
/// would leave a process that no file describes.
pub(super) const RESTART_ONLY: &[&str] =
    &["server", "admin", "cache", "vectors", "embedder", "load", "log.format", "overlay"];

/// The paths of all values that differ, in order.
pub(super) fn changed(old: &Config, new: &Config) -> Vec<String> {
    let mut paths = Vec::new();
    compare(&print::masked(old), &print::masked(new), "", &mut paths);
    for (path, differs) in [
        ("admin.token", old.admin.token != new.admin.token),
        ("upstream.api_key", old.upstream.api_key != new.upstream.api_key),
        ("tenants.shared_scope", old.tenants != new.tenants),
    ] {
        // As printed all secrets look alike.
        if differs && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// The restart-only ones among these paths.
pub(super) fn restart_only(paths: &[String]) -> Vec<&str> {
    let below = |path: &str, key: &str| path == key || path.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    paths.iter().map(String::as_str).filter(|path| RESTART_ONLY.iter().any(|key| below(path, key))).collect()
}

fn compare(old: &Table, new: &Table, above: &str, paths: &mut Vec<String>) {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let empty = Table::new();
        match (old.get(name), new.get(name)) {
            (Some(Value::Table(old)), Some(Value::Table(new))) => compare(old, new, &path, paths),
            (Some(Value::Table(old)), None) => compare(old, &empty, &path, paths),
            (None, Some(Value::Table(new))) => compare(&empty, new, &path, paths),
            (old, new) if old != new => paths.push(path),
            _ => {}
        }
    }
}
