//! The last raw requests, for tests that compare what went upstream byte for byte.

use std::collections::VecDeque;
use std::sync::Mutex;

use bytes::Bytes;
use hyper::http::request::Parts;

use crate::domain::HeaderLine;

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub path_and_query: String,
    /// Every header line, names in lower case.
    pub headers: Vec<HeaderLine>,
    /// The body's bytes, chunking undone.
    pub body: Bytes,
}

pub(super) struct Ledger {
    keep: usize,
    last: Mutex<VecDeque<Recorded>>,
}

// === impl Recorded ===

impl Recorded {
    pub(super) fn new(parts: &Parts, body: Bytes) -> Self {
        Self {
            method: parts.method.to_string(),
            path_and_query: parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            headers: parts
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), Bytes::copy_from_slice(value.as_bytes())))
                .collect(),
            body,
        }
    }

    /// The first header of that (lower-case) name, as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(key, _)| key == name)?;
        std::str::from_utf8(value).ok()
    }
}

// === impl Ledger ===

impl Ledger {
    pub(super) fn new(keep: usize) -> Self {
        Self { keep, last: Mutex::default() }
    }

    pub(super) fn record(&self, request: Recorded) {
        let mut last = super::lock(&self.last);
        last.push_back(request);
        while last.len() > self.keep {
            last.pop_front();
        }
    }

    pub(super) fn recorded(&self) -> Vec<Recorded> {
        super::lock(&self.last).iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        super::lock(&self.last).clear();
    }
}
