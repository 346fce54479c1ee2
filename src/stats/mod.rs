//! Numbers over time: what just happened, how often, and how much may happen next.
//!
//! Pure: nothing here reads a clock. Whoever owns a value tells it the time as a
//! [`Tick`](crate::domain::Tick), so that a test decides what time it is. Time that runs backwards is
//! treated as time that stands still.

mod arrivals;
mod bucket;
mod decaying;
mod sliding;

pub use arrivals::Arrivals;
pub use bucket::{Bucket, MicroTokens, Rate};
pub use decaying::{DecayingMean, Ewma};
pub use sliding::SlidingCounts;
