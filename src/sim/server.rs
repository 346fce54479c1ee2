//! Connections and routes.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::TryStreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::http::HeaderMap;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::fault::FaultQueue;
use super::gpu::Gpu;
use super::ledger::{Ledger, Recorded};
use super::play::{Broken, Ending, Player};
use super::script::{Break, Script};
use super::{Ask, Fault, SimConfig, Surface, pages};

/// What all connections share.
pub(super) struct Shared {
    pub(super) config: SimConfig,
    pub(super) gpu: Arc<Gpu>,
    pub(super) ledger: Ledger,
    pub(super) faults: FaultQueue,
    serial: std::sync::atomic::AtomicU64,
}

pub(super) type Reply = Response<UnsyncBoxBody<Bytes, Broken>>;

const FAULT_HEADER: &str = "x-sim-fault";

// === impl Shared ===

impl Shared {
    pub(super) fn new(config: SimConfig) -> Self {
        Self {
            gpu: Arc::new(Gpu::new(config.slots, config.kv_tokens)),
            ledger: Ledger::new(config.keep),
            faults: FaultQueue::default(),
            serial: std::sync::atomic::AtomicU64::new(1),
            config,
        }
    }

    pub(super) fn reset(&self) {
        self.gpu.reset();
        self.ledger.clear();
        self.faults.clear();
    }

    /// The number of an inference; a reset does not begin again, so that no two answers are ever equal.
    fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
}

/// Accepts until it is told to stop; then every connection ends where it is.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            // Cancel-safe: a connection is accepted whole or not at all.
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        // Out of descriptors or gone before it was accepted: the next one may do better.
        let Ok((stream, _)) = accepted else {
            tokio::task::yield_now().await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (shared, stop) = (Arc::clone(&shared), stop.clone());
        connections.spawn(async move {
            tokio::select! {
                // Not resumed: dropping a connection is how the server stops.
                () = connection(stream, shared) => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let ending = Ending::default();
    let wire = TokioIo::new(Wire { stream, ending: ending.clone() });
    let service = service_fn(move |request| answer(Arc::clone(&shared), ending.clone(), request));
    // An error here is a caller who left or a fault that was asked for.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(wire, service).await;
}

async fn answer(shared: Arc<Shared>, ending: Ending, request: Request<Incoming>) -> Result<Reply, Broken> {
    let path = request.uri().path().to_owned();
    if path == "/sim/echo" {
        return Ok(echo(request));
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return Err(ending.end(Break::Close));
    };
    if let Some(page) = pages::own(&shared, &parts, &body) {
        return Ok(page);
    }
    shared.ledger.record(Recorded::new(&parts, body.clone()));
    match Surface::of(&path).filter(|_| parts.method == Method::POST && path.starts_with("/v1/")) {
        Some(surface) => infer(&shared, ending, surface, &parts.headers, &body).await,
        None => Ok(pages::public(&shared, &path)),
    }
}

/// Sends a body back as it comes in, chunk by chunk.
fn echo(request: Request<Incoming>) -> Reply {
    let (parts, body) = request.into_parts();
    let mut reply = Response::new(body.map_err(|_| Broken).boxed_unsync());
    if let Some(kind) = parts.headers.get(CONTENT_TYPE) {
        reply.headers_mut().insert(CONTENT_TYPE, kind.clone());
    }
    reply
}

async fn infer(
    shared: &Shared,
    ending: Ending,
    surface: Surface,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Reply, Broken> {
    shared.gpu.count(|stats| stats.calls += 1);
    let without_slot =
        |script: Script| start(script, Player { started: Instant::now(), slot: None, ending: ending.clone() });
    let fault = match fault_of(shared, headers) {
        Ok(fault) => fault,
        Err(message) => return without_slot(Script::error(StatusCode::BAD_REQUEST, &message, None)).await,
    };
    if fault.is_some() {
        shared.gpu.count(|stats| stats.faulted += 1);
    }
    match fault {
        Some(Fault::Status { status, retry_after }) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return without_slot(Script::error(status, "failed on demand (simulated)", retry_after)).await;
        }
        Some(Fault::Refuse) => return Err(ending.end(Break::Close)),
        Some(Fault::Reset) => return Err(ending.end(Break::Reset)),
        _ => {}
    }
    if !let_in(&shared.config, headers) {
        return without_slot(Script::error(StatusCode::UNAUTHORIZED, "wrong API key", None)).await;
    }
    let ask = match Ask::read(surface, body) {
        Ok(ask) => ask,
        Err(message) => return without_slot(Script::error(StatusCode::BAD_REQUEST, &message, None)).await,
    };
    let script = Script::answer(&shared.config, &ask, shared.next_serial(), fault);
    let prompt_tokens = u64::from(ask.prompt_tokens());
    let slot = shared.gpu.slot(prompt_tokens + u64::from(*shared.config.output_tokens.end())).await;
    shared.gpu.count(|stats| stats.prompt_tokens += prompt_tokens);
    start(script, Player { started: Instant::now(), slot: Some(slot), ending }).await
}

/// The request's own fault, else the next of the queue.
fn fault_of(shared: &Shared, headers: &HeaderMap) -> Result<Option<Fault>, String> {
    match headers.get(FAULT_HEADER) {
        Some(word) => {
            let word = word.to_str().map_err(|_| format!("{FAULT_HEADER} is not text"))?;
            word.parse().map(Some).map_err(|error: super::UnknownFault| error.to_string())
        }
        None => Ok(shared.faults.next()),
    }
}

fn let_in(config: &SimConfig, headers: &HeaderMap) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    config.api_key.as_ref().is_none_or(|key| given == Some(&format!("Bearer {key}")))
}

async fn start(script: Script, player: Player) -> Result<Reply, Broken> {
    player.before_head(script.before_head).await?;
    let body = StreamBody::new(player.body(script.body).map_ok(Frame::data));
    let mut reply = Response::new(body.boxed_unsync());
    *reply.status_mut() = script.status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(script.content_type));
    if let Some(length) = script.length {
        reply.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    if let Some(seconds) = script.retry_after {
        reply.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    Ok(reply)
}

/// A page with a body that is known.
pub(super) fn page(status: StatusCode, content_type: &'static str, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body).map_err(|never: Infallible| match never {}).boxed_unsync());
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}

/// A socket that can end with a reset: dropping it with a zero linger time throws unsent bytes away and
/// tells the peer so.
struct Wire {
    stream: TcpStream,
    ending: Ending,
}

// === impl Wire ===

impl Drop for Wire {
    fn drop(&mut self) {
        if self.ending.is_reset() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
