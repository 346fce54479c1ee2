//! The ways in which a server fails, as words.
//!
//! A fault is asked for by the request itself (`X-Sim-Fault: cut=3`) or queued for the calls to come
//! (`POST /sim/faults`). The words are the same in both.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use crate::domain::duration_text;

/// One way to fail. Token counts are deltas of a stream; an answer that is not streamed breaks at its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `500`, `503`, `429` …: an error status with an OpenAI-shaped body. 429 says `Retry-After: 1`, and
    /// `429=7` says 7.
    Status {
        /// 400 to 599.
        status: u16,
        /// `Retry-After` in seconds.
        retry_after: Option<u32>,
    },
    /// `refuse`: the connection is closed without a byte of answer.
    Refuse,
    /// `rst`: the connection is reset without a byte of answer.
    Reset,
    /// `rst-mid=N`: the connection is reset after N tokens (default 3).
    ResetAfter(u32),
    /// `hang`: no response head, ever.
    Hang,
    /// `hang-mid=N`: silence after N tokens (default 3).
    HangAfter(u32),
    /// `cut=N`: the connection closes after N tokens (default 3), without the end of the stream.
    CutAfter(u32),
    /// `no-finish`: a stream that ends with `[DONE]` but never said why; `finish_reason` is null.
    NoFinish,
    /// `finish=length`: as if `max_tokens` had cut it.
    FinishLength,
    /// `finish=content_filter`
    FinishFilter,
    /// `error-200`: status 200 with an error object in it.
    ErrorIn200,
    /// `empty`: a complete answer without a word in it.
    Empty,
    /// `slow-bytes=5ms`: every byte of the body by itself, this far apart (default 1 ms).
    SlowBytes(Duration),
    /// `delay=3s`: the inference takes this much longer.
    Delay(Duration),
}

/// The word names no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a fault; one of 400..599, refuse, rst, rst-mid=N, hang, hang-mid=N, cut=N, no-finish, finish=length, finish=content_filter, error-200, empty, slow-bytes=5ms, delay=3s"
)]
pub struct UnknownFault(pub String);

/// The faults of the calls to come.
#[derive(Debug, Default)]
pub(super) struct FaultQueue(Mutex<std::collections::VecDeque<Fault>>);

/// More queued faults than this are dropped: the queue is filled from outside.
const MOST_QUEUED: usize = 100_000;
const DEFAULT_TOKENS: u32 = 3;

// === impl Fault ===

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let unknown = || UnknownFault(text.to_owned());
        let (word, value) =
            text.trim().split_once('=').map_or((text.trim(), None), |(word, value)| (word, Some(value)));
        let tokens = || value.map_or(Ok(DEFAULT_TOKENS), |n| n.parse().map_err(|_| unknown()));
        let time = |default| value.map_or(Ok(default), |text| duration_text::parse(text).map_err(|_| unknown()));
        match (word, value) {
            ("refuse", None) => Ok(Self::Refuse),
            ("rst", None) => Ok(Self::Reset),
            ("rst-mid", _) => Ok(Self::ResetAfter(tokens()?)),
            ("hang", None) => Ok(Self::Hang),
            ("hang-mid", _) => Ok(Self::HangAfter(tokens()?)),
            ("cut", _) => Ok(Self::CutAfter(tokens()?)),
            ("no-finish", None) => Ok(Self::NoFinish),
            ("finish", Some("length")) => Ok(Self::FinishLength),
            ("finish", Some("content_filter")) => Ok(Self::FinishFilter),
            ("error-200", None) => Ok(Self::ErrorIn200),
            ("empty", None) => Ok(Self::Empty),
            ("slow-bytes", _) => Ok(Self::SlowBytes(time(Duration::from_millis(1))?)),
            ("delay", Some(_)) => Ok(Self::Delay(time(Duration::ZERO)?)),
            _ => status(word, value).ok_or_else(unknown),
        }
    }
}

fn status(word: &str, value: Option<&str>) -> Option<Fault> {
    let status = word.parse().ok().filter(|status| (400..600).contains(status))?;
    let retry_after = match value {
        Some(seconds) => Some(seconds.parse().ok()?),
        None => (status == 429).then_some(1),
    };
    Some(Fault::Status { status, retry_after })
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { status, retry_after: Some(seconds) } => write!(f, "{status}={seconds}"),
            Self::Status { status, retry_after: None } => write!(f, "{status}"),
            Self::Refuse => f.write_str("refuse"),
            Self::Reset => f.write_str("rst"),
            Self::ResetAfter(tokens) => write!(f, "rst-mid={tokens}"),
            Self::Hang => f.write_str("hang"),
            Self::HangAfter(tokens) => write!(f, "hang-mid={tokens}"),
            Self::CutAfter(tokens) => write!(f, "cut={tokens}"),
            Self::NoFinish => f.write_str("no-finish"),
            Self::FinishLength => f.write_str("finish=length"),
            Self::FinishFilter => f.write_str("finish=content_filter"),
            Self::ErrorIn200 => f.write_str("error-200"),
            Self::Empty => f.write_str("empty"),
            Self::SlowBytes(gap) => write!(f, "slow-bytes={}", duration_text::format(*gap)),
            Self::Delay(time) => write!(f, "delay={}", duration_text::format(*time)),
        }
    }
}

// === impl FaultQueue ===

impl FaultQueue {
    pub(super) fn extend(&self, faults: impl IntoIterator<Item = Fault>) {
        let mut queue = super::lock(&self.0);
        for fault in faults {
            if queue.len() < MOST_QUEUED {
                queue.push_back(fault);
            }
        }
    }

    pub(super) fn next(&self) -> Option<Fault> {
        super::lock(&self.0).pop_front()
    }

    pub(super) fn clear(&self) {
        super::lock(&self.0).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_reads_back_from_its_own_words() {
        let words = "500 503 429=7 refuse rst rst-mid=2 hang hang-mid=1 cut=30 no-finish finish=length \
                     finish=content_filter error-200 empty slow-bytes=5ms delay=3s";
        for word in words.split_whitespace() {
            assert_eq!(word.parse::<Fault>().unwrap().to_string(), word);
        }
        assert_eq!("429".parse(), Ok(Fault::Status { status: 429, retry_after: Some(1) }));
        assert_eq!("cut".parse(), Ok(Fault::CutAfter(3)));
    }

    #[test]
    fn other_words_are_refused() {
        for word in ["", "200", "600", "cut=x", "finish=stop", "delay", "delay=3", "hang=1", "429=soon"] {
            assert!(word.parse::<Fault>().is_err(), "{word}");
        }
    }
}
