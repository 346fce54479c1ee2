//! Bodies on their way: watched for silence and size, cleaned where they may hold a key.

use std::error::Error;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

use super::{BoxError, PassBody, Scrubber};
use crate::domain::UpstreamFailure;

/// How long a body may be silent, and how large it may become.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// When the first byte must be there.
    pub(super) first_by: Instant,
    pub(super) idle: Duration,
    pub(super) most: u64,
}

struct Reading {
    body: Incoming,
    bounds: Bounds,
    seen: u64,
}

// --- inferences

/// The data of a response to an inference. The first failure is the last item.
pub(super) fn chunks(body: Incoming, bounds: Bounds) -> BoxStream<'static, Result<Bytes, UpstreamFailure>> {
    stream::unfold(Some(Reading { body, bounds, seen: 0 }), |reading| async move {
        let mut reading = reading?;
        match reading.next().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some(reading))),
            Ok(None) => None,
            Err(failure) => Some((Err(failure), None)),
        }
    })
    .boxed()
}

/// The same with keys taken out.
pub(super) fn scrubbed<E: Send + 'static>(
    body: BoxStream<'static, Result<Bytes, E>>,
    scrubber: Scrubber,
) -> BoxStream<'static, Result<Bytes, E>> {
    stream::unfold((Some(body), scrubber), |(body, mut scrubber)| async move {
        let mut body = body?;
        match body.next().await {
            Some(Ok(chunk)) => Some((Ok(scrubber.push(&chunk)), (Some(body), scrubber))),
            Some(Err(error)) => Some((Err(error), (None, scrubber))),
            None => Some((Ok(scrubber.finish()), (None, scrubber))),
        }
    })
    .filter(|item| std::future::ready(!matches!(item, Ok(chunk) if chunk.is_empty())))
    .boxed()
}

// === impl Reading ===

impl Reading {
    async fn next(&mut self) -> Result<Option<Bytes>, UpstreamFailure> {
        loop {
            let (by, late) = if self.seen == 0 {
                (self.bounds.first_by, UpstreamFailure::FirstByteTimeout)
            } else {
                (Instant::now() + self.bounds.idle, UpstreamFailure::IdleTimeout)
            };
            let Some(frame) = timeout_at(by, self.body.frame()).await.map_err(|_| late)? else { return Ok(None) };
            let Ok(chunk) = frame.map_err(|error| failure_of(&error))?.into_data() else { continue };
            self.seen += chunk.len() as u64;
            if self.seen > self.bounds.most {
                return Err(UpstreamFailure::TooLarge);
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
    }
}

/// What a failed exchange means. A connection that ends before the response does is a cut, whether the
/// length was announced or the last chunk is missing.
pub(super) fn failure_of(error: &(dyn Error + 'static)) -> UpstreamFailure {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>()
            && hyper.is_parse()
        {
            return UpstreamFailure::Garbled;
        }
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && matches!(io.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
        {
            return UpstreamFailure::Garbled;
        }
        next = cause.source();
    }
    UpstreamFailure::Cut
}

// --- pass-through

/// Counts the frames of a body, so that a long upload is not taken for a hung upstream.
pub(super) struct Counted {
    body: PassBody,
    frames: Arc<AtomicU64>,
}

/// Waits for `answer` as long as it, or else the upload that `frames` counts, makes progress within `patience`.
pub(super) async fn while_progressing<T>(
    patience: Duration,
    frames: &AtomicU64,
    answer: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let mut answer = pin!(answer);
    let mut seen = frames.load(Ordering::Relaxed);
    loop {
        let waited = timeout(patience, answer.as_mut()).await;
        let now = frames.load(Ordering::Relaxed);
        if waited.is_ok() || now == seen {
            return waited;
        }
        seen = now;
    }
}

// === impl Counted ===

impl Counted {
    pub(super) fn new(body: PassBody) -> (Self, Arc<AtomicU64>) {
        let frames = Arc::new(AtomicU64::new(0));
        (Self { body, frames: Arc::clone(&frames) }, frames)
    }
}

impl Body for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() {
            self.frames.fetch_add(1, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
