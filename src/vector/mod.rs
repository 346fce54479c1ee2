//! Vectors and the indexes over them: flat below a measured size, HNSW above.

use std::sync::Arc;

use crate::domain::Score;

/// A sentence embedding of unit length. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding(Arc<[f32]>);

// === impl Embedding ===

impl Embedding {
    /// Scales `values` to unit length; `None` if they have no direction (zero, or not finite).
    #[must_use]
    pub fn new(values: &[f32]) -> Option<Self> {
        let norm = values.iter().map(|x| x * x).sum::<f32>().sqrt();
        (norm.is_finite() && norm > 1e-6).then(|| Self(values.iter().map(|x| x / norm).collect()))
    }

    /// The components.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Cosine similarity; zero between vectors of different models (dimensions).
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Score {
        if self.0.len() != other.0.len() {
            return Score::ZERO;
        }
        Score::clamped(self.0.iter().zip(other.0.iter()).map(|(a, b)| a * b).sum())
    }
}
