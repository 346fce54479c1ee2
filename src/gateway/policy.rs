//! What each task type allows: which tiers, at which thresholds, for how long, with which window.
//!
//! Two types, so that a half-written policy cannot be used: [`TaskPatch`] is what a person writes in
//! `[tasks.<name>]` or sends to the thresholds API, every key optional; [`TaskPolicy`] is complete. Built-in
//! tasks have built-in policies; a task of the operator's own starts from that of `default`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{BadValue, Score, Sharing, TaskName, Tier, duration_text};
use crate::flights::{self, LateJoin, WindowMode};
use crate::matching::{MatchPolicy, detect};

/// What a temperature above 0 means for sharing. Several answers are right, but whoever asks again for
/// creative text wants another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampled {
    /// Only equal questions share.
    ExactOnly,
    /// Every tier that the task allows.
    Share,
}

/// The complete policy of one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskPolicy {
    /// Tiers that may merge. Exact is always among them.
    pub tiers: Vec<Tier>,
    /// Least TF-IDF cosine of the lexical tier.
    pub lexical: Score,
    /// Least cosine of the semantic tier.
    pub semantic: Score,
    /// Sharing at a temperature above 0.
    pub sampled: Sampled,
    /// Most earlier turns with which the last one may still be matched by meaning; beyond, exact only.
    pub context_turns: u32,
    /// How long an answer is served.
    #[serde(with = "duration_text")]
    pub ttl: Duration,
    /// The aggregation window.
    pub window: Arc<flights::Config>,
}

/// Changes to a task's policy; absent keys stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskPatch {
    /// Tiers that may merge, such as `["exact", "canonical"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tiers: Option<Vec<Tier>>,
    /// Least TF-IDF cosine of the lexical tier, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<Score>,
    /// Least cosine of the semantic tier, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic: Option<Score>,
    /// `exact_only` or `share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Most earlier turns for matching by meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_turns: Option<u32>,
    /// How long an answer is served.
    #[serde(skip_serializing_if = "Option::is_none", with = "optional_duration")]
    pub ttl: Option<Duration>,
    /// `adaptive` or `fixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_mode: Option<WindowMode>,
    /// Longest time to gather callers.
    #[serde(skip_serializing_if = "Option::is_none", with = "optional_duration")]
    pub window_length: Option<Duration>,
    /// Callers who share one inference by similarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_callers: Option<u32>,
    /// `on` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_join: Option<LateJoin>,
    /// Words that mark a prompt as this task's, besides the built-in ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

/// The policies of all tasks in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Policies {
    by_task: BTreeMap<TaskName, TaskPolicy>,
    fallback: TaskPolicy,
}

// === impl TaskPolicy ===

impl TaskPolicy {
    /// The built-in policy. Generated text shares only what differs in noise; a "here is a text" task adds
    /// the lexical tier for its instruction; questions with a fixed answer use every tier. The thresholds
    /// only choose whom the guard is asked about: no threshold alone is safe.
    #[must_use]
    pub fn built_in(task: &str, window: &Arc<flights::Config>) -> Self {
        let near_exact = || vec![Tier::Exact, Tier::Canonical];
        let (tiers, sampled) = match task {
            "generation" | "chat" | "code" => (near_exact(), Sampled::ExactOnly),
            "translation" => (near_exact(), Sampled::Share),
            "embedding" => (vec![Tier::Exact], Sampled::Share),
            _ => (Tier::ALL.to_vec(), Sampled::Share),
        };
        Self {
            tiers,
            lexical: Score::clamped(0.6),
            semantic: Score::clamped(0.7),
            sampled,
            context_turns: 4,
            ttl: Duration::from_mins(5),
            window: Arc::clone(window),
        }
    }

    /// This policy with a patch over it.
    #[must_use]
    pub fn patched(&self, patch: &TaskPatch) -> Self {
        let mut window = (*self.window).clone();
        window.mode = patch.window_mode.unwrap_or(window.mode);
        window.length = patch.window_length.unwrap_or(window.length);
        window.max_callers = patch.max_callers.unwrap_or(window.max_callers);
        window.late_join = patch.late_join.unwrap_or(window.late_join);
        Self {
            tiers: patch.tiers.clone().unwrap_or_else(|| self.tiers.clone()),
            lexical: patch.lexical.unwrap_or(self.lexical),
            semantic: patch.semantic.unwrap_or(self.semantic),
            sampled: patch.sampled.unwrap_or(self.sampled),
            context_turns: patch.context_turns.unwrap_or(self.context_turns),
            ttl: patch.ttl.unwrap_or(self.ttl),
            window: if window == *self.window { Arc::clone(&self.window) } else { Arc::new(window) },
        }
    }

    /// What the matcher may do for a call that shares this far.
    #[must_use]
    pub fn matching(&self, sharing: Sharing) -> MatchPolicy {
        let by_meaning = sharing == Sharing::ByMeaning;
        let allowed = |tier| by_meaning && self.tiers.contains(&tier);
        MatchPolicy {
            canonical: allowed(Tier::Canonical),
            lexical: allowed(Tier::Lexical).then_some(self.lexical),
            semantic: allowed(Tier::Semantic).then_some(self.semantic),
        }
    }

