//! How a call gets its task type: what is known of it, and who decides.

use super::{Route, TaskName};

/// What is known of a call when its task is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskHints<'a> {
    /// The surface it came in by.
    pub route: Route,
    /// The path, without the query.
    pub path: &'a str,
    /// The model it names.
    pub model: &'a str,
    /// The task that the caller names itself: `X-Task-Type`, or the last segment of `/api/ai/{task}`.
    pub named: Option<&'a str>,
    /// Its question; empty if it has none.
    pub question: &'a str,
}

/// The caller named a task that nobody configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown task type; known are: {}", known.iter().map(TaskName::as_str).collect::<Vec<_>>().join(", "))]
pub struct UnknownTask {
    /// Every configured task, in the order of the configuration.
    pub known: Vec<TaskName>,
}

/// Names the task of a call. The edges ask through this, so that they need not know how it is detected.
pub trait NameTask: Send + Sync {
    /// The task of a call; an error only if the caller itself names one that does not exist.
    fn name_task(&self, hints: &TaskHints<'_>) -> Result<TaskName, UnknownTask>;
}
