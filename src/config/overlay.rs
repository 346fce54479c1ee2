//! Thresholds that stand over the configuration file: a layer of per-task keys, and the file that keeps one.
//!
//! The overlay is a file of its own, because the configuration file belongs to the operator (or to a mounted,
//! read-only config map) and is never written to. It is replaced as a whole: a crash leaves the old or the new
//! one, never half of either.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::loader::read_text;
use super::problem::ConfigError;

const HEADER: &str = "# Thresholds set through the admin API with \"persist\": true; they win over the configuration file.\n\
                      # Remove a line, or this file, to go back to what the configuration file says.\n";

/// Per-task keys as they were written: task -> key -> value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layer(pub(super) BTreeMap<String, Table>);

/// The overlay that belongs to a configuration file when its path is not configured.
pub(super) fn beside(file: Option<&Path>) -> PathBuf {
    match file {
        Some(file) => file.with_extension("overlay.toml"),
        None => PathBuf::from("weir.overlay.toml"),
    }
}

/// The overlay's text; `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    match fs::exists(path) {
        Ok(false) => Ok(None),
        _ => read_text(path).map(Some),
    }
}

/// A new overlay, safely on the disk but not in its place yet.
#[derive(Debug)]
pub(super) struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

// === impl Staged ===

impl Staged {
    /// Writes `text` beside its target and waits until the disk has it.
    pub(super) fn write(target: &Path, text: &str) -> io::Result<Self> {
        let temporary = target.with_extension(format!("{}.new", std::process::id()));
        let staged = Self { temporary, target: target.to_owned() };
        let mut file = File::create(&staged.temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(staged)
    }

    /// Puts it in its place in one step.
    pub(super) fn commit(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.target)?;
        let folder = match self.target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()
    }
}

/// What was staged and not committed leaves no trace.
impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

// === impl Layer ===

impl Layer {
    /// The `tasks` of a file.
    pub(super) fn of_tasks(root: &Table) -> Self {
        let Some(Value::Table(tasks)) = root.get("tasks") else { return Self::default() };
        let tables = tasks.iter().filter_map(|(task, keys)| Some((task.clone(), keys.as_table()?.clone())));
        Self(tables.collect())
    }

    /// Lays `above` over this one, key by key.
    pub(super) fn lay_over(&mut self, above: &Self) {
        for (task, keys) in &above.0 {
            let own = self.0.entry(task.clone()).or_default();
            own.extend(keys.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }

    /// Takes a key out; a task without keys goes with its last.
    pub(super) fn remove(&mut self, task: &str, key: &str) {
        if let Some(keys) = self.0.get_mut(task) {
            keys.remove(key);
            if keys.is_empty() {
                self.0.remove(task);
            }
        }
    }

    pub(super) fn names(&self, task: &str, key: &str) -> bool {
        self.0.get(task).is_some_and(|keys| keys.contains_key(key))
    }

    /// The file that keeps this layer.
    pub(super) fn to_text(&self) -> String {
        let tasks: Table = self.0.iter().map(|(task, keys)| (task.clone(), Value::Table(keys.clone()))).collect();
        let root = Table::from_iter([("tasks".to_owned(), Value::Table(tasks))]);
        format!("{HEADER}\n{root}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlay_stands_beside_its_configuration_file() {
        assert_eq!(beside(Some(Path::new("/etc/weir/weir.toml"))), Path::new("/etc/weir/weir.overlay.toml"));
        assert_eq!(beside(None), Path::new("weir.overlay.toml"));
    }

    #[test]
    fn what_is_staged_but_not_committed_leaves_the_old_file_and_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("overlay.toml");
        Staged::write(&target, "old").unwrap().commit().unwrap();
        drop(Staged::write(&target, "new").unwrap());
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_layer_is_written_and_read_back() {
        let text = "[tasks.qa]\nlexical = 0.9\ntiers = [\"exact\"]\n";
        let layer = Layer::of_tasks(&text.parse().unwrap());
        assert_eq!(Layer::of_tasks(&layer.to_text().parse().unwrap()), layer);
    }
}
