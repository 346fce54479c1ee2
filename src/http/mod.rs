//! (to come)

pub mod decode;
pub mod render;
