//! A similarity, finite and within 0..=1 by construction.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How alike two questions are: 0 = nothing in common, 1 = equal. Never NaN.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f32", into = "f32")]
pub struct Score(f32);

/// The number given is not a similarity.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not between 0 and 1")]
pub struct NotAScore(pub f32);

// === impl Score ===

impl Score {
    /// Nothing in common.
    pub const ZERO: Self = Self(0.0);
    /// Equal.
    pub const ONE: Self = Self(1.0);

    /// Accepts exactly the finite numbers within 0..=1.
    pub fn new(value: f32) -> Result<Self, NotAScore> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value)) } else { Err(NotAScore(value)) }
    }

    /// Takes any float: rounding error above 1 becomes 1, below 0 becomes 0, NaN becomes 0 (no similarity).
    #[must_use]
    pub fn clamped(value: f32) -> Self {
        if value.is_nan() { Self::ZERO } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// The plain number.
    #[must_use]
    pub fn get(self) -> f32 {
        self.0
    }
}

impl TryFrom<f32> for Score {
    type Error = NotAScore;
    fn try_from(value: f32) -> Result<Self, NotAScore> {
        Self::new(value)
    }
}

impl From<Score> for f32 {
    fn from(score: Score) -> Self {
        score.0
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_zero_to_one_are_scores() {
        assert!(Score::new(0.0).is_ok() && Score::new(1.0).is_ok());
        for bad in [-0.1, 1.7, f32::NAN, f32::INFINITY] {
            assert!(Score::new(bad).is_err(), "{bad} was accepted");
        }
        assert_eq!(Score::clamped(f32::NAN), Score::ZERO);
        assert_eq!(Score::clamped(1.000_001), Score::ONE);
    }
}
