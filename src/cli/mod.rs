//! (to come)

pub mod explain;
