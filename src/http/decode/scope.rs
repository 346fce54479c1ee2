//! Everything that must be equal before two calls may share, as one hash.
//!
//! The hash is BLAKE3 over a list of fields, each written as `length of tag, tag, length of value,
//! value` with lengths of 8 bytes, little-endian, so that no two lists give the same bytes. The fields:
//! version, tenant, route, task, query, each keyed header with its name, and the body in its
//! canonical form ([`json::canonical`]) after these changes:
//!
//! - the question is blank (the caller of this module has taken it out);
//! - noise is gone: [`NOISE`];
//! - `temperature` is a step of 0.1, rounded half up; above 0 it never becomes 0, absent stays absent;
//! - `stop: "x"` is `stop: ["x"]`.
//!
//! `max_tokens` and `max_completion_tokens` are kept apart, since some servers ignore one of them.

use std::borrow::Cow;

use http::HeaderMap;

use crate::domain::{Route, ScopeId, TaskName, Tenant, UpstreamRequest};
use crate::wire::json::{self, Json, Number};

use super::headers;

/// Body fields that say who asks, how the reply travels or which request this is; never what is asked.
const NOISE: [&str; 7] = ["user", "metadata", "stream", "stream_options", "request_id", "trace_id", "timestamp"];

/// Changes when the encoding does.
const VERSION: &[u8] = b"weir scope 1";

/// What must be equal.
pub(super) struct Equal<'a> {
    pub(super) tenant: Tenant,
    pub(super) route: Route,
    pub(super) task: &'a TaskName,
    pub(super) query: &'a str,
    pub(super) headers: &'a HeaderMap,
    /// The body without its question.
    pub(super) body: Json<'a>,
}

/// Field after field into one hash.
struct Encoder(blake3::Hasher);

/// The Scope of a call that may share.
pub(super) fn scope_of(equal: Equal<'_>) -> ScopeId {
    let mut encoder = Encoder::new(equal.tenant, equal.route, equal.task);
    encoder.field("query", equal.query.as_bytes());
    for (name, value) in headers::keyed(equal.headers) {
        encoder.field("header name", name.as_bytes());
        encoder.field("header value", value);
    }
    encoder.field("body", json::canonical(&without_noise(equal.body)).as_bytes());
    encoder.finish()
}

/// The Scope of a call that never shares: who asks for which path.
pub(super) fn of_path(tenant: Tenant, task: &TaskName, request: &UpstreamRequest) -> ScopeId {
    let mut encoder = Encoder::new(tenant, Route::Other, task);
    encoder.field("method", request.method.as_bytes());
    encoder.field("path", request.path_and_query.as_bytes());
    encoder.finish()
}

fn without_noise(body: Json<'_>) -> Json<'_> {
    let Json::Object(mut members) = body else { return body };
    members.retain(|member| !NOISE.contains(&member.key.as_ref()));
    for member in &mut members {
        let value = std::mem::replace(&mut member.value, Json::Null);
        member.value = match (member.key.as_ref(), value) {
            ("stop", stop @ Json::String(_)) => Json::Array(vec![stop]),
            ("temperature", Json::Number(temperature)) => stepped(temperature),
            (_, value) => value,
        };
    }
    Json::Object(members)
}

/// `0.65` to `0.7`, as text, so that it can never be taken for an exact number.
fn stepped(temperature: Number<'_>) -> Json<'static> {
    let exact = temperature.as_f64();
    let step = (exact * 10.0 + 0.5).floor() / 10.0;
    let text = if exact > 0.0 && step <= 0.0 { "above 0".to_owned() } else { format!("{:.1}", step + 0.0) };
    Json::String(Cow::Owned(text))
}

// === impl Encoder ===

impl Encoder {
    fn new(tenant: Tenant, route: Route, task: &TaskName) -> Self {
        let mut encoder = Self(blake3::Hasher::new());
        encoder.field("version", VERSION);
        encoder.field("tenant", &tenant.0);
        encoder.field("route", route.as_str().as_bytes());
        encoder.field("task", task.as_str().as_bytes());
        encoder
    }

    fn field(&mut self, tag: &str, value: &[u8]) {
        for part in [tag.as_bytes(), value] {
            self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
    }

    fn finish(&self) -> ScopeId {
        ScopeId(*self.0.finalize().as_bytes())
    }
}
