//! The log of a flight: what the upstream sent, append-only and capped in bytes.
//!
//! Events are numbered from 0 for ever. Up to the cap all are kept, so that a joiner can start at 0;
//! beyond it the oldest are dropped: whoever still needed them is told so, never given a silent gap.

use std::collections::VecDeque;

use bytes::Bytes;

/// What a reader finds at its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// The event there.
    Event(Bytes),
    /// Nothing yet.
    NotYet,
    /// It was dropped: the reader is too far behind.
    Dropped,
}

/// Events with their byte cap.
#[derive(Debug)]
pub(super) struct Log {
    events: VecDeque<Bytes>,
    first: usize,
    bytes: usize,
    cap: usize,
}

// === impl Log ===

impl Log {
    pub(super) fn new(cap: usize) -> Self {
        Self { events: VecDeque::new(), first: 0, bytes: 0, cap }
    }

    /// Appends an event and drops the oldest beyond the cap; the newest always stays.
    pub(super) fn push(&mut self, event: Bytes) {
        self.bytes += event.len();
        self.events.push_back(event);
        while self.bytes > self.cap && self.events.len() > 1 {
            if let Some(dropped) = self.events.pop_front() {
                self.bytes -= dropped.len();
                self.first += 1;
            }
        }
    }

    pub(super) fn read(&self, position: usize) -> Read {
        match position.checked_sub(self.first) {
            None => Read::Dropped,
            Some(offset) => self.events.get(offset).map_or(Read::NotYet, |event| Read::Event(event.clone())),
        }
    }

    /// Whether everything since the first event is still here.
    pub(super) fn is_whole(&self) -> bool {
        self.first == 0
    }

    /// All events, if none was dropped.
    pub(super) fn whole(&self) -> Option<Vec<Bytes>> {
        self.is_whole().then(|| self.events.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_beyond_its_cap_drops_the_oldest_and_says_so() {
        let mut log = Log::new(10);
        log.push(Bytes::from_static(b"123456"));
        assert!(log.is_whole());
        log.push(Bytes::from_static(b"7890ab"));
        assert_eq!(log.read(0), Read::Dropped);
        assert_eq!(log.read(1), Read::Event(Bytes::from_static(b"7890ab")));
        assert_eq!(log.read(2), Read::NotYet);
        assert!(log.whole().is_none());
    }

    #[test]
    fn one_event_larger_than_the_cap_is_still_delivered() {
        let mut log = Log::new(4);
        log.push(Bytes::from_static(b"123456"));
        assert_eq!(log.read(0), Read::Event(Bytes::from_static(b"123456")));
    }
}
