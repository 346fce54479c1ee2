//! Publishes an upstream response to a flight as it comes, and says what it was worth.
//!
//! A stream goes out event by event, nothing held back but a `[DONE]` that would make a broken stream look
//! whole. A document goes out as one piece once it is complete, so that a cut one can still become an error
//! status instead of half a body.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use crate::domain::{Form, UpstreamFailure, Usage};
use crate::flights::Pilot;
use crate::upstream::UpstreamResponse;
use crate::wire::sse::{self, Splitter};
use crate::wire::tally::{Ending, Expected, Tally};

/// How a response ended, and what it cost.
pub(super) struct Relayed {
    pub(super) ending: Result<Shareable, UpstreamFailure>,
    pub(super) usage: Usage,
}

/// Whether a response that was delivered in full may be stored and shared further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shareable {
    Yes,
    No,
}

type Body = BoxStream<'static, Result<Bytes, UpstreamFailure>>;

/// Relays the whole response; `cap` bounds a document in bytes (a stream is bounded by its flight's log).
pub(super) async fn relay(response: UpstreamResponse, expected: Expected, pilot: &Pilot, cap: usize) -> Relayed {
    let UpstreamResponse { head, body } = response;
    let (form, success) = (head.form, head.is_success());
    let mut tally = Tally::new(expected, form);
    pilot.head(head);
    let sent = match form {
        Form::Stream => stream(body, &mut tally, pilot).await,
        Form::Whole => document(body, &mut tally, pilot, cap).await,
    };
    let shareable = if success && tally.ending() == Ending::Complete { Shareable::Yes } else { Shareable::No };
    // An error status has no usage, and its body has no tokens to estimate.
    let usage = if success { tally.usage_or_estimate() } else { Usage::default() };
    Relayed { ending: sent.map(|()| shareable), usage }
}

async fn stream(mut body: Body, tally: &mut Tally, pilot: &Pilot) -> Result<(), UpstreamFailure> {
    let mut splitter = Splitter::new(sse::DEFAULT_EVENT_LIMIT);
    let mut events = Vec::new();
    while let Some(chunk) = body.next().await {
        splitter.push(chunk?, &mut events).map_err(|_| UpstreamFailure::TooLarge)?;
        publish(&mut events, tally, pilot)?;
        if tally.has_failed() {
            // The upstream has told the callers itself what went wrong; nothing worth having follows.
            return Ok(());
        }
    }
    events.extend(splitter.finish());
    publish(&mut events, tally, pilot)?;
    match tally.ending() {
        Ending::Broken(_) => Err(UpstreamFailure::Cut),
        Ending::Complete | Ending::Unshareable(_) => Ok(()),
    }
}

fn publish(events: &mut Vec<Bytes>, tally: &mut Tally, pilot: &Pilot) -> Result<(), UpstreamFailure> {
    for event in events.drain(..) {
        tally.event(&event);
        if sse::is_done(&event) && matches!(tally.ending(), Ending::Broken(_)) {
            return Err(UpstreamFailure::Cut);
        }
        pilot.push(event);
    }
    Ok(())
}

async fn document(mut body: Body, tally: &mut Tally, pilot: &Pilot, cap: usize) -> Result<(), UpstreamFailure> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.next().await {
        whole.extend_from_slice(&chunk?);
        if whole.len() > cap {
            return Err(UpstreamFailure::TooLarge);
        }
    }
    tally.whole(&whole);
    pilot.push(whole.freeze());
    Ok(())
}
