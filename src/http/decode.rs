//! One request of a caller becomes a [`Call`], or a refusal that names the offending field.
//!
//! Two promises are made here and nowhere else. First, nothing invalid goes further: no quota is
//! charged, no upstream called. Second, the [`ScopeId`](crate::domain::ScopeId): whatever may change
//! the answer, and is not the question itself, is in it. Unknown fields and headers are therefore
//! keyed by default, and only named noise is left out.

mod ai;
mod body;
mod headers;
mod question;
mod scope;
mod tenant;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::domain::{
    CacheDirectives, Call, NameTask, Refusal, ReplyMode, Route, Sharing, TaskHints, TaskName, UpstreamRequest,
    WhyNotShared,
};
use crate::gateway::policy::{Sampled, TaskPolicy};
use crate::wire::json::{self, Json, Problem, ProblemKind};

use body::Knobs;
use headers::{Share, Wishes};
use question::{Compared, Question};

pub use headers::{TASK_HEADER, end_to_end};
pub use tenant::{TenantConfig, TenantConfigError, TenantKey, TenantRules};

/// The field named by the refusal of a path that does not exist; rendered as 404.
pub const PATH_FIELD: &str = "path";

/// A request as it arrived, its body complete.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    /// The surface it came in by.
    pub route: Route,
    /// HTTP method, upper case.
    pub method: &'a str,
    /// Path and query as the caller sent them.
    pub path_and_query: &'a str,
    /// All its headers.
    pub headers: &'a HeaderMap,
    /// All its bytes.
    pub body: Bytes,
}

/// What the configuration says about reading calls. Part of what a reload swaps.
pub struct DecodeRules {
    /// Names tasks.
    pub tasks: Arc<dyn NameTask>,
    /// Sharing by parameters, for each task; a task that is not listed has the default.
    pub sharing: BTreeMap<TaskName, SharingRules>,
    /// Tells tenants apart.
    pub tenants: TenantRules,
}

/// How the parameters of a call limit its sharing, for one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SharingRules {
    /// Whether calls with a temperature above 0 share equal questions only.
    pub sampled_exact_only: bool,
    /// The most earlier turns (system and developer text not counted) with which a question is
    /// still compared by meaning; beyond it equal questions only.
    pub max_history_turns: usize,
}

// === impl SharingRules ===

/// Conservative: a sampled answer is shared with the same question only. Ten turns are a conversation
/// in which the last question rarely stands alone.
impl Default for SharingRules {
    fn default() -> Self {
        Self { sampled_exact_only: true, max_history_turns: 10 }
    }
}

impl From<&TaskPolicy> for SharingRules {
    fn from(policy: &TaskPolicy) -> Self {
        Self {
            sampled_exact_only: policy.sampled == Sampled::ExactOnly,
            max_history_turns: policy.context_turns as usize,
        }
    }
}

/// Understands one request.
pub fn decode(incoming: Incoming<'_>, rules: &DecodeRules) -> Result<Call, Refusal> {
    if incoming.route == Route::Other {
        return pass_through(incoming, rules);
    }
    let wishes = Wishes::of(incoming.headers)?;
    headers::refuse_encoded(incoming.headers)?;
    let (path, query) = incoming.path_and_query.split_once('?').unwrap_or((incoming.path_and_query, ""));
    let request = upstream_request(&incoming)?;
    let mut body = read_object(&request.body)?;
    let knobs = Knobs::read(incoming.route, &body)?;
    let model = body::model(&body)?.to_owned();
    let question = question::take(incoming.route, &mut body, knobs.reveals_prompt)?;
    let named = if incoming.route == Route::Ai { ai::task_in(path) } else { wishes.task };
    let task = name_task(
        &TaskHints { route: incoming.route, path, model: &model, named, question: question.text_to_detect() },
        rules,
    )?;
    let tenant = rules.tenants.tenant(incoming.headers);
    let scope = scope::scope_of(scope::Equal {
        tenant,
        route: incoming.route,
        task: &task,
        query,
        headers: incoming.headers,
        body,
    });
    let sharing = sharing(&wishes, &knobs, &question, rules.sharing.get(&task).copied().unwrap_or_default());
    Ok(Call {
        route: incoming.route,
        task,
        tenant,
        scope,
        question: question.text,
        sharing,
        mode: knobs.mode,
        max_tokens: knobs.max_tokens,
        cache: wishes.cache,
        patience: wishes.patience,
        request: Arc::new(request),
    })
}

