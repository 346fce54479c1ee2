//! One caller's request, as we understand it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{HeaderLine, ScopeId, TaskName, Tenant};

/// The inference surfaces whose calls may share. Everything else passes through untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completions,
    /// `/v1/embeddings`
    Embeddings,
    /// `/api/ai/{task}`, which travels upstream as a chat completion.
    Ai,
    /// Any other path.
    Other,
}

/// How the caller wants its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyMode {
    /// One JSON document.
    Whole,
    /// Server-sent events.
    Stream {
        /// `stream_options.include_usage`: a last event with the usage.
        include_usage: bool,
    },
}

/// How far a call may share with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Every tier that its task allows.
    ByMeaning,
    /// Equal questions only.
    ExactOnly(WhyNotShared),
    /// An inference of its own, neither stored nor joined.
    Never(WhyNotShared),
}

/// Why a call shares less than its task allows. Shown to the caller in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyNotShared {
    /// The temperature is above 0 and the task generates text.
    Sampled,
    /// `seed`, `n` > 1, `logprobs`, tools, images or audio: only the very same request is the same.
    Parameters,
    /// More earlier turns than the task compares.
    LongHistory,
    /// The caller asked for `Cache-Control: no-store`.
    NoStore,
    /// The caller asked for a run of its own.
    Forced,
    /// The body has no question in it that we know how to compare.
    NoQuestion,
}

/// The caller's `Cache-Control`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheDirectives {
    /// Neither look up nor keep nor join.
    pub no_store: bool,
    /// Do not answer from the cache (the new answer may be kept).
    pub no_cache: bool,
    /// Answer only from the cache; otherwise 504.
    pub only_if_cached: bool,
    /// Accept no stored answer older than this.
    pub max_age: Option<Duration>,
}

/// `max_tokens` or `max_completion_tokens` of the caller; the latter wins if both are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaxTokens(pub u32);

/// What an inference costs in the units of the GPU bucket (the founding formula; always at least 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u32);

/// What goes upstream for this call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// HTTP method, upper case.
    pub method: String,
    /// Path and query below the upstream's base URL, beginning with `/v1/…` or whatever the caller used.
    pub path_and_query: String,
    /// End-to-end headers; hop-by-hop ones are gone.
    pub headers: Vec<HeaderLine>,
    /// The caller's own bytes, with at most the named splices.
    pub body: Bytes,
}

/// One caller's request.
#[derive(Clone, Debug)]
pub struct Call {
    /// The surface it came in by.
    pub route: Route,
    /// Its task type.
    pub task: TaskName,
    /// Who asks.
    pub tenant: Tenant,
    /// What must be equal to share with it.
    pub scope: ScopeId,
    /// The one text that may differ; empty when [`Sharing`] says there is none.
    pub question: Arc<str>,
    /// How far it may share.
    pub sharing: Sharing,
    /// How it wants its reply.
    pub mode: ReplyMode,
    /// Its cap on generated tokens, if it gave one.
    pub max_tokens: Option<MaxTokens>,
    /// Its `Cache-Control`.
    pub cache: CacheDirectives,
    /// The longest it is willing to wait, if it said so.
    pub patience: Option<Duration>,
    /// What to send if an inference is needed.
    pub request: Arc<UpstreamRequest>,
}

// === impl Route ===

impl Route {
    /// All routes, for metrics.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Completions, Self::Embeddings, Self::Ai, Self::Other];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
            Self::Embeddings => "embeddings",
            Self::Ai => "ai",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl Sharing ===

impl Sharing {
    /// Why less than everything, if so.
    #[must_use]
    pub const fn why(self) -> Option<WhyNotShared> {
        match self {
            Self::ByMeaning => None,
            Self::ExactOnly(why) | Self::Never(why) => Some(why),
        }
    }
}

// === impl WhyNotShared ===

impl WhyNotShared {
    /// The token shown in `X-Weir-Match`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sampled => "sampled",
            Self::Parameters => "parameters",
            Self::LongHistory => "long_history",
            Self::NoStore => "no_store",
            Self::Forced => "forced",
            Self::NoQuestion => "no_question",
        }
    }
}
