//! The headers of a reply: our own, and those of the upstream that may travel.
//!
//! Our own are made of enums, numbers and names from the configuration, so no caller can write into them.

use axum::http::header::{AGE, CONTENT_LENGTH};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::domain::{Head, Source, TaskName, WhyNotShared};
use crate::gateway::Served;

/// Where the answer comes from.
pub(in crate::http) const SOURCE: HeaderName = HeaderName::from_static("x-weir-source");
/// The tier that matched and its score, or why nothing could.
const MATCH: HeaderName = HeaderName::from_static("x-weir-match");
/// The inference, and how many callers had boarded it.
const FLIGHT: HeaderName = HeaderName::from_static("x-weir-flight");
/// The task type that was applied.
const TASK: HeaderName = HeaderName::from_static("x-weir-task");
/// The stored entry, by which it can be purged.
const ENTRY: HeaderName = HeaderName::from_static("x-weir-entry");
/// RFC 9211.
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Headers that describe the content itself. The others belong to the exchange that brought it (cookies,
/// request ids, rate limits), so only the caller for whom that exchange was made gets them.
const OF_CONTENT: [&str; 3] = ["content-type", "content-encoding", "content-language"];

/// What an unhappy upstream says of trying again: true for everybody who waited for the same inference.
const OF_RETRYING: [&str; 3] = ["retry-after", "retry-after-ms", "x-should-retry"];

/// Our own headers.
pub(super) fn of(served: &Served, task: &TaskName) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(SOURCE, HeaderValue::from_static(served.source.as_str()));
    put(&mut headers, TASK, task.as_str());
    put(&mut headers, MATCH, &matched(served));
    put(&mut headers, CACHE_STATUS, &cache_status(served));
    if let Some((id, size)) = served.flight {
        put(&mut headers, FLIGHT, &format!("{id};size={size}"));
    }
    if let Some(stored) = &served.stored {
        headers.insert(AGE, stored.age.as_secs().into());
        put(&mut headers, ENTRY, &stored.entry.to_string());
    }
    headers
}

/// Adds what the upstream said, as far as this caller may have it. Our own names stay ours, except that
/// `Cache-Status` is a list to which each cache on the way adds itself.
pub(super) fn with_upstreams(own: &HeaderMap, head: &Head, source: Source) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(own.len() + head.headers.len());
    for (name, value) in &head.headers {
        let may_have = source == Source::Upstream || OF_CONTENT.contains(&name.as_str()) || tells_all(head, name);
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_maybe_shared(value.clone())) else {
            continue;
        };
        if may_have && name != CONTENT_LENGTH && (name == CACHE_STATUS || !own.contains_key(&name)) {
            headers.append(name, value);
        }
    }
    for (name, value) in own {
        headers.append(name, value.clone());
    }
    headers
}

fn tells_all(head: &Head, name: &str) -> bool {
    !head.is_success() && (OF_RETRYING.contains(&name) || name.starts_with("x-ratelimit-"))
}

fn matched(served: &Served) -> String {
    match (served.found, served.why) {
        (Some(found), _) => format!("{};score={}", found.tier, found.score),
        (None, Some(why)) => format!("none;why={}", why.as_str()),
        (None, None) => "none".to_owned(),
    }
}

fn cache_status(served: &Served) -> String {
    match (&served.stored, served.source, served.why) {
        // Scope and fingerprint, as the purge API takes them.
        (Some(stored), ..) => {
            format!("weir; hit; ttl={}; key=\"{}/{}\"", stored.fresh_for.as_secs(), stored.scope, stored.question)
        }
        (None, Source::Window | Source::LateJoin, _) => "weir; fwd=miss; collapsed".to_owned(),
        (None, _, Some(WhyNotShared::NoStore | WhyNotShared::Forced)) => "weir; fwd=request".to_owned(),
        (None, ..) => "weir; fwd=miss".to_owned(),
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::Form;

    fn seen_by(source: Source) -> HeaderMap {
        let headers = [
            ("content-type", "application/json"),
            ("content-length", "7"),
            ("set-cookie", "a=b"),
            ("x-weir-source", "forged"),
            ("cache-status", "cdn; hit"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), Bytes::from_static(value.as_bytes())));
        let own = HeaderMap::from_iter([
            (SOURCE, HeaderValue::from_static("x")),
            (CACHE_STATUS, HeaderValue::from_static("weir; hit")),
        ]);
        with_upstreams(&own, &Head { status: 200, headers: headers.to_vec(), form: Form::Whole }, source)
    }

    #[test]
    fn headers_of_an_exchange_are_for_the_caller_for_whom_it_was_made() {
        assert_eq!(seen_by(Source::Upstream)["set-cookie"], "a=b");
        for source in [Source::Cache, Source::Window, Source::LateJoin] {
            assert!(!seen_by(source).contains_key("set-cookie"));
            assert_eq!(seen_by(source)["content-type"], "application/json");
        }
    }

    #[test]
    fn our_own_names_are_ours_and_the_length_is_counted_anew() {
        let headers = seen_by(Source::Upstream);
        assert_eq!(headers.get_all(SOURCE).iter().collect::<Vec<_>>(), ["x"]);
        assert!(!headers.contains_key("content-length"));
        assert_eq!(headers.get_all(CACHE_STATUS).iter().collect::<Vec<_>>(), ["cdn; hit", "weir; hit"]);
    }

    fn follower_of(status: u16) -> HeaderMap {
        let lines = ["content-type", "retry-after", "x-ratelimit-remaining-tokens", "set-cookie"];
        let headers = lines.map(|name| (name.to_owned(), Bytes::from_static(b"1"))).to_vec();
        let head = Head { status, headers, form: Form::Whole };
        with_upstreams(&HeaderMap::new(), &head, Source::LateJoin)
    }

    #[test]
    fn a_follower_is_told_when_to_try_again_and_nothing_of_the_leaders_own() {
        let told = follower_of(429);
        assert!(told.contains_key("retry-after") && told.contains_key("x-ratelimit-remaining-tokens"));
        assert!(!told.contains_key("set-cookie"));
        let served = follower_of(200);
        assert!(served.contains_key("content-type"));
        assert!(!served.contains_key("x-ratelimit-remaining-tokens"), "the leader's own budget");
    }
}
