//! A vector of unit length.

use std::sync::Arc;

use crate::domain::Score;

/// Independent sums of a dot product: one float sum is a chain that the processor cannot overlap,
/// sixteen fill its vector registers.
const LANES: usize = 16;

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

    /// The number of components.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// Cosine similarity; zero between vectors of different models (dimensions), and for opposite ones.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> Score {
        if self.dimensions() != other.dimensions() {
            return Score::ZERO;
        }
        Score::clamped(dot(&self.0, &other.0))
    }

    /// Bytes that it holds.
    #[must_use]
    pub fn weight(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<usize>() + size_of_val(self.values())
    }
}

/// The dot product of two slices of equal length.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_no_direction_is_no_embedding() {
        assert_eq!(Embedding::new(&[]), None);
        assert_eq!(Embedding::new(&[0.0, 0.0]), None);
        assert_eq!(Embedding::new(&[f32::NAN, 1.0]), None);
        assert_eq!(Embedding::new(&[f32::INFINITY, 1.0]), None);
    }

    #[test]
    fn vectors_of_different_models_are_not_alike() {
        let (a, b) = (Embedding::new(&[1.0, 0.0]).unwrap(), Embedding::new(&[1.0, 0.0, 0.0]).unwrap());
        assert_eq!(a.cosine(&b), Score::ZERO);
    }

    proptest! {
        #[test]
        fn cosine_is_symmetric_and_one_on_itself(
            a in prop::collection::vec(-1.0_f32..1.0, 40),
            b in prop::collection::vec(-1.0_f32..1.0, 40),
        ) {
            if let (Some(a), Some(b)) = (Embedding::new(&a), Embedding::new(&b)) {
                prop_assert_eq!(a.cosine(&b), b.cosine(&a));
                prop_assert!(a.cosine(&a).get() > 0.9999);
            }
        }

        #[test]
        fn the_dot_product_is_the_sum_of_products_at_any_length(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..70),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs.iter().map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - plain).abs() < 1e-4);
        }
    }
}
