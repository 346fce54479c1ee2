//! The product's promises, without a socket: real matcher, cache, flights and gate over a scripted upstream,
//! on a paused clock.

mod accounts;
mod aggregation;
mod answers;
mod world;
