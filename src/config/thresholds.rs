//! Thresholds while running: what an operator sends, what is in force, and where each value came from.
//!
//! Four layers, the later over the earlier: the built-in default, the file, the overlay (set by an operator and
//! kept), live (set by an operator until the next restart). A live value survives a reload of the file: what
//! somebody sets in an incident must not vanish because somebody else rolls out an unrelated change.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use toml::{Table, Value};

use super::document::Document;
use super::overlay::Layer;
use super::print::{as_json, complete_all};
use super::problem::{ConfigError, Problem, nearest};
use super::{Config, Loaded, TaskName, TaskPatch};
use crate::matching::detect::BUILT_IN;

/// Where a threshold came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Built in.
    Default,
    /// The configuration file.
    File,
    /// Set by an operator and kept.
    Overlay,
    /// Set by an operator until the next restart.
    Live,
}

/// A value in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdView {
    /// As the configuration would spell it.
    pub value: Json,
    /// Which layer it came from.
    pub from: Origin,
}

/// What an operator sends to change thresholds:
/// `{"tasks": {"qa": {"semantic": 0.93, "lexical": null}}, "persist": true}`. `null` takes an operator's own value
/// back, so that the layer beneath shows again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjustment {
    pub(super) set: Layer,
    pub(super) take_back: BTreeSet<(String, String)>,
    pub(super) persist: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    tasks: BTreeMap<String, Map<String, Json>>,
    #[serde(default)]
    persist: bool,
}

/// The layers over the defaults.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    pub(super) file: Layer,
    /// Section `[window]` of the file, the base of every task's window.
    pub(super) window: Table,
    pub(super) overlay: Layer,
    pub(super) live: Layer,
}

// === impl Adjustment ===

impl Adjustment {
    /// Reads a request's body; every error names its key. The values are checked here one by one and, together
    /// with everything else in force, when they are applied.
    pub fn from_json(body: &[u8], in_force: &Config) -> Result<Self, ConfigError> {
        let body: Body = serde_json::from_slice(body).map_err(|error| Problem::at("", error))?;
        let mut adjustment = Self { persist: body.persist, ..Self::default() };
        let mut problems = Vec::new();
        for (task, keys) in body.tasks {
            if let Err(problem) = known_task(&task, in_force) {
                problems.push(problem);
                continue;
            }
            for (key, value) in keys {
                match (known_value(&task, &key, &value), value.is_null()) {
                    (Err(problem), _) => problems.push(problem),
                    (Ok(_), true) => drop(adjustment.take_back.insert((task.clone(), key))),
                    (Ok(value), false) => drop(adjustment.set.0.entry(task.clone()).or_default().insert(key, value)),
                }
            }
        }
        ConfigError::from_all(problems)?;
        Ok(adjustment)
    }

    /// This adjustment applied to an operator's layer.
    pub(super) fn over(&self, layer: &Layer) -> Layer {
        let mut changed = layer.clone();
        changed.lay_over(&self.set);
        for (task, key) in &self.take_back {
            changed.remove(task, key);
        }
        changed
    }

    /// An operator's layer without what this adjustment names: it is about to stand in another layer.
    pub(super) fn out_of(&self, layer: &Layer) -> Layer {
        let mut changed = layer.clone();
        let set = self.set.0.iter().flat_map(|(task, keys)| keys.keys().map(move |key| (task, key)));
        for (task, key) in set.chain(self.take_back.iter().map(|(task, key)| (task, key))) {
            changed.remove(task, key);
        }
        changed
    }
}

/// Tasks are made by the configuration file only: each becomes a label of many metrics.
fn known_task(task: &str, in_force: &Config) -> Result<(), Problem> {
    let known = || BUILT_IN.iter().copied().chain(in_force.tasks.keys().map(TaskName::as_str));
    if known().any(|name| name == task) {
        return Ok(());
    }
    Err(Problem { suggestion: nearest(task, known()), ..Problem::at(format!("tasks.{task}"), "unknown task") })
}

