//! (to come)
pub mod policy;
