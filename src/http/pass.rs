//! Everything that is not an inference: through and back, untouched.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use tracing::debug;

use super::render::Lang;
use super::{Edge, Lifecycle, Underway, reply};
use crate::domain::{Outcome, Refusal};
use crate::gateway::{PassBody, Record};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body on its way back. It holds the account of its call and its place in the drain.
struct Passing {
    body: PassBody,
    record: Option<Record>,
    cut: BoxFuture<'static, ()>,
    _underway: Underway,
}

/// Answers one request of any other path.
pub(super) async fn handle(edge: Arc<Edge>, request: Request) -> Response<Body> {
    let lang = Lang::of(request.headers());
    pass(&edge, request).await.unwrap_or_else(|refusal| {
        debug!(route = "other", reason = refusal.code(), "refused");
        reply::refusal(&refusal, lang)
    })
}

async fn pass(edge: &Edge, request: Request) -> Result<Response<Body>, Refusal> {
    if edge.life.is_draining() {
        return Err(Refusal::ShuttingDown);
    }
    if request.method() == Method::CONNECT {
        return Err(Refusal::Invalid { field: None, message: "CONNECT is not a request to a gateway".to_owned() });
    }
    let underway = edge.life.begin();
    let request = request.map(|body| body.map_err(BoxError::from).boxed_unsync());
    let (response, record) = tokio::select! {
        answer = edge.gateway.forward(request) => answer?,
        // Nothing was answered yet; dropping the exchange cancels it.
        () = edge.life.cutting() => return Err(Refusal::ShuttingDown),
    };
    let mut response = response
        .map(|body| Body::new(Passing { body, record: Some(record), cut: cut(&edge.life), _underway: underway }));
    response.headers_mut().insert(reply::SOURCE, HeaderValue::from_static("passthrough"));
    Ok(response)
}

fn cut(life: &Lifecycle) -> BoxFuture<'static, ()> {
    let life = life.clone();
    async move { life.cutting().await }.boxed()
}

// === impl Passing ===

impl Passing {
    fn finish(&mut self, outcome: Outcome) {
        if let Some(record) = self.record.take() {
            record.finish(outcome);
        }
    }
}

impl http_body::Body for Passing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(None) => self.finish(Outcome::Ok),
            Poll::Ready(Some(Err(_))) => self.finish(Outcome::UpstreamError),
            Poll::Ready(Some(Ok(_))) => {
                if self.body.is_end_stream() {
                    self.finish(Outcome::Ok);
                }
            }
            // A format that we do not know has no error frame: the connection is cut, which every client notices.
            Poll::Pending if self.cut.poll_unpin(cx).is_ready() => {
                self.finish(Outcome::Refused);
                return Poll::Ready(Some(Err(Refusal::ShuttingDown.into())));
            }
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body without a byte is never polled.
impl Drop for Passing {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.finish(Outcome::Ok);
        }
    }
}
