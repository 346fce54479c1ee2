//! The guard: decides from the *difference* of two questions whether they may share an answer, whatever
//! their similarity.

mod veto;

pub use veto::Veto;
