//! How a call, and a flight, can end.

use std::sync::Arc;
use std::time::Duration;

use super::Answer;

/// Where the answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An inference made for this call.
    Upstream,
    /// The result cache.
    Cache,
    /// Another's inference, joined while it gathered.
    Window,
    /// Another's inference, joined while it ran.
    LateJoin,
    /// A path that Weir does not touch.
    Passthrough,
    /// Nothing was answered.
    None,
}

/// How the call ended for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Answered in full.
    Ok,
    /// The caller went away first.
    ClientClosed,
    /// The upstream failed or answered with an error.
    UpstreamError,
    /// The upstream was too slow.
    Timeout,
    /// Refused by admission or a limit.
    Refused,
    /// The request was not understood.
    Invalid,
}

/// How an answer came to be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedBy {
    /// From the result cache.
    Cache,
    /// In the aggregation window.
    Window,
    /// By joining a running inference.
    LateJoin,
}

/// How a flight ended, told once to everybody who waits on it.
#[derive(Clone, Debug)]
pub enum Landing {
    /// A complete answer, fit to be stored and shared further.
    Answered(Arc<Answer>),
    /// Delivered in full to those who wait, but not to be stored or joined any more: an error status, an
    /// answer cut by `length`, an empty choice.
    NotShareable,
    /// The upstream failed.
    Failed(UpstreamFailure),
    /// The task that led the flight died; one successor may be elected.
    Lost,
    /// Admission did not come in time.
    TooLate {
        /// When a new try makes sense.
        retry_after: Duration,
    },
}

/// Why an inference brought no complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UpstreamFailure {
    /// No connection: refused, unresolvable, TLS failure.
    #[error("the upstream cannot be reached")]
    Unreachable,
    /// Connected, but no response head within the first-byte timeout.
    #[error("the upstream sent no response in time")]
    FirstByteTimeout,
    /// The response stopped for longer than the idle timeout.
    #[error("the upstream stopped sending")]
    IdleTimeout,
    /// The response ended before it was complete.
    #[error("the upstream cut its response short")]
    Cut,
    /// The bytes are not the protocol we speak.
    #[error("the upstream sent something that is not a valid response")]
    Garbled,
    /// The response is larger than a flight may hold.
    #[error("the upstream's response is larger than the configured bound")]
    TooLarge,
    /// Nobody waited any longer.
    #[error("every caller went away")]
    Abandoned,
    /// The process is stopping and its drain time is over.
    #[error("the gateway is shutting down")]
    ShuttingDown,
}

/// Any reason not to answer. One exhaustive `match` in `http` turns it into a status, a code and a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The request is not understood; names the field.
    #[error("{message}")]
    Invalid {
        /// Path of the offending field, such as `messages[0].content`, if there is one.
        field: Option<String>,
        /// What is wrong, for the caller.
        message: String,
    },
    /// The body is larger than the configured limit.
    #[error("the request body is larger than {limit} bytes")]
    BodyTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The body came too slowly.
    #[error("the request body did not arrive in time")]
    BodyTooSlow,
    /// A `Content-Encoding` of the request that we do not decode.
    #[error("unsupported content encoding")]
    UnsupportedEncoding,
    /// `only-if-cached`, and nothing is.
    #[error("no stored answer, and only a stored one was asked for")]
    NotCached,
    /// The GPU bucket or queue had no room in time.
    #[error("the inference servers are busy")]
    Busy {
        /// When a new try makes sense.
        retry_after: Duration,
    },
    /// Not within the time that the caller itself allows.
    #[error("the answer did not come within the time that the request allows")]
    TooLate,
    /// The caller read too slowly and fell behind what a flight keeps.
    #[error("the reply was read too slowly")]
    SlowReader,
    /// The upstream failed.
    #[error(transparent)]
    Upstream(#[from] UpstreamFailure),
    /// The gateway is stopping.
    #[error("the gateway is shutting down")]
    ShuttingDown,
    /// Our own fault.
    #[error("internal error")]
    Internal,
}

// === labels ===

impl Source {
    /// All sources, for metrics.
    pub const ALL: [Self; 6] =
        [Self::Upstream, Self::Cache, Self::Window, Self::LateJoin, Self::Passthrough, Self::None];

    /// The metric label, also the value of `X-Weir-Source`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Cache => "cache",
            Self::Window => "window",
            Self::LateJoin => "late_join",
            Self::Passthrough => "passthrough",
            Self::None => "none",
        }
    }
}

impl Outcome {
    /// All outcomes, for metrics.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::ClientClosed, Self::UpstreamError, Self::Timeout, Self::Refused, Self::Invalid];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ClientClosed => "client_closed",
            Self::UpstreamError => "upstream_error",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Invalid => "invalid",
        }
    }
}

impl SharedBy {
    /// All ways, for metrics.
    pub const ALL: [Self; 3] = [Self::Cache, Self::Window, Self::LateJoin];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Window => "window",
            Self::LateJoin => "late_join",
        }
    }
}

impl From<SharedBy> for Source {
    fn from(by: SharedBy) -> Self {
        match by {
            SharedBy::Cache => Self::Cache,
            SharedBy::Window => Self::Window,
            SharedBy::LateJoin => Self::LateJoin,
        }
    }
}

impl Refusal {
    /// The machine-readable code, also the `reason` label of `weir_refused_total` and `X-RateLimit-Reason`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_request",
            Self::BodyTooLarge { .. } => "body_too_large",
            Self::BodyTooSlow => "body_too_slow",
            Self::UnsupportedEncoding => "unsupported_encoding",
            Self::NotCached => "not_cached",
            Self::Busy { .. } => "gpu_busy",
            Self::TooLate => "too_late",
            Self::SlowReader => "slow_reader",
            Self::Upstream(failure) => failure.code(),
            Self::ShuttingDown => "shutting_down",
            Self::Internal => "internal_error",
        }
    }

    /// How the call ended, for metrics.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Invalid { .. } | Self::BodyTooLarge { .. } | Self::BodyTooSlow | Self::UnsupportedEncoding => {
                Outcome::Invalid
            }
            Self::NotCached | Self::Busy { .. } | Self::SlowReader | Self::ShuttingDown => Outcome::Refused,
            Self::TooLate | Self::Upstream(UpstreamFailure::FirstByteTimeout | UpstreamFailure::IdleTimeout) => {
                Outcome::Timeout
            }
            Self::Upstream(_) | Self::Internal => Outcome::UpstreamError,
        }
    }
}

impl UpstreamFailure {
    /// The machine-readable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreachable => "upstream_unreachable",
            Self::FirstByteTimeout => "upstream_timeout",
            Self::IdleTimeout => "upstream_stalled",
            Self::Cut => "upstream_cut",
            Self::Garbled => "upstream_garbled",
            Self::TooLarge => "upstream_too_large",
            Self::Abandoned => "abandoned",
            Self::ShuttingDown => "shutting_down",
        }
    }
}
