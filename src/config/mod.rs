//! The configuration: one typed tree that composes what the engines themselves declare.
//!
//! Every engine owns its `Config`, its `Default` and its `check()`; here they only get a section name. A file
//! becomes a [`Config`] in one direction: text -> a document with places -> environment filled in ->
//! types -> overlay and live thresholds over it -> checks. Whatever fails on the way, the result is a
//! [`ConfigError`] that names everything found, and whoever had a configuration keeps it.

mod diff;
mod document;
mod environment;
mod loader;
mod overlay;
mod print;
mod problem;
mod reload;
#[cfg(test)]
mod tests;
mod thresholds;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::TaskName;
use crate::gateway::policy::{Policies, PolicyError, TaskPatch};
use crate::http::decode::TenantConfig;
use crate::matching::detect::{BUILT_IN, DetectError, TaskDetector, TaskRule};
use crate::{cache, embed, flights, http, limit, load, telemetry, upstream, vector};

pub use loader::{Loaded, Loader, Overrides};
pub use print::defaults_as_toml;
pub use problem::{ConfigError, Problem};
pub use reload::{AdjustError, Apply, Event, InForce, ReloadError, ReloadHandle, ReloadStatus, Reloader};
pub use thresholds::{Adjustment, Origin, ThresholdView};

/// The whole configuration of a gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The listener for callers, and what a connection may cost.
    pub server: http::Config,
    /// The listener for operators.
    pub admin: http::AdminConfig,
    /// The inference server behind us.
    pub upstream: upstream::Config,
    /// Who is one tenant.
    pub tenants: TenantConfig,
    /// The aggregation window of every task that says nothing else.
    pub window: flights::Config,
    /// Bounds of the result cache.
    pub cache: cache::Config,
    /// The index of sentence embeddings.
    pub vectors: vector::Config,
    /// The embedding model.
    pub embedder: embed::Config,
    /// The bucket in front of the GPU.
    pub admission: limit::Config,
    /// Where the load of the inference servers is read.
    pub load: load::Config,
    /// Logs.
    pub log: telemetry::Config,
    /// Where thresholds set by an operator are kept.
    pub overlay: OverlayConfig,
    /// Changes to the policies of tasks, and tasks of the operator's own.
    pub tasks: BTreeMap<TaskName, TaskPatch>,
    /// Which task a path or a model means, asked in order where the caller names none.
    pub rules: Vec<TaskRule>,
}

/// Section `[overlay]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OverlayConfig {
    /// The file that keeps thresholds which an operator wants to survive a restart. Empty (the default): beside
    /// the configuration file, named like it with `.overlay.toml`. Read at start only.
    pub path: PathBuf,
}

// === impl Config ===

impl Config {
    /// The policies of all tasks.
    pub fn policies(&self) -> Result<Policies, PolicyError> {
        Policies::new(&Arc::new(self.window.clone()), &self.tasks)
    }

    /// Who names the tasks of calls: the built-in tasks and those of this configuration.
    pub fn detector(&self) -> Result<TaskDetector, DetectError> {
        let mut names: Vec<TaskName> = BUILT_IN.map(TaskName::new).to_vec();
        names.extend(self.tasks.keys().filter(|task| !BUILT_IN.contains(&task.as_str())).cloned());
        let words = self.tasks.iter().filter(|(_, patch)| !patch.words.is_empty());
        let words = words.map(|(task, patch)| (task.clone(), patch.words.clone())).collect();
        TaskDetector::new(&names, self.rules.clone(), &words)
    }

    /// Asks every engine whether its section can work. Paths only; a [`Loader`] adds file and line.
    pub(crate) fn check(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        section(&mut found, "server", self.server.check());
        section(&mut found, "admin", self.admin.check());
        section(&mut found, "upstream", self.upstream.check());
        section(&mut found, "tenants", self.tenants.check());
        section(&mut found, "cache", self.cache.check());
        section(&mut found, "vectors", self.vectors.check());
        section(&mut found, "embedder", self.embedder.check());
        section(&mut found, "admission", self.admission.check());
        section(&mut found, "load", self.load.check());
        section(&mut found, "log", self.log.check());
        let before = found.len();
        section(&mut found, "window", self.window.check());
        if found.len() == before {
            // A bad window is the base of every task and would be told once for each.
            section(&mut found, "tasks", self.policies());
        }
        match self.detector() {
            Err(DetectError::UnknownInRule { rule, task }) => {
                let known = BUILT_IN.iter().copied().chain(self.tasks.keys().map(TaskName::as_str));
                let problem = Problem::at(format!("rules[{rule}].task"), format!("unknown task {task:?}"));
                found.push(Problem { suggestion: problem::nearest(&task, known), ..problem });
            }
            other => section(&mut found, "rules", other),
        }
        found
    }

    /// A stable hash of everything but the secrets, equal on all replicas with equal settings. Sixteen
    /// hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let text = print::masked(self).to_string();
        blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
    }

    /// Everything in force as JSON, secrets masked.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        print::as_json(self)
    }
}

/// Engines say "key: what is allowed", "section.key must …" or "key is 5, allowed are …"; the key goes to the path.
fn section<T, E: ToString>(found: &mut Vec<Problem>, name: &str, checked: Result<T, E>) {
    let Err(error) = checked else { return };
    let text = error.to_string();
    let below = text.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(&text);
    let end = below.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c))).unwrap_or(below.len());
    let (key, rest) = below.split_at(end);
    let names_a_key = below.len() < text.len() || rest.starts_with(": ") || has_key(name, key);
    found.push(if names_a_key && !key.is_empty() {
        Problem::at(format!("{name}.{key}"), rest.trim_start_matches(':').trim_start())
    } else {
        Problem::at(name, text)
    });
}

fn has_key(section: &str, key: &str) -> bool {
    print::masked(&Config::default()).get(section).is_some_and(|section| section.get(key).is_some())
}
