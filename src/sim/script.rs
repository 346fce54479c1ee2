//! One answer as a list of steps in time: what is sent when, and where it breaks.
//!
//! A fault is not a special case of the server but a change of the script: a cut stream is the same list,
//! shorter, with another last step. So whatever breaks, breaks after real bytes.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;

use super::wire::{self, Reply};
use super::{Ask, Fault, SimConfig, Surface, Tag};

/// One thing to do.
#[derive(Debug)]
pub(super) enum Step {
    /// Wait until so much time has passed since the slot was taken.
    Until(Duration),
    /// Wait while inferences are held at this token; `None` at any.
    Pass(Option<u32>),
    /// Hand over bytes that carry so many output tokens.
    Send(Bytes, u32),
    /// Wait for ever.
    Hang,
    /// End the connection.
    Break(Break),
}

/// How a connection ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// Closed.
    Close,
    /// Reset.
    Reset,
}

/// What happens before the response head, the head, and what happens after it.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) before_head: Vec<Step>,
    pub(super) status: StatusCode,
    pub(super) content_type: &'static str,
    pub(super) retry_after: Option<u32>,
    /// Length of a document as it was meant to be, in bytes; a stream does not know its own.
    pub(super) length: Option<usize>,
    pub(super) body: VecDeque<Step>,
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";

// === impl Script ===

impl Script {
    /// An error that costs no inference.
    pub(super) fn error(status: StatusCode, message: &str, retry_after: Option<u32>) -> Self {
        let body = wire::bytes_of(&wire::error(status.as_u16(), message));
        Self { status, retry_after, before_head: Vec::new(), ..Self::document(Duration::ZERO, body, 0) }
    }

    /// The answer to `ask`, told by `fault` how to fail.
    pub(super) fn answer(config: &SimConfig, ask: &Ask, call: u64, fault: Option<Fault>) -> Self {
        let start = config.overhead
            + config.prefill * ask.prompt_tokens()
            + if let Some(Fault::Delay(more)) = fault { more } else { Duration::ZERO };
        let script = match (ask.surface, fault) {
            (_, Some(Fault::ErrorIn200)) => Self::error_in_200(ask, start),
            (Surface::Embeddings, _) => Self::document(start, wire::embeddings(ask, call, config.dimensions), 0),
            _ => Self::text(config, ask, call, fault, start),
        };
        script.broken_by(fault)
    }

    fn text(config: &SimConfig, ask: &Ask, call: u64, fault: Option<Fault>, start: Duration) -> Self {
        let prompt = ask.digest();
        let wanted = chosen_length(config, prompt.0);
        let cap = ask.max_tokens.map_or(wanted, |cap| cap.max(1));
        let finish = if cap < wanted { "length" } else { "stop" };
        let mut reply = Reply::new(ask, Tag { prompt, call }, wanted.min(cap), finish);
        match fault {
            Some(Fault::NoFinish) => reply.finish = None,
            Some(Fault::FinishLength) => reply.finish = Some("length"),
            Some(Fault::FinishFilter) => reply.finish = Some("content_filter"),
            Some(Fault::Empty) => reply.choices.iter_mut().for_each(Vec::clear),
            _ => {}
        }
        if ask.stream {
            Self::stream(config, ask, &reply, start)
        } else {
            // The choices of one call are written at the same time, so they cost the time of one.
            let length = u32::try_from(reply.choices[0].len()).unwrap_or(u32::MAX);
            Self::document(start + config.decode * length, reply.document(), reply.output_tokens())
        }
    }

    fn document(at: Duration, document: Bytes, tokens: u32) -> Self {
        Self {
            before_head: vec![Step::Pass(None), Step::Until(at)],
            status: StatusCode::OK,
            content_type: JSON,
            retry_after: None,
            length: Some(document.len()),
            body: VecDeque::from([Step::Send(document, tokens)]),
        }
    }

