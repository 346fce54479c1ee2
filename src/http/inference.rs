//! One call on an inference surface: decode, ask the gateway, encode.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::FutureExt;
use tokio::time::Instant;
use tracing::debug;

use super::decode::{self, Incoming};
use super::render::Lang;
use super::reply::{self, Asked};
use super::{Edge, body};
use crate::domain::{Call, Refusal, Route, TaskName};
use crate::gateway::{LONG_BODY, Record, aside_if};
use crate::meter::Stage;

/// Answers one request of an inference surface.
pub(super) async fn handle(edge: Arc<Edge>, route: Route, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let answering = AssertUnwindSafe(answer(&edge, route, &parts, body));
    // A fault of ours is this caller's 500, and not a connection that breaks without a word.
    let answered = answering.catch_unwind().await.unwrap_or(Err(Refusal::Internal));
    answered.unwrap_or_else(|refusal| {
        debug!(route = %route, reason = refusal.code(), "refused");
        reply::refusal(&refusal, Lang::of(&parts.headers))
    })
}

async fn answer(edge: &Edge, route: Route, parts: &Parts, body: Body) -> Result<Response, Refusal> {
    let underway = edge.life.begin();
    let (call, own_time) = read(edge, route, parts, body).await.inspect_err(|refusal| {
        Record::open(edge.gateway.meter(), route, &TaskName::new("default")).refuse(refusal);
    })?;
    let asked = Asked::of(&call, Lang::of(&parts.headers));
    let mut served = tokio::select! {
        served = edge.gateway.answer(call) => served?,
        // Nothing was answered yet; dropping the answer is leaving the flight.
        () = edge.life.cutting() => return Err(Refusal::ShuttingDown),
    };
    served.record.add_own_time(own_time);
    reply::encode(served, asked, edge, underway).await
}

/// The request as a call, and our own time for it. Time spent waiting for the body is the caller's, not ours.
async fn read(edge: &Edge, route: Route, parts: &Parts, body: Body) -> Result<(Call, Duration), Refusal> {
    if edge.life.is_draining() {
        return Err(Refusal::ShuttingDown);
    }
    let body = body::read(body, &edge.config).await?;
    let began = Instant::now();
    let path_and_query = without_trailing_slash(parts);
    let incoming = Incoming {
        route,
        method: parts.method.as_str(),
        path_and_query: &path_and_query,
        headers: &parts.headers,
        body,
    };
    let long = incoming.body.len() > LONG_BODY;
    let call = aside_if(long, || decode::decode(incoming, &edge.rules.load()))?;
    let took = began.elapsed();
    edge.gateway.meter().stage(Stage::Decode, took);
    Ok((call, took))
}

fn without_trailing_slash(parts: &Parts) -> String {
    let path = parts.uri.path();
    let path = path.strip_suffix('/').unwrap_or(path);
    match parts.uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}
