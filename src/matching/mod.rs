//! May these two questions share one answer? Tiers propose, the guard decides.
//!
//! Pure: no clock, no I/O, no HTTP. The same `compare` serves the cache, the window and the late join.
//! Similarity is never a reason to share: negation, one number or a swapped direction score *higher* than
//! true rewordings in every model measured. So a tier only proposes, and the guard accepts a proposal only
//! if it can say of every difference why it does not matter. Doubt means no merge.

mod align;
pub mod detect;
mod explain;
mod features;
mod guard;
mod matcher;
mod verdict;

pub use explain::{Difference, Explanation, Steps, TierReport};
pub use features::{Features, ReadingKey};
pub use guard::Veto;
pub use matcher::{MatchPolicy, Matcher};
pub use verdict::Verdict;

#[cfg(test)]
mod tests;