/// A path that Weir does not touch: whatever its headers and body say, it is not ours to judge.
fn pass_through(incoming: Incoming<'_>, rules: &DecodeRules) -> Result<Call, Refusal> {
    let path = incoming.path_and_query.split('?').next().unwrap_or_default();
    let task = name_task(&TaskHints { route: Route::Other, path, model: "", named: None, question: "" }, rules)?;
    let tenant = rules.tenants.tenant(incoming.headers);
    let request = UpstreamRequest {
        method: incoming.method.to_owned(),
        path_and_query: incoming.path_and_query.to_owned(),
        headers: end_to_end(incoming.headers),
        body: incoming.body,
    };
    Ok(Call {
        route: Route::Other,
        scope: scope::of_path(tenant, &task, &request),
        task,
        tenant,
        question: Arc::from(""),
        sharing: Sharing::Never(WhyNotShared::NoQuestion),
        mode: ReplyMode::Whole,
        max_tokens: None,
        cache: CacheDirectives::default(),
        patience: None,
        request: Arc::new(request),
    })
}

/// What goes upstream: the caller's own bytes, or what the founding form means as a chat completion.
fn upstream_request(incoming: &Incoming<'_>) -> Result<UpstreamRequest, Refusal> {
    let headers = headers::for_inference(incoming.headers);
    let (path_and_query, body) = if incoming.route == Route::Ai {
        ("/v1/chat/completions", ai::as_chat(&read_object(&incoming.body)?)?)
    } else {
        (incoming.path_and_query, incoming.body.clone())
    };
    Ok(UpstreamRequest { method: incoming.method.to_owned(), path_and_query: path_and_query.to_owned(), headers, body })
}

fn read_object(bytes: &Bytes) -> Result<Json<'_>, Refusal> {
    match json::parse(bytes) {
        Ok(body @ Json::Object(_)) => Ok(body),
        Ok(other) => Err(Refusal::Invalid {
            field: None,
            message: format!("the body must be a JSON object, not {}", other.kind()),
        }),
        Err(problem) => Err(refuse(problem)),
    }
}

fn refuse(problem: Problem) -> Refusal {
    let message = match (problem.kind, &problem.path) {
        (ProblemKind::Empty, _) => "the body is empty; a JSON object is required".to_owned(),
        (_, Some(path)) => format!("the body is not valid JSON: {problem} (`{path}`)"),
        (_, None) => format!("the body is not valid JSON: {problem}"),
    };
    Refusal::Invalid { field: problem.path, message }
}

fn name_task(hints: &TaskHints<'_>, rules: &DecodeRules) -> Result<TaskName, Refusal> {
    let field = if hints.route == Route::Ai { PATH_FIELD } else { TASK_HEADER };
    rules.tasks.name_task(hints).map_err(|unknown| body::invalid(field, &format!("names an {unknown}")))
}

/// The strictest reason wins.
fn sharing(wishes: &Wishes<'_>, knobs: &Knobs, question: &Question, rules: SharingRules) -> Sharing {
    if wishes.cache.no_store {
        return Sharing::Never(WhyNotShared::NoStore);
    }
    if wishes.share == Share::Never {
        return Sharing::Never(WhyNotShared::Forced);
    }
    if let Compared::AsWhole(why) = question.compared {
        return Sharing::ExactOnly(why);
    }
    if knobs.is_particular || question.has_tool_turns {
        return Sharing::ExactOnly(WhyNotShared::Parameters);
    }
    if knobs.is_sampled && rules.sampled_exact_only {
        return Sharing::ExactOnly(WhyNotShared::Sampled);
    }
    if question.earlier_turns > rules.max_history_turns {
        return Sharing::ExactOnly(WhyNotShared::LongHistory);
    }
    if wishes.share == Share::Exact {
        return Sharing::ExactOnly(WhyNotShared::Forced);
    }
    Sharing::ByMeaning
}

#[cfg(test)]
mod tests;
