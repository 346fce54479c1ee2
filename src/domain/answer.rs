//! What comes back from upstream.

use std::ops::AddAssign;

use bytes::Bytes;

/// One header as it travels: the name in lower case, the value as bytes.
pub type HeaderLine = (String, Bytes);

/// Status and end-to-end headers of an upstream response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// HTTP status.
    pub status: u16,
    /// End-to-end headers only; hop-by-hop ones and `content-length` are gone.
    pub headers: Vec<HeaderLine>,
    /// The shape of the body that follows.
    pub form: Form,
}

/// The shape of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One document; its parts are chunks of it.
    Whole,
    /// Server-sent events; each part is one event with its closing blank line.
    Stream,
}

/// Tokens of one inference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub prompt: u64,
    /// Tokens written.
    pub completion: u64,
}

/// A complete upstream response, able to be replayed in either form.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status and headers.
    pub head: Head,
    /// The body as it came: events for [`Form::Stream`], one part for [`Form::Whole`].
    pub parts: Vec<Bytes>,
    /// What the inference cost.
    pub usage: Usage,
}

// === impl Head ===

impl Head {
    /// Whether the status says success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of that (lower-case) name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_ref())
    }
}

// === impl Usage ===

impl Usage {
    /// Tokens read and written.
    #[must_use]
    pub fn total(self) -> u64 {
        self.prompt + self.completion
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
    }
}

// === impl Answer ===

impl Answer {
    /// Bytes held by the body.
    #[must_use]
    pub fn body_len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// An estimate of the memory that keeping this answer takes, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        let headers: usize = self.head.headers.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
        self.body_len() + self.parts.len() * size_of::<Bytes>() + headers + size_of::<Self>()
    }
}