    /// Errors name the key below `tasks`, such as `qa.ttl`.
    fn check(&self, task: &TaskName) -> Result<(), BadValue> {
        let refuse = |key: &str, reason| Err(BadValue::new(format!("{task}.{key}"), reason));
        if !self.tiers.contains(&Tier::Exact) {
            return refuse("tiers", "must contain \"exact\"".into());
        }
        if self.ttl.is_zero() || self.ttl > Duration::from_hours(30 * 24) {
            return refuse("ttl", "must be above 0 and at most 30d".into());
        }
        self.window.check().or_else(|error| {
            let key = if error.key == "length" { "window_length" } else { &*error.key };
            refuse(key, error.reason)
        })
    }
}

// === impl Policies ===

impl Policies {
    /// The policies that the patches make of the built-in ones; names the first bad key.
    pub fn new(window: &Arc<flights::Config>, patches: &BTreeMap<TaskName, TaskPatch>) -> Result<Self, BadValue> {
        let fallback = {
            let built_in = TaskPolicy::built_in("default", window);
            patches.get(&TaskName::new("default")).map_or_else(|| built_in.clone(), |patch| built_in.patched(patch))
        };
        let built_in = detect::BUILT_IN.iter().map(|name| (TaskName::new(name), TaskPolicy::built_in(name, window)));
        let mut by_task: BTreeMap<_, _> = built_in.collect();
        for (task, patch) in patches {
            let base = by_task.get(task).unwrap_or(&fallback);
            let policy = base.patched(patch);
            by_task.insert(task.clone(), policy);
        }
        by_task.iter().try_for_each(|(task, policy)| policy.check(task))?;
        Ok(Self { by_task, fallback })
    }

    /// The policy of a task; that of `default` for a task that a reload has taken away.
    #[must_use]
    pub fn of(&self, task: &TaskName) -> &TaskPolicy {
        self.by_task.get(task).unwrap_or(&self.fallback)
    }

    /// All tasks with their policies, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&TaskName, &TaskPolicy)> {
        self.by_task.iter()
    }
}

impl Default for Policies {
    fn default() -> Self {
        let window = Arc::new(flights::Config::default());
        let built_in = detect::BUILT_IN.iter().map(|name| (TaskName::new(name), TaskPolicy::built_in(name, &window)));
        Self { by_task: built_in.collect(), fallback: TaskPolicy::built_in("default", &window) }
    }
}

/// `duration_text` for a key that may be absent.
mod optional_duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::domain::duration_text;

    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub fn serialize<S: Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(duration) => duration_text::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Text(#[serde(with = "duration_text")] Duration);
        Ok(Some(Text::deserialize(deserializer)?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policies(task: &str, patch: TaskPatch) -> Result<Policies, BadValue> {
        Policies::new(&Arc::new(flights::Config::default()), &BTreeMap::from([(TaskName::new(task), patch)]))
    }

    #[test]
    fn generation_is_conservative_out_of_the_box() {
        let policies = Policies::default();
        for task in ["generation", "chat", "code"] {
            let policy = policies.of(&TaskName::new(task));
            let matching = policy.matching(Sharing::ByMeaning);
            assert_eq!((matching.lexical, matching.semantic), (None, None), "{task}");
            assert_eq!(policy.sampled, Sampled::ExactOnly, "{task}");
        }
    }

    #[test]
    fn a_patch_changes_what_it_names_and_nothing_else() {
        let patch = TaskPatch { semantic: Some(Score::clamped(0.99)), ..TaskPatch::default() };
        let patched = policies("qa", patch).unwrap();
        let before = Policies::default();
        let qa = TaskName::new("qa");
        assert_eq!(patched.of(&qa).semantic, Score::clamped(0.99));
        assert_eq!(patched.of(&qa).lexical, before.of(&qa).lexical);
        assert_eq!(patched.of(&TaskName::new("chat")), before.of(&TaskName::new("chat")));
    }

    #[test]
    fn a_task_of_the_operators_own_starts_from_default() {
        let patch = TaskPatch { max_callers: Some(3), ..TaskPatch::default() };
        let policies = policies("support", patch).unwrap();
        let own = policies.of(&TaskName::new("support"));
        assert_eq!(own.window.max_callers, 3);
        assert_eq!(own.tiers, policies.of(&TaskName::new("default")).tiers);
    }

    #[test]
    fn a_call_that_must_not_share_by_meaning_gets_no_tier_beyond_exact() {
        let sharing = Sharing::ExactOnly(crate::domain::WhyNotShared::Parameters);
        let matching = Policies::default().of(&TaskName::new("qa")).matching(sharing);
        assert_eq!(matching, MatchPolicy::EXACT_ONLY);
    }

    #[test]
    fn a_bad_value_names_its_key() {
        let ttl = TaskPatch { ttl: Some(Duration::ZERO), ..TaskPatch::default() };
        assert_eq!(policies("qa", ttl).unwrap_err().key, "qa.ttl");
        let tiers = TaskPatch { tiers: Some(vec![Tier::Semantic]), ..TaskPatch::default() };
        assert_eq!(policies("chat", tiers).unwrap_err().key, "chat.tiers");
        let window = TaskPatch { max_callers: Some(0), ..TaskPatch::default() };
        assert_eq!(policies("qa", window).unwrap_err().key, "qa.max_callers");
    }
}
