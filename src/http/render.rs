//! What callers get to read when it is not the upstream's own bytes: refusals and the founding form.
//!
//! Pure: values in, status and bytes out. The one place that knows which HTTP status a [`Refusal`](crate::domain::Refusal) is.

mod ai;
mod refusal;

pub use ai::{AiStream, ai_reply};
pub use refusal::{ErrorReply, Lang, error_body, error_event};
