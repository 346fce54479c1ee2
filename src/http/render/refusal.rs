//! A [`Refusal`] as status, headers and body.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};

use crate::domain::{Refusal, UpstreamFailure};
use crate::http::decode::PATH_FIELD;
use crate::wire::sse;

/// The language of a message for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// An error as the caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorReply {
    /// HTTP status.
    pub status: StatusCode,
    /// OpenAI's error object; for 429 with the founding fields beside it.
    pub body: Value,
    /// `Retry-After`, in whole seconds, at least 1.
    pub retry_after: Option<u64>,
    /// `X-RateLimit-Reason`, on a 429.
    pub reason: Option<&'static str>,
}

/// The error reply of a refusal that comes before the head.
#[must_use]
pub fn error_body(refusal: &Refusal, lang: Lang) -> ErrorReply {
    let (status, kind) = status_and_type(refusal);
    let message = message(refusal, lang);
    let error = json!({
        "message": message,
        "type": kind,
        "param": param(refusal),
        "code": refusal.code(),
    });
    let wait = retry_after(refusal);
    let retry_after = wait.map(whole_seconds);
    if status != StatusCode::TOO_MANY_REQUESTS {
        return ErrorReply { status, body: json!({ "error": error }), retry_after, reason: None };
    }
    let milliseconds = wait.map_or(0, |wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    let body = json!({ "error": error, "code": 429, "message": message, "retryAfterMs": milliseconds });
    ErrorReply { status, body, retry_after, reason: Some(refusal.code()) }
}

/// The last event of a stream that cannot go on.
#[must_use]
pub fn error_event(refusal: &Refusal, lang: Lang) -> Bytes {
    let body = error_body(refusal, lang).body;
    sse::event(json!({ "error": body["error"] }).to_string().as_bytes())
}

/// The one table from refusals to HTTP. No `_`: a new refusal must be placed here.
fn status_and_type(refusal: &Refusal) -> (StatusCode, &'static str) {
    match refusal {
        Refusal::Invalid { field, .. } if field.as_deref() == Some(PATH_FIELD) => {
            (StatusCode::NOT_FOUND, "invalid_request_error")
        }
        Refusal::Invalid { .. } => (StatusCode::BAD_REQUEST, "invalid_request_error"),
        Refusal::BodyTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "invalid_request_error"),
        Refusal::BodyTooSlow | Refusal::SlowReader => (StatusCode::REQUEST_TIMEOUT, "timeout_error"),
        Refusal::UnsupportedEncoding => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error"),
        Refusal::NotCached => (StatusCode::GATEWAY_TIMEOUT, "cache_error"),
        Refusal::TooLate => (StatusCode::GATEWAY_TIMEOUT, "timeout_error"),
        Refusal::Busy { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error"),
        Refusal::Upstream(failure) => (failure_status(*failure), "upstream_error"),
        Refusal::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "service_unavailable_error"),
        Refusal::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
    }
}

fn failure_status(failure: UpstreamFailure) -> StatusCode {
    match failure {
        UpstreamFailure::Unreachable | UpstreamFailure::Cut | UpstreamFailure::Garbled | UpstreamFailure::TooLarge => {
            StatusCode::BAD_GATEWAY
        }
        UpstreamFailure::FirstByteTimeout | UpstreamFailure::IdleTimeout => StatusCode::GATEWAY_TIMEOUT,
        UpstreamFailure::Abandoned | UpstreamFailure::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn retry_after(refusal: &Refusal) -> Option<Duration> {
    match refusal {
        Refusal::Busy { retry_after } => Some(*retry_after),
        Refusal::ShuttingDown | Refusal::Upstream(UpstreamFailure::ShuttingDown) => Some(Duration::from_secs(1)),
        Refusal::Invalid { .. }
        | Refusal::BodyTooLarge { .. }
        | Refusal::BodyTooSlow
        | Refusal::UnsupportedEncoding
        | Refusal::NotCached
        | Refusal::SlowReader
        | Refusal::TooLate
        | Refusal::Upstream(_)
        | Refusal::Internal => None,
    }
}

/// Rounded up, since a client that comes too early is refused again.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

fn param(refusal: &Refusal) -> Option<&str> {
    match refusal {
        Refusal::Invalid { field, .. } => field.as_deref(),
        _ => None,
    }
}

/// For people, in their language. What is wrong with a request is told in English only, beside the
/// name of the field.
fn message(refusal: &Refusal, lang: Lang) -> String {
    let seconds = retry_after(refusal).map_or(1, whole_seconds);
    match (refusal, lang) {
        (Refusal::Busy { .. }, Lang::En) => {
            format!("The inference servers are busy. Please try again in {seconds} s.")
        }
        (Refusal::Busy { .. }, Lang::Zh) => format!("推理服务繁忙，请在 {seconds} 秒后重试。"),
        (other, _) => other.to_string(),
    }
}

// === impl Lang ===

impl Lang {
    /// The first of our languages in `Accept-Language`, by its weights; English if there is none.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
        let mut best = (0.0, Self::En);
        for range in accepted.flat_map(|value| value.split(',')) {
            let (tag, weight) = range.split_once(';').unwrap_or((range, ""));
            let weight: f32 = weight.trim().strip_prefix("q=").map_or(1.0, |q| q.parse().unwrap_or(0.0));
            let primary = tag.trim().split('-').next().unwrap_or_default();
            let lang = match primary.to_ascii_lowercase().as_str() {
                "zh" => Self::Zh,
                "en" => Self::En,
                _ => continue,
            };
            if weight > best.0 {
                best = (weight, lang);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests;
