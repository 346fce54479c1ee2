//! The body of a reply. It owns the account of its call, so the account is closed when the last byte is
//! handed over, and says "client closed" if the body is dropped before.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http_body::{Body, Frame, SizeHint};

use crate::domain::{Outcome, Refusal};
use crate::gateway::Record;
use crate::http::Underway;
use crate::http::render::{self, Lang};

/// What is kept until the reply has ended.
pub(super) struct Account {
    record: Record,
    outcome: Outcome,
    _underway: Underway,
}

/// A reply on its way to the caller.
pub(super) struct ReplyBody {
    content: Content,
    account: Option<Account>,
}

enum Content {
    /// Complete.
    Ready(VecDeque<Bytes>),
    /// Still coming; an error ends it as an event in the caller's language.
    Live(BoxStream<'static, Result<Bytes, Refusal>>, Lang),
}

// === impl Account ===

impl Account {
    pub(super) fn new(record: Record, outcome: Outcome, underway: Underway) -> Self {
        Self { record, outcome, _underway: underway }
    }
}

// === impl ReplyBody ===

impl ReplyBody {
    pub(super) fn ready(parts: Vec<Bytes>, account: Account) -> Self {
        let mut body = Self { content: Content::Ready(parts.into()), account: Some(account) };
        if body.is_end_stream() {
            body.close(None);
        }
        body
    }

    pub(super) fn live(events: BoxStream<'static, Result<Bytes, Refusal>>, account: Account, lang: Lang) -> Self {
        Self { content: Content::Live(events, lang), account: Some(account) }
    }

    fn close(&mut self, failed: Option<Outcome>) {
        if let Some(account) = self.account.take() {
            account.record.finish(failed.unwrap_or(account.outcome));
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.account.is_none() {
            return Poll::Ready(None);
        }
        let part = match &mut self.content {
            Content::Ready(parts) => parts.pop_front(),
            Content::Live(events, lang) => match std::task::ready!(events.poll_next_unpin(cx)) {
                Some(Ok(event)) => Some(event),
                Some(Err(refusal)) => {
                    let event = render::error_event(&refusal, *lang);
                    self.close(Some(refusal.outcome()));
                    Some(event)
                }
                None => None,
            },
        };
        if part.is_none() || self.is_end_stream() {
            self.close(None);
        }
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Ready(parts) => parts.iter().all(Bytes::is_empty),
            Content::Live(..) => self.account.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Ready(parts) => SizeHint::with_exact(parts.iter().map(|part| part.len() as u64).sum()),
            Content::Live(..) => SizeHint::new(),
        }
    }
}
