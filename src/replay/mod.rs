//! Sends a day of requests through the gateway and straight to the upstream, and compares.
//!
//! The clock is the file's: every request leaves at its own time, however slowly the earlier ones are
//! answered (an open loop), and its latency counts from that time, so a late sender flatters nobody. What is
//! compared is not only speed. The simulated upstream begins every answer with a tag that names the prompt
//! which made it, the file says to which group each prompt belongs, and an answer made by another group's
//! prompt is *wrong*. Nothing here knows the gateway from inside: it speaks HTTP and reads response headers.

mod book;
mod ceiling;
mod entry;
mod figures;
mod gateway;
mod reply;
mod send;
mod stories;
mod table;

pub use book::{Book, SharedPrompt};
pub use ceiling::Ceiling;
pub use entry::{Entry, FileError, read, write};
pub use figures::{Latency, Report, RunFigures};
pub use gateway::{Gateway, GatewayError, scale_ttls};
pub use reply::{Made, Reply, Shared};
pub use send::{Pace, Sample, Target, send};
pub use stories::Story;
