//! The only place where engines meet. (Its parts join as the engines land.)

pub mod policy;

pub use policy::{Policies, TaskPatch, TaskPolicy};
