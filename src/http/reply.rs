//! An answer becomes a response: headers, the caller's own mode, a body that keeps the account.
//!
//! A document is sent once it is complete, so an upstream that fails half-way is a status and not a broken
//! document. A stream is sent event by event as it comes; once its first event is out, a failure is an
//! error event and a clean end, without the `[DONE]` that would make it look whole.

mod body;
mod headers;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use futures_util::stream::{self, StreamExt};
use tokio::time::Instant;

use super::render::{self, AiStream, Lang};
use super::{Edge, Lifecycle, Underway};
use crate::domain::{
    Answer, Call, Form, Head, Outcome, Refusal, ReplyMode, Route, Source, TaskName, UpstreamFailure, Usage,
};
use crate::gateway::{Record, Reply, Seat, Served};
use crate::meter::Stage;
use crate::wire::convert;

use body::{Account, ReplyBody};

pub(super) use headers::SOURCE;

/// What the reply must know of its call.
pub(super) struct Asked {
    route: Route,
    task: TaskName,
    mode: ReplyMode,
    lang: Lang,
}

/// The events of a flight as one caller should see them.
struct Events {
    seat: Seat,
    asked: Asked,
    founding: Option<AiStream>,
    life: Lifecycle,
}

// === impl Asked ===

impl Asked {
    pub(super) fn of(call: &Call, lang: Lang) -> Self {
        Self { route: call.route, task: call.task.clone(), mode: call.mode, lang }
    }
}

/// The response to a call. `Err` as long as nothing of a reply is out.
pub(super) async fn encode(
    served: Served,
    asked: Asked,
    edge: &Edge,
    underway: Underway,
) -> Result<Response<Body>, Refusal> {
    let mut own_headers = headers::of(&served, &asked.task);
    let Served { source, reply, mut record, .. } = served;
    let answer = match reply {
        Reply::Stored(answer) => answer,
        Reply::Live { head, seat } if head.form == Form::Stream && asked.mode != ReplyMode::Whole => {
            own_headers.append(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
            let lang = asked.lang;
            let founding = (asked.route == Route::Ai).then(|| AiStream::new(source));
            let mut events = Events { seat, asked, founding, life: edge.life.clone() };
            let first = match events.next().await {
                Some(Err(refusal)) => return Err(refused(record, refusal)),
                first => first,
            };
            let rest = stream::unfold(events, |mut events| async { Some((events.next().await?, events)) });
            let account = Account::new(record, outcome_of(&head), underway);
            let body = ReplyBody::live(stream::iter(first).chain(rest).boxed(), account, lang);
            return Ok(response(&head, source, &own_headers, Body::new(body)));
        }
        Reply::Live { head, seat } => match collect(head, seat, &edge.life).await {
            Ok(answer) => Arc::new(answer),
            Err(refusal) => return Err(refused(record, refusal)),
        },
    };
    let began = Instant::now();
    let (head, parts) = match retold(&answer, &asked, source) {
        Ok(told) => told,
        Err(refusal) => return Err(refused(record, refusal)),
    };
    let took = began.elapsed();
    record.add_own_time(took);
    edge.gateway.meter().stage(Stage::Encode, took);
    let account = Account::new(record, outcome_of(&head), underway);
    Ok(response(&head, source, &own_headers, Body::new(ReplyBody::ready(parts, account))))
}

/// The response to a request that gets no answer.
pub(super) fn refusal(refusal: &Refusal, lang: Lang) -> Response<Body> {
    let error = render::error_body(refusal, lang);
    let mut response = Response::new(Body::from(error.body.to_string()));
    *response.status_mut() = error.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(SOURCE, HeaderValue::from_static(Source::None.as_str()));
    if let Some(seconds) = error.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if let Some(reason) = error.reason {
        headers.insert(HeaderName::from_static("x-ratelimit-reason"), HeaderValue::from_static(reason));
    }
    // The rest of the body was not read, or no other request is wanted on this connection.
    if matches!(refusal, Refusal::ShuttingDown | Refusal::BodyTooLarge { .. } | Refusal::BodyTooSlow) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn refused(record: Record, refusal: Refusal) -> Refusal {
    record.refuse(&refusal);
    refusal
}

fn outcome_of(head: &Head) -> Outcome {
    if head.status < 400 { Outcome::Ok } else { Outcome::UpstreamError }
}

fn response(head: &Head, source: Source, own_headers: &HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(head.status).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers::with_upstreams(own_headers, head, source);
    response
}

/// Waits for the whole response of a flight.
async fn collect(head: Arc<Head>, mut seat: Seat, life: &Lifecycle) -> Result<Answer, Refusal> {
    let mut parts = Vec::new();
    while let Some(part) = next_of(&mut seat, life).await {
        parts.push(part?);
    }
    Ok(Answer { head: Head::clone(&head), parts, usage: Usage::default() })
}

async fn next_of(seat: &mut Seat, life: &Lifecycle) -> Option<Result<Bytes, Refusal>> {
    tokio::select! {
        biased;
        part = seat.next() => part,
        // A part that was just coming is lost with it, which the error that ends the reply says.
        () = life.cutting() => Some(Err(Refusal::ShuttingDown)),
    }
}

/// A complete answer in the caller's mode. One that cannot be retold goes out as it came if that is the caller's
/// mode; events are no answer to a caller who wants a document, nor the reverse.
fn retold(answer: &Answer, asked: &Asked, source: Source) -> Result<(Head, Vec<Bytes>), Refusal> {
    let as_it_came = || {
        let wanted = if asked.mode == ReplyMode::Whole { Form::Whole } else { Form::Stream };
        let told = answer.head.form == wanted || !answer.head.is_success();
        told.then(|| (answer.head.clone(), answer.parts.clone())).ok_or(Refusal::Upstream(UpstreamFailure::Garbled))
    };
    if !answer.head.is_success() {
        return as_it_came();
    }
    let founding = asked.route == Route::Ai;
    let mode = match asked.mode {
        ReplyMode::Stream { .. } if founding => ReplyMode::Stream { include_usage: true },
        mode => mode,
    };
    let Ok((head, parts)) = convert::retell(answer, mode) else { return as_it_came() };
    if !founding {
        return Ok((head, parts));
    }
    match mode {
        ReplyMode::Whole => match render::ai_reply(&parts.concat(), source) {
            Ok(reply) => Ok((head, vec![reply])),
            Err(_) => as_it_came(),
        },
        ReplyMode::Stream { .. } => {
            let mut founding = AiStream::new(source);
            let events = parts.iter().filter_map(|event| founding.event(event)).collect();
            Ok((head, events))
        }
    }
}

// === impl Events ===

impl Events {
    async fn next(&mut self) -> Option<Result<Bytes, Refusal>> {
        loop {
            let event = match next_of(&mut self.seat, &self.life).await? {
                Ok(event) => event,
                Err(refusal) => return Some(Err(refusal)),
            };
            if let Some(event) = self.seen_by_caller(&event) {
                return Some(Ok(event));
            }
        }
    }

    fn seen_by_caller(&mut self, event: &Bytes) -> Option<Bytes> {
        match (&mut self.founding, self.asked.mode) {
            (Some(founding), _) => founding.event(event),
            (None, ReplyMode::Stream { include_usage }) => convert::for_caller(event, include_usage),
            (None, ReplyMode::Whole) => Some(event.clone()),
        }
    }
}
