//! Weir: a semantic request-coalescing gateway with an embedding cache.
//!
//! A request flows one way through the floors below; a module names only floors beneath its own
//! (`tests/it/floors.rs` enforces the table).
//!
//! | floor | modules | what they hold |
//! |---|---|---|
//! | 0 | [`domain`] | the words of the product as types |
//! | 1 | [`text`], [`stats`], [`vector`], [`meter`], [`wire`] | pure tools: text, numbers, vectors, metric names, the wire format |
//! | 2 | [`matching`] | the guard and the tiers: may these two questions share one answer? |
//! | 3 | [`embed`], [`cache`], [`flights`], [`limit`], [`load`], [`upstream`] | engines with state of their own |
//! | 4 | [`gateway`] | the only place where engines meet |
//! | 5 | [`http`], [`config`], [`telemetry`] | the edges |
//! | 6 | [`app`], [`cli`], [`sim`], [`replay`] | wiring and commands |

pub mod app;
pub mod cache;
pub mod cli;
pub mod config;
pub mod domain;
pub mod embed;
pub mod flights;
pub mod gateway;
pub mod http;
pub mod limit;
pub mod load;
pub mod matching;
pub mod meter;
pub mod replay;
pub mod sim;
pub mod stats;
pub mod telemetry;
pub mod text;
pub mod upstream;
pub mod vector;
pub mod wire;
