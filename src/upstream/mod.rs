//! The inference server behind us.
//!
//! Two ways lead there. [`Upstream::send`] sends one inference whose body we hold: it is the only thing
//! that flights know, and a script implements it in tests. [`Forward::forward`] carries everything that
//! is not an inference, streamed both ways and untouched. [`HttpUpstream`] does both over one set of
//! connections.
//!
//! What it refuses: a time-out for the whole response (a healthy stream may run for minutes), a redirect
//! (it would carry prompts and keys to a host that nobody configured), and a second sending of a request
//! of which a single byte may have arrived. Connections are never trusted for ever: names are resolved
//! again every few seconds and a new generation of connections takes over when the answer changes.

mod base;
mod body;
mod client;
mod config;
mod generation;
mod headers;
mod resolve;
mod scrub;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use http_body_util::combinators::UnsyncBoxBody;

use crate::domain::{Head, UpstreamFailure, UpstreamRequest};

pub use base::{Base, BaseError};
pub use client::HttpUpstream;
pub use config::{Config, ConfigError, StreamUsage};
pub use resolve::{Resolve, SystemResolver};
pub use scrub::Scrubber;

/// Why a body stopped early.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body on its way through: data and trailers as they come.
pub type PassBody = UnsyncBoxBody<Bytes, BoxError>;

/// A response whose head has arrived and whose body is still coming.
pub struct UpstreamResponse {
    /// Status and end-to-end headers.
    pub head: Head,
    /// The body in the chunks in which it arrives; an `Err` is the last item. Dropping it cancels the request.
    pub body: BoxStream<'static, Result<Bytes, UpstreamFailure>>,
}

/// Sends one inference. Implemented by the HTTP client and, in tests, by a script.
pub trait Upstream: Send + Sync + 'static {
    /// Resolves at the response head. Connect, first-byte and idle time-outs are the implementation's.
    fn send(&self, request: Arc<UpstreamRequest>) -> BoxFuture<'_, Result<UpstreamResponse, UpstreamFailure>>;
}

/// Carries everything that is not an inference, untouched.
pub trait Forward: Send + Sync + 'static {
    /// Resolves at the response head. The request's URI is the caller's path and query; hop-by-hop headers
    /// are stripped both ways, bodies and trailers are not looked at.
    fn forward(
        &self,
        request: http::Request<PassBody>,
    ) -> BoxFuture<'_, Result<http::Response<PassBody>, UpstreamFailure>>;
}
