//! The words of the product as types: what a call is, what may be shared, what comes back.
//!
//! Nothing here does I/O, knows a clock, an async runtime or an HTTP library: every other floor
//! speaks in these words, so they must be free of anybody's machinery. A state that must not
//! exist has no value here (a [`Score`] outside 0..=1, a [`Match`] without a tier).

mod answer;
pub mod bytes_text;
mod call;
pub mod duration_text;
mod ids;
mod load;
mod outcome;
mod score;
mod secret;
mod task;
mod tick;
mod tier;

pub use answer::{Answer, Form, Head, HeaderLine, Usage};
pub use call::{CacheDirectives, Call, Cost, MaxTokens, ReplyMode, Route, Sharing, UpstreamRequest, WhyNotShared};
pub use ids::{EntryId, FlightId, ScopeId, TaskName, Tenant};
pub use load::{GpuIdle, Load, LoadState};
pub use outcome::{Landing, Outcome, Refusal, SharedBy, Source, UpstreamFailure};
pub use score::{NotAScore, Score};
pub use secret::Secret;
pub use task::{NameTask, TaskHints, UnknownTask};
pub use tick::Tick;
pub use tier::{Match, Tier};
