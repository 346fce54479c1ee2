//! Splits a byte stream into server-sent events, wherever the network cut it.
//!
//! The invariant: the same bytes give the same events in every chunking, and the events joined are
//! the bytes. An event is therefore kept raw, with its comments, odd fields and closing blank line,
//! so that what passes through stays byte for byte; [`data`] looks inside only when somebody asks.
//! An event that lies within one chunk is a slice of that chunk, not a copy.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

/// The largest event accepted unless told otherwise: 16 MiB.
pub const DEFAULT_EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// One event grew beyond the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct EventTooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// Cuts chunks into events. Line ends may be LF, CRLF or CR.
#[derive(Debug)]
pub struct Splitter {
    /// The beginning of an event whose end has not arrived.
    held: BytesMut,
    line: Line,
    limit: usize,
}

/// Where in a line the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// At its first byte.
    Start,
    /// Behind its first byte.
    Inside,
    /// Behind a CR, which ends the line alone or together with an LF that may still come.
    AfterCr {
        /// The line was empty, so it closes the event.
        blank: bool,
    },
}

// === impl Splitter ===

impl Splitter {
    /// A splitter that refuses an event of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { held: BytesMut::new(), line: Line::Start, limit }
    }

    /// Takes the next chunk and appends to `events` every event that it completes.
    ///
    /// A CR at the very end waits for the next byte, since an LF would still belong to it. Behind an
    /// error the splitter is of no more use.
    pub fn push(&mut self, mut chunk: Bytes, events: &mut Vec<Bytes>) -> Result<(), EventTooLarge> {
        while let Some(end) = self.event_end(&chunk) {
            let tail = chunk.split_to(end);
            self.check(tail.len())?;
            if self.held.is_empty() {
                events.push(tail);
            } else {
                self.held.extend_from_slice(&tail);
                events.push(self.held.split().freeze());
            }
        }
        self.check(chunk.len())?;
        self.held.extend_from_slice(&chunk);
        Ok(())
    }

    /// The stream is over: the last event, if its blank line never came. It is closed here with what
    /// was missing, so that a replay may append another event. `None` if nothing was left.
    #[must_use]
    pub fn finish(mut self) -> Option<Bytes> {
        if self.held.is_empty() {
            return None;
        }
        let missing: &[u8] = match self.line {
            Line::AfterCr { blank: true } => b"",
            Line::Start => b"\n",
            // A CR and the first LF are one line end.
            Line::Inside | Line::AfterCr { blank: false } => b"\n\n",
        };
        self.held.extend_from_slice(missing);
        Some(self.held.freeze())
    }

    fn check(&self, more: usize) -> Result<(), EventTooLarge> {
        if self.held.len().saturating_add(more) > self.limit {
            Err(EventTooLarge { limit: self.limit })
        } else {
            Ok(())
        }
    }

    /// The length of what `bytes` adds to the current event up to its end; remembers the line state
    /// if the end is not in sight, so no byte is looked at twice.
    fn event_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.line {
                Line::AfterCr { blank } => {
                    self.line = Line::Start;
                    at += usize::from(byte == b'\n');
                    if blank {
                        return Some(at);
                    }
                }
                Line::Start => {
                    at += 1;
                    match byte {
                        b'\n' => return Some(at),
                        b'\r' => self.line = Line::AfterCr { blank: true },
                        _ => self.line = Line::Inside,
                    }
                }
                Line::Inside => {
                    let line_end = memchr2(b'\n', b'\r', &bytes[at..])?;
                    at += line_end + 1;
                    let is_cr = bytes[at - 1] == b'\r';
                    self.line = if is_cr { Line::AfterCr { blank: false } } else { Line::Start };
                }
            }
        }
        None
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

// === reading one event ===

/// The payload of an event: its `data` lines joined by LF, or `None` if it has none (a comment, a
/// lone `retry:`). Borrowed unless there are several lines.
#[must_use]
pub fn data(event: &[u8]) -> Option<Cow<'_, [u8]>> {
    let event = event.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(event);
    let mut values = event.split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(data_of_line);
    let first = values.next()?;
    let Some(second) = values.next() else { return Some(Cow::Borrowed(first)) };
    let mut joined = [first, b"\n", second].concat();
    for value in values {
        joined.push(b'\n');
        joined.extend_from_slice(value);
    }
    Some(Cow::Owned(joined))
}

fn data_of_line(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// Whether this is the `data: [DONE]` that ends an OpenAI stream.
#[must_use]
pub fn is_done(event: &[u8]) -> bool {
    data(event).is_some_and(|data| data.trim_ascii() == b"[DONE]")
}

/// An event around a payload that contains no line end, such as compact JSON.
#[must_use]
pub fn event(payload: &[u8]) -> Bytes {
    Bytes::from([b"data: ", payload, b"\n\n"].concat())
}

/// The event that ends an OpenAI stream.
#[must_use]
pub fn done() -> Bytes {
    Bytes::from_static(b"data: [DONE]\n\n")
}

#[cfg(test)]
mod tests;
