//! Sockets: accepted within a bound, given a limited time to say what they want, closed in good order.
//!
//! HTTP/1.1 and HTTP/2 with prior knowledge on one port. Three things that the HTTP library leaves open are
//! closed here: a connection that never says anything (the library's header time-out begins only once it
//! knows the protocol), a reader that stops reading, and the order of stopping. Requests with two ways to
//! tell their length are understood as chunked and their connection is closed after the answer (RFC 9112,
//! 6.3), so nothing behind them is ever taken for a request.

mod stall;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tracing::{debug, warn};

use super::{Config, Lifecycle};

use stall::StallGuard;

/// Calls at a time on one HTTP/2 connection.
const STREAMS: u32 = 1024;
/// A silent HTTP/2 peer is asked for a sign of life this often, and given as long to answer.
const PING: Duration = Duration::from_secs(20);
/// How long a connection may take to hand over what is left when everything ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Pause after the system refused a connection (too many open files), so as not to spin.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

/// Accepts connections until the lifecycle closes. Each runs on `connections`; while draining they are
/// still accepted, to be told so.
pub async fn serve(listener: TcpListener, app: Router, config: Config, life: Lifecycle, connections: TaskTracker) {
    let slots = Arc::new(Semaphore::new(config.max_connections));
    loop {
        // Cancel-safe: a slot that was not handed out stays in the semaphore.
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            () = life.closing() => return,
        };
        let Ok(slot) = slot else { return };
        // Cancel-safe: a connection that was not accepted stays in the backlog.
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = life.closing() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, app.clone(), config.clone(), life.clone(), slot));
            }
            Err(error) => refused(&error).await,
        }
    }
}

async fn refused(error: &io::Error) {
    // A peer that left before it was accepted is no trouble of ours.
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        warn!(%error, "cannot accept connections");
        sleep(AFTER_REFUSAL).await;
    }
}

/// One connection, from its first byte to its last.
async fn connection(stream: TcpStream, app: Router, config: Config, life: Lifecycle, slot: OwnedSemaphorePermit) {
    let _slot = slot;
    let _ = stream.set_nodelay(true);
    let spoken = Arc::new(AtomicBool::new(false));
    let service = {
        let spoken = Arc::clone(&spoken);
        service_fn(move |request: Request<Incoming>| {
            spoken.store(true, Ordering::Relaxed);
            app.clone().oneshot(request)
        })
    };
    let protocol = protocol(&config);
    let io = TokioIo::new(StallGuard::new(stream, config.write_timeout));
    let mut serving = pin!(protocol.serve_connection(io, service));
    let mut silent = pin!(sleep_until(Instant::now() + config.header_timeout));
    let mut unproven = true;
    // One that comes while we drain is served its refusal before it is asked to leave.
    let mut leaving = life.is_draining();
    loop {
        // Cancel-safe: only `serving` has state, and it is polled again until it ends or is dropped for good.
        tokio::select! {
            // What has come is read before anybody is called silent: on a busy machine it was us who were late.
            biased;
            ended = serving.as_mut() => {
                if let Err(error) = ended {
                    debug!(error = %error, "connection ended");
                }
                return;
            }
            () = silent.as_mut(), if unproven => {
                if !spoken.load(Ordering::Relaxed) {
                    return;
                }
                unproven = false;
            }
            () = life.draining(), if !leaving => {
                leaving = true;
                serving.as_mut().graceful_shutdown();
            }
            () = life.closing() => break,
        }
    }
    serving.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_WORDS, serving).await;
}

fn protocol(config: &Config) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(config.header_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING);
    builder
}