    fn stream(config: &SimConfig, ask: &Ask, reply: &Reply<'_>, start: Duration) -> Self {
        let mut body = VecDeque::from([Step::Until(start)]);
        let choices = 0..reply.choices.len();
        body.extend(choices.clone().filter_map(|choice| reply.role_chunk(choice)).map(|chunk| Step::Send(chunk, 0)));
        let mut at = start;
        let mut sent = 0;
        for position in 0..reply.choices[0].len() {
            at += config.decode;
            body.push_back(Step::Until(at));
            for (choice, tokens) in reply.choices.iter().enumerate() {
                body.push_back(Step::Send(reply.token_chunk(choice, &tokens[position]), 1));
            }
            sent += 1;
            body.push_back(Step::Pass(Some(sent)));
        }
        body.extend(choices.map(|choice| Step::Send(reply.finish_chunk(choice), 0)));
        if ask.include_usage {
            body.push_back(Step::Send(reply.usage_chunk(), 0));
        }
        body.push_back(Step::Send(wire::done(), 0));
        Self::events(body)
    }

    fn events(body: VecDeque<Step>) -> Self {
        let before_head = vec![Step::Pass(Some(0))];
        Self { before_head, status: StatusCode::OK, content_type: EVENTS, retry_after: None, length: None, body }
    }

    fn error_in_200(ask: &Ask, start: Duration) -> Self {
        let error = wire::error(500, "the engine failed (simulated)");
        if !ask.stream {
            return Self::document(start, wire::bytes_of(&error), 0);
        }
        let body =
            VecDeque::from([Step::Until(start), Step::Send(wire::event(&error), 0), Step::Send(wire::done(), 0)]);
        Self::events(body)
    }

    fn broken_by(mut self, fault: Option<Fault>) -> Self {
        match fault {
            Some(Fault::Hang) => self.before_head.insert(0, Step::Hang),
            Some(Fault::HangAfter(tokens)) => self.end_after(tokens, || Step::Hang),
            Some(Fault::CutAfter(tokens)) => self.end_after(tokens, || Step::Break(Break::Close)),
            Some(Fault::ResetAfter(tokens)) => self.end_after(tokens, || Step::Break(Break::Reset)),
            Some(Fault::SlowBytes(gap)) => self.slow_down(gap),
            _ => {}
        }
        self
    }

    /// Ends the body after so many tokens; a document is cut in its middle.
    fn end_after(&mut self, tokens: u32, last: impl FnOnce() -> Step) {
        let mut sent = 0;
        let mut kept = VecDeque::new();
        for step in self.body.drain(..) {
            match step {
                Step::Send(document, all) if self.content_type == JSON => {
                    kept.push_back(Step::Send(document.slice(..document.len() / 2), all / 2));
                    break;
                }
                Step::Send(_, 1) if sent == tokens => break,
                Step::Send(bytes, of) => {
                    sent += of;
                    kept.push_back(Step::Send(bytes, of));
                }
                other => kept.push_back(other),
            }
        }
        kept.push_back(last());
        self.body = kept;
    }

    fn slow_down(&mut self, gap: Duration) {
        let mut at = Duration::ZERO;
        let mut slow = VecDeque::new();
        for step in self.before_head.iter().chain(&self.body) {
            if let Step::Until(time) = step {
                at = at.max(*time);
            }
        }
        for step in self.body.drain(..) {
            match step {
                Step::Send(bytes, tokens) => {
                    for byte in 0..bytes.len() {
                        at += gap;
                        slow.push_back(Step::Until(at));
                        slow.push_back(Step::Send(bytes.slice(byte..=byte), if byte == 0 { tokens } else { 0 }));
                    }
                }
                other => slow.push_back(other),
            }
        }
        self.body = slow;
    }
}

fn chosen_length(config: &SimConfig, digest: u64) -> u32 {
    let (least, most) = (*config.output_tokens.start(), *config.output_tokens.end());
    let span = u64::from(most.saturating_sub(least)) + 1;
    least.max(1) + u32::try_from(digest % span).unwrap_or(0)
}