/// Checks name and type of one key by reading it as a patch of its own.
fn known_value(task: &str, key: &str, value: &Json) -> Result<Value, Problem> {
    let path = format!("tasks.{task}.{key}");
    let alone = Json::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    let checked = if value.is_null() { known_key(key) } else { serde_json::from_value::<TaskPatch>(alone).map(drop) };
    checked.map_err(|error| problem_of(&path, key, &error.to_string()))?;
    if value.is_null() {
        return Ok(Value::Boolean(false));
    }
    Value::try_from(value).map_err(|error| Problem::at(path, error))
}

/// Whether a task has such a key, whatever its value: a wrong type is fine, an unknown name is not.
fn known_key(key: &str) -> Result<(), serde_json::Error> {
    let probe = Json::Object(Map::from_iter([(key.to_owned(), Json::Object(Map::new()))]));
    match serde_json::from_value::<TaskPatch>(probe) {
        Err(error) if error.to_string().starts_with("unknown field") => Err(error),
        _ => Ok(()),
    }
}

fn problem_of(path: &str, key: &str, message: &str) -> Problem {
    if !message.starts_with("unknown field") {
        return Problem::at(path, message);
    }
    let known: Vec<&str> = message.split('`').skip(1).step_by(2).skip(1).collect();
    let reason = format!("unknown key; known: {}", known.join(", "));
    Problem { suggestion: nearest(key, known), ..Problem::at(path, reason) }
}

// === impl Layers ===

impl Layers {
    pub(super) fn new(file: Option<&Document<'_>>, overlay: Option<&Document<'_>>, live: &Layer) -> Self {
        let file = file.map(Document::to_table).unwrap_or_default();
        let overlay = overlay.map(Document::to_table).unwrap_or_default();
        Self {
            file: Layer::of_tasks(&file),
            window: file.get("window").and_then(Value::as_table).cloned().unwrap_or_default(),
            overlay: Layer::of_tasks(&overlay),
            live: live.clone(),
        }
    }

    /// The tasks of a file with the operators' layers over them.
    pub(super) fn merged_over(
        &self,
        file: &BTreeMap<TaskName, TaskPatch>,
    ) -> Result<BTreeMap<TaskName, TaskPatch>, ConfigError> {
        let mut merged = file.clone();
        let mut operators = self.overlay.clone();
        operators.lay_over(&self.live);
        for (task, keys) in operators.0 {
            let patch = merged.entry(TaskName::new(&task)).or_default();
            let mut table = Table::try_from(&*patch).map_err(|error| Problem::at(format!("tasks.{task}"), error))?;
            table.extend(keys);
            *patch = table
                .try_into()
                .map_err(|error: toml::de::Error| Problem::at(format!("tasks.{task}"), error.message()))?;
        }
        Ok(merged)
    }

    /// A task of the operator's own starts from `default`, and so do the origins of its values.
    fn origin(&self, task: &str, key: &str) -> Origin {
        let built_in = BUILT_IN.contains(&task);
        let names = |layer: &Layer| layer.names(task, key) || (!built_in && layer.names("default", key));
        match () {
            () if names(&self.live) => Origin::Live,
            () if names(&self.overlay) => Origin::Overlay,
            () if names(&self.file) || self.window.contains_key(window_key(key)) => Origin::File,
            () => Origin::Default,
        }
    }
}

/// The key of `[window]` that a task's key stands over.
fn window_key(key: &str) -> &str {
    key.strip_prefix("window_").unwrap_or(key)
}

// === impl Loaded ===

impl Loaded {
    /// Every threshold in force, by task and key.
    #[must_use]
    pub fn thresholds(&self) -> BTreeMap<TaskName, BTreeMap<String, ThresholdView>> {
        let patches = self.config.policies().map(|policies| complete_all(&policies)).unwrap_or_default();
        let view = |task: &TaskName, patch: &TaskPatch| -> BTreeMap<String, ThresholdView> {
            let Json::Object(keys) = as_json(patch) else { return BTreeMap::new() };
            let origin = |key: &str| self.layers.origin(task.as_str(), key);
            keys.into_iter().map(|(key, value)| (key.clone(), ThresholdView { value, from: origin(&key) })).collect()
        };
        patches.iter().map(|(task, patch)| (task.clone(), view(task, patch))).collect()
    }
}
