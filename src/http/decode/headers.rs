//! Which headers travel, which are part of the Scope, and which are wishes to Weir itself.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;

use crate::domain::{CacheDirectives, HeaderLine, Refusal};

use super::body::invalid;
use super::tenant::CREDENTIALS;

/// The header by which a caller names its task.
pub const TASK_HEADER: &str = "x-task-type";
const SHARE_HEADER: &str = "x-weir-share";
const PATIENCE_HEADER: &str = "x-request-timeout";

/// Never forwarded: hop-by-hop (RFC 9110, 7.6.1), or rebuilt by our own client.
const NEVER_FORWARDED: [&str; 13] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "host",
    "content-length",
    "expect",
];

/// Not forwarded with a call that may share. Some are meant for us. Without `accept-encoding` the upstream answers in plain
/// text, which all callers of a flight can read; a body that got this far is plain. The addresses
/// of the way here tell nothing about the question, and would keep apart whom a proxy in front of
/// us brings together.
const NOT_SHARED: [&str; 11] = [
    TASK_HEADER,
    PATIENCE_HEADER,
    "accept-encoding",
    "content-encoding",
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Forwarded, but not part of the Scope: they say who follows a request, not what it asks. The task
/// is keyed by itself; `cache-control` is obeyed here.
const UNKEYED: [&str; 27] = [
    "accept",
    "baggage",
    "b3",
    "cache-control",
    "cf-ray",
    "content-type",
    "correlation-id",
    "date",
    "idempotency-key",
    "pragma",
    "request-id",
    "sentry-trace",
    "traceparent",
    "tracestate",
    "uber-trace-id",
    "user-agent",
    "x-amzn-trace-id",
    "x-client-request-id",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-idempotency-key",
    "x-ot-span-context",
    "x-request-id",
    "x-request-start",
    "x-session-trace-id",
    "x-span-id",
    "x-trace-id",
];

/// Whole families that are not keyed either: SDK telemetry and two tracing systems.
const UNKEYED_PREFIXES: [&str; 3] = ["x-stainless-", "x-b3-", "x-datadog-"];

/// How far the caller lets its call be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    AsConfigured,
    Exact,
    Never,
}

/// What the headers ask of Weir itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes<'a> {
    pub(super) task: Option<&'a str>,
    pub(super) share: Share,
    pub(super) cache: CacheDirectives,
    pub(super) patience: Option<Duration>,
}

/// The headers that may travel on: neither hop-by-hop nor named by `Connection`.
#[must_use]
pub fn end_to_end(headers: &HeaderMap) -> Vec<HeaderLine> {
    travelling(headers).map(owned).collect()
}

/// The headers that go upstream with a call that may share.
pub(super) fn for_inference(headers: &HeaderMap) -> Vec<HeaderLine> {
    shareable(headers).map(owned).collect()
}

/// The headers that must be equal to share, by name. Credentials are in the tenant.
pub(super) fn keyed(headers: &HeaderMap) -> Vec<(&str, &[u8])> {
    let is_keyed = |name: &str| {
        !UNKEYED.contains(&name)
            && !UNKEYED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            && !CREDENTIALS.contains(&name)
    };
    let mut keyed: Vec<_> = shareable(headers).filter(|(name, _)| is_keyed(name)).collect();
    keyed.sort_by_key(|(name, _)| *name);
    keyed
}

fn owned((name, value): (&str, &[u8])) -> HeaderLine {
    (name.to_owned(), Bytes::copy_from_slice(value))
}

fn shareable(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    travelling(headers).filter(|(name, _)| !NOT_SHARED.contains(name) && !name.starts_with("x-weir-"))
}

fn travelling(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    let dropped: Vec<String> = directives(headers, "connection").map(|(name, _)| name.to_ascii_lowercase()).collect();
    headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .filter(move |(name, _)| !NEVER_FORWARDED.contains(name) && !dropped.iter().any(|dropped| dropped == name))
}

/// A request body must be plain: whoever compresses it gets a clear answer instead of a guess.
pub(super) fn refuse_encoded(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_plain = directives(headers, "content-encoding").all(|(coding, _)| coding.eq_ignore_ascii_case("identity"));
    let is_text = headers.get_all("content-encoding").iter().all(|value| value.to_str().is_ok());
    if is_plain && is_text { Ok(()) } else { Err(Refusal::UnsupportedEncoding) }
}

/// The comma-separated members of a header, each split at its `=`.
fn directives<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|member| !member.is_empty()).map(|member| {
        let (key, value) = member.split_once('=').map_or((member, None), |(key, value)| (key, Some(value)));
        (key.trim(), value.map(|value| value.trim().trim_matches('"')))
    })
}

// === impl Wishes ===

impl<'a> Wishes<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Result<Self, Refusal> {
        let share = match text(headers, SHARE_HEADER)? {
            None => Share::AsConfigured,
            Some("exact") => Share::Exact,
            Some("never") => Share::Never,
            Some(_) => return Err(invalid(SHARE_HEADER, "must be `exact` or `never`")),
        };
        Ok(Self {
            task: text(headers, TASK_HEADER)?,
            share,
            cache: cache_directives(headers),
            patience: patience(headers),
        })
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    value.to_str().map(|text| Some(text.trim())).map_err(|_| invalid(name, "must be plain ASCII text"))
}

/// RFC 9111, 5.2.1. A `max-age` that is no number counts as 0, the cautious reading.
fn cache_directives(headers: &HeaderMap) -> CacheDirectives {
    let mut cache = CacheDirectives::default();
    for (directive, value) in directives(headers, "cache-control") {
        match directive.to_ascii_lowercase().as_str() {
            "no-store" => cache.no_store = true,
            "no-cache" => cache.no_cache = true,
            "only-if-cached" => cache.only_if_cached = true,
            "max-age" => {
                let seconds = value.and_then(|value| value.parse().ok()).unwrap_or(0);
                cache.max_age = Some(Duration::from_secs(seconds));
            }
            _ => {}
        }
    }
    if !headers.contains_key("cache-control") {
        cache.no_cache = directives(headers, "pragma").any(|(word, _)| word.eq_ignore_ascii_case("no-cache"));
    }
    cache
}

/// Seconds, perhaps with a fraction. What cannot be understood is no wish.
fn patience(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(PATIENCE_HEADER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|patience| !patience.is_zero())
}
