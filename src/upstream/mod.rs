//! The inference server behind us.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::domain::{Head, UpstreamFailure, UpstreamRequest};

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
