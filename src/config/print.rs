//! The configuration as TOML for people: every default with the comment that explains it.
//!
//! Values come from the engines' `Default`s, comments from the documented example `config/weir.toml`; so there
//! is one list of defaults and one of explanations, and a test holds the two together.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::Config;
use crate::domain::TaskName;
use crate::gateway::policy::{Policies, TaskPatch, TaskPolicy};

/// The documented example.
pub(super) const EXAMPLE: &str = include_str!("../../config/weir.toml");

/// The configuration as a TOML tree, secrets masked.
pub(super) fn masked(config: &Config) -> Table {
    // Cannot fail: every section is made of tables, texts, numbers and booleans.
    Table::try_from(config).unwrap_or_default()
}

/// As JSON. By way of text, because a score is an `f32`: as text it is "0.95", as a number it would grow a tail.
pub(super) fn as_json<T: serde::Serialize>(value: &T) -> serde_json::Value {
    serde_json::to_string(value).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Every default, the built-in tasks included, as a commented file that loads again as the same configuration.
#[must_use]
pub fn defaults_as_toml() -> String {
    let tasks = complete_all(&Policies::default());
    let mut comments = comments_of(EXAMPLE);
    let mut page = String::from("# Every default of Weir. A file needs only the keys that differ.\n");
    write_table(&mut page, "", &masked(&Config { tasks, ..Config::default() }), &mut comments);
    page
}

/// A patch that names every key of a policy.
fn complete(policy: &TaskPolicy) -> TaskPatch {
    TaskPatch {
        tiers: Some(policy.tiers.clone()),
        lexical: Some(policy.lexical),
        semantic: Some(policy.semantic),
        sampled: Some(policy.sampled),
        context_turns: Some(policy.context_turns),
        ttl: Some(policy.ttl),
        window_mode: Some(policy.window.mode),
        window_length: Some(policy.window.length),
        max_callers: Some(policy.window.max_callers),
        late_join: Some(policy.window.late_join),
        words: Vec::new(),
    }
}

/// The patches of a configuration with every key of every task named.
pub(super) fn complete_all(policies: &Policies) -> BTreeMap<TaskName, TaskPatch> {
    policies.iter().map(|(task, policy)| (task.clone(), complete(policy))).collect()
}

/// Writes a table and those below it. Each comment is written once: all tasks have the same keys.
fn write_table(page: &mut String, path: &str, table: &Table, comments: &mut BTreeMap<String, String>) {
    for (name, value) in table.iter().filter(|(_, value)| !value.is_table()) {
        if let Some(comment) = comments.remove(&general(path, name)) {
            let _ = writeln!(page, "# {comment}");
        }
        let _ = writeln!(page, "{} = {}", quoted(name), written(value));
    }
    for (name, value) in table {
        let Value::Table(inner) = value else { continue };
        let below = if path.is_empty() { quoted(name) } else { format!("{path}.{}", quoted(name)) };
        if inner.values().any(|value| !value.is_table()) {
            let _ = writeln!(page, "\n[{below}]");
        }
        write_table(page, &below, inner, comments);
    }
}

/// All tasks share one explanation.
fn general(path: &str, name: &str) -> String {
    match path.split_once('.') {
        Some(("tasks", _)) => format!("tasks.*.{name}"),
        _ if path.is_empty() => name.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

fn quoted(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { Value::from(name).to_string() }
}

/// A score is an `f32`; as an `f64` it would print with a tail that nobody wrote.
fn written(value: &Value) -> String {
    match value {
        Value::Float(number) => {
            #[expect(clippy::cast_possible_truncation, reason = "compared with the original right below")]
            let short = *number as f32;
            if f64::from(short).to_bits() == number.to_bits() { format!("{short:?}") } else { format!("{number:?}") }
        }
        other => other.to_string(),
    }
}

/// The comment above each key of a file, by path; keys that are commented out are keys, too.
fn comments_of(text: &str) -> BTreeMap<String, String> {
    let mut comments = BTreeMap::new();
    let (mut table, mut comment) = (String::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(header) = header_of(line) {
            header.clone_into(&mut table);
            comments.insert(table.clone(), comment.join(" "));
            comment.clear();
        } else if let Some(name) = key_of(line) {
            comments.insert(general(&table, name), comment.join(" "));
            comment.clear();
        } else if let Some(words) = line.strip_prefix('#') {
            comment.push(words.trim());
        } else {
            comment.clear();
        }
    }
    comments
}

/// The name in `[table]`, `[[table]]` or the same commented out.
fn header_of(line: &str) -> Option<&str> {
    let name = line.trim_start_matches(['#', ' ']).strip_prefix('[')?.trim_start_matches('[').split(']').next()?;
    is_path(name).then_some(name)
}

fn is_path(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// The key of `name = value` or `# name = value`.
fn key_of(line: &str) -> Option<&str> {
    let (name, _) = line.trim_start_matches(['#', ' ']).split_once(" = ")?;
    is_path(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of all keys, tasks folded into one.
    fn keys(table: &Table, path: &str, found: &mut Vec<String>) {
        for (name, value) in table {
            match value {
                Value::Table(inner) => {
                    let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    keys(inner, &below, found);
                }
                _ => found.push(general(path, name)),
            }
        }
    }

    #[test]
    fn the_example_explains_every_key_that_has_a_default() {
        let tasks = complete_all(&Policies::default());
        let mut all = Vec::new();
        keys(&masked(&Config { tasks, ..Config::default() }), "", &mut all);
        let comments = comments_of(EXAMPLE);
        let bare: Vec<_> = all.iter().filter(|key| comments.get(*key).is_none_or(String::is_empty)).collect();
        assert!(bare.is_empty(), "config/weir.toml does not explain {bare:?}");
    }

    #[test]
    fn a_score_prints_as_it_was_written() {
        assert_eq!(written(&Value::Float(f64::from(0.95_f32))), "0.95");
        assert_eq!(written(&Value::Float(0.1)), "0.1");
        assert_eq!(written(&Value::Float(1.0)), "1.0");
    }
}
