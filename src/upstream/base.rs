//! How the caller's path and the upstream's base URL become one address.
//!
//! People write the base URL with and without `/v1`, with and without a trailing slash, and client
//! libraries add `/v1/…` themselves. The rule: **a version segment (`v1`, `v2`, …) at the end of the base
//! stands for the caller's `/v1`**; the rest of the base is a prefix of everything.
//!
//! | base | `/v1/chat/completions` | `/metrics` |
//! |---|---|---|
//! | `http://u`, `http://u/` | `/v1/chat/completions` | `/metrics` |
//! | `http://u/v1`, `http://u/v1/` | `/v1/chat/completions` | `/metrics` |
//! | `http://u/llm` | `/llm/v1/chat/completions` | `/llm/metrics` |
//! | `http://u/api/v3` | `/api/v3/chat/completions` | `/api/metrics` |

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// The upstream's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    scheme: Scheme,
    authority: Authority,
    prefix: String,
    version: String,
}

/// Why a text is not the address of an upstream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// Not a URL at all.
    #[error("not a URL")]
    Malformed,
    /// Neither http nor https.
    #[error("only http:// and https:// are spoken")]
    Scheme,
    /// User and password in the URL would end up in logs.
    #[error("credentials do not belong into the URL; use upstream.api_key")]
    Credentials,
    /// A query has no place in a base.
    #[error("a base URL has no query")]
    Query,
}

// === impl Base ===

impl Base {
    /// Reads a base URL.
    pub fn parse(url: &str) -> Result<Self, BaseError> {
        let parts = url.trim().parse::<Uri>().map_err(|_| BaseError::Malformed)?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(BaseError::Malformed);
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(BaseError::Scheme);
        }
        if authority.as_str().contains('@') {
            return Err(BaseError::Credentials);
        }
        let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        if path.query().is_some() {
            return Err(BaseError::Query);
        }
        let path = path.path().trim_end_matches('/');
        let (prefix, version) = match path.rsplit_once('/') {
            Some((prefix, last)) if is_version(last) => (prefix, format!("/{last}")),
            _ => (path, "/v1".to_owned()),
        };
        Ok(Self { scheme, authority, prefix: prefix.to_owned(), version })
    }

    /// The address of a caller's path and query. `None` if they cannot be part of a URL.
    #[must_use]
    pub fn join(&self, path_and_query: &str) -> Option<Uri> {
        let rest = path_and_query.strip_prefix("/v1").filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        let path = match rest {
            Some(rest) => format!("{}{}{rest}", self.prefix, self.version),
            None => format!("{}{path_and_query}", self.prefix),
        };
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build().ok()
    }

    /// The host, without the brackets of an IPv6 literal.
    #[must_use]
    pub fn host(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }

    /// The port, if need be that of the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.is_tls() { 443 } else { 80 })
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn joined(base: &str, path: &str) -> String {
        Base::parse(base).unwrap().join(path).unwrap().to_string()
    }

    #[test]
    fn every_spelling_of_a_base_reaches_v1_exactly_once() {
        for base in ["http://u", "http://u/", "http://u/v1", "http://u/v1/"] {
            assert_eq!(joined(base, "/v1/chat/completions"), "http://u/v1/chat/completions", "{base}");
            assert_eq!(joined(base, "/metrics?a=b"), "http://u/metrics?a=b", "{base}");
        }
    }

    #[test]
    fn a_prefix_stays_and_another_version_takes_the_place_of_v1() {
        assert_eq!(joined("http://u/llm", "/v1/models"), "http://u/llm/v1/models");
        assert_eq!(joined("http://u/llm/v1/", "/v1/models"), "http://u/llm/v1/models");
        assert_eq!(joined("https://u:8443/api/v3", "/v1/chat/completions"), "https://u:8443/api/v3/chat/completions");
        assert_eq!(joined("https://u/api/v3", "/metrics"), "https://u/api/metrics");
        assert_eq!(joined("http://u/v1", "/v1beta/models"), "http://u/v1beta/models");
    }

    #[test]
    fn ipv6_literals_lose_their_brackets_as_hosts() {
        let base = Base::parse("http://[fd00::5]:8000/v1").unwrap();
        assert_eq!((base.host(), base.port()), ("fd00::5", 8000));
        assert_eq!(base.join("/v1/models").unwrap().to_string(), "http://[fd00::5]:8000/v1/models");
    }

    #[test]
    fn what_is_not_a_base_url_is_refused_with_its_reason() {
        for (url, error) in [
            ("", BaseError::Malformed),
            ("127.0.0.1:8000", BaseError::Malformed),
            ("ftp://u", BaseError::Scheme),
            ("http://user:word@u", BaseError::Credentials),
            ("http://u/v1?key=x", BaseError::Query),
        ] {
            assert_eq!(Base::parse(url), Err(error), "{url}");
        }
    }
}
