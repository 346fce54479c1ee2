//! The wire format: OpenAI's JSON and server-sent events, as bytes in and values out.
//!
//! Pure: no clock, no I/O, no HTTP. What goes through Weir stays the caller's or the upstream's own
//! bytes; these modules look at them ([`json`], [`sse`], [`tally`]), change a named spot in place
//! ([`splice`]) or retell a stored answer in the other form ([`convert`]).

pub mod convert;
pub mod json;
pub mod splice;
pub mod sse;
pub mod tally;
