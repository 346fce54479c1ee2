//! Integration tests: the real binary, the real model, real HTTP over loopback.
#![allow(clippy::float_cmp, reason = "metrics are compared with the whole numbers that they count")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

mod config;
mod edge;
mod floors;
mod openai;
mod product;
mod replay;
mod sim;
