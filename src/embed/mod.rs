//! Sentence embeddings on threads of their own.
//!
//! The semantic tier is an opinion, never a duty: whoever asks gets an embedding within the budget or a
//! reason why there is none, and goes on. A model that is missing, broken, degenerate, busy or slow
//! therefore never fails a call and never makes one wait longer than the budget.
//!
//! Invariants: a text is embedded whole or not at all (what is cut would be compared as if the rest did not
//! exist); no text is embedded twice while it is remembered, also when many ask for it at once; and one
//! model is used by one thread, because its runs need exclusive access and would otherwise block the async
//! workers.
//!
//! [`OnnxEmbedder`] is the engine. It holds the memory, the queue and the threads, and knows of the model
//! only that it turns a text into a vector (`model` runs ONNX, `selftest` decides whether a model is fit
//! for use).

mod config;
mod engine;
mod memory;
mod model;
mod pace;
mod selftest;
mod worker;

#[cfg(test)]
mod tests;

pub use config::{Config, ConfigError, Pooling};
pub use engine::OnnxEmbedder;
pub use model::LoadError;
pub use selftest::Degenerate;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::meter;
use crate::vector::Embedding;

/// Why there is no embedding. The call always goes on without the semantic tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum EmbedError {
    /// The text is longer than the model's window; it is never cut.
    #[error("the text is longer than the embedding model's window")]
    TooLong,
    /// The queue is full.
    #[error("the embedding queue is full")]
    Full,
    /// Not within the budget.
    #[error("the embedding was not ready within its budget")]
    OverBudget,
    /// No model, or it failed.
    #[error("the embedding model is not available")]
    Unavailable,
}

/// Where the model stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedState {
    /// Switched off by the configuration.
    Off,
    /// Being loaded and tested, in the background.
    Loading,
    /// It answers.
    Ready,
    /// It could not be loaded, failed its test or died; the reason is for people. Final.
    Failed(Arc<str>),
}

/// Makes embeddings.
pub trait Embedder: Send + Sync + 'static {
    /// The embedding of `text`, or why there is none; never later than the engine's budget.
    fn embed<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Embedding, EmbedError>>;
}

// === impl EmbedError ===

impl EmbedError {
    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Full => "full",
            Self::OverBudget => "over_budget",
            Self::Unavailable => "unavailable",
        }
    }
}

// === impl EmbedState ===

impl EmbedState {
    /// The same without its reason, as the metrics show it.
    #[must_use]
    pub const fn label(&self) -> meter::EmbedState {
        match self {
            Self::Off => meter::EmbedState::Off,
            Self::Loading => meter::EmbedState::Loading,
            Self::Ready => meter::EmbedState::Ready,
            Self::Failed(_) => meter::EmbedState::Failed,
        }
    }
}
