//! Numbers over time: what just happened, how often, and how much may happen next.
//!
//! Pure: nothing here reads a clock. Whoever owns a value tells it the time as a
//! [`Tick`](crate::domain::Tick), so that a test decides what time it is. Time that runs backwards is
//! treated as time that stands still.

mod sliding;

pub use sliding::SlidingCounts;
