//! Time for pure code.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A moment, as the time since the process (or the test) began. Pure code takes it as an argument,
/// so that a test decides what time it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(pub Duration);

// === impl Tick ===

impl Tick {
    /// The beginning.
    pub const START: Self = Self(Duration::ZERO);

    /// Time since `earlier`; zero if `earlier` lies in the future.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Tick {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(by))
    }
}

impl Sub<Duration> for Tick {
    type Output = Self;
    fn sub(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(by))
    }
}
