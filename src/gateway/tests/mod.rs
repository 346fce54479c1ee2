//! The product's promises, without a socket: real matcher, cache, flights and gate over a scripted upstream,
//! on a paused clock.
#![allow(clippy::float_cmp, reason = "metrics are compared with the whole numbers that they count")]

mod accounts;
mod aggregation;
mod answers;
mod world;
