//! Sentence embeddings on threads of their own.

use futures_util::future::BoxFuture;

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

/// Makes embeddings.
pub trait Embedder: Send + Sync + 'static {
    /// The embedding of `text`, or why there is none; never later than the engine's budget.
    fn embed<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Embedding, EmbedError>>;
}
