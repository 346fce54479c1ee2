//! The label values that are the meter's own. The others are the words of `domain`.

/// A step of a call's way; label of `weir_stage_seconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Body read and understood.
    Decode,
    /// Lookup by fingerprint.
    Exact,
    /// Text prepared for the other tiers.
    Features,
    /// Lookup by canonical form.
    Canonical,
    /// Lookup by TF-IDF.
    Lexical,
    /// The sentence embedding.
    Embed,
    /// Lookup by embedding.
    Semantic,
    /// Joining or opening a flight.
    Join,
    /// Waiting for the GPU bucket.
    Admission,
    /// Upstream, from the request to its response head.
    FirstByte,
    /// Upstream, from the request to the end of its response.
    Upstream,
    /// Storing the answer.
    Store,
    /// Writing the reply.
    Encode,
}

/// Label of `weir_tokens_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Read and written by the upstream.
    Upstream,
    /// What the shared answers would have cost.
    Saved,
}

/// Where the embedding model stands; label of `weir_embed_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmbedState {
    /// The semantic tier is switched off.
    Off,
    /// The model is being loaded and tested.
    Loading,
    /// The model answers.
    Ready,
    /// The model could not be loaded or failed its test.
    Failed,
}

/// How a reload of the configuration ended; label of `weir_config_reloads_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reload {
    /// In force.
    Applied,
    /// Bad: the old configuration stays.
    Refused,
}

/// Something that is held for a while and counted meanwhile by a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holding {
    /// A call, from its head to the end of its reply: `weir_calls_in_flight`.
    Call,
    /// A flight with the upstream: `weir_flights_running`.
    Flight,
    /// A caller that waits for a flight: `weir_waiters`.
    Waiter,
    /// A flight that waits for the GPU bucket: `weir_admission_queue`.
    Admission,
    /// A text that waits for its embedding: `weir_embed_queue`.
    Embedding,
}

// === labels ===

impl Stage {
    /// All stages, in the order of a call's way.
    pub const ALL: [Self; 13] = [
        Self::Decode,
        Self::Exact,
        Self::Features,
        Self::Canonical,
        Self::Lexical,
        Self::Embed,
        Self::Semantic,
        Self::Join,
        Self::Admission,
        Self::FirstByte,
        Self::Upstream,
        Self::Store,
        Self::Encode,
    ];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Exact => "exact",
            Self::Features => "features",
            Self::Canonical => "canonical",
            Self::Lexical => "lexical",
            Self::Embed => "embed",
            Self::Semantic => "semantic",
            Self::Join => "join",
            Self::Admission => "admission",
            Self::FirstByte => "first_byte",
            Self::Upstream => "upstream",
            Self::Store => "store",
            Self::Encode => "encode",
        }
    }
}

impl TokenKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Upstream, Self::Saved];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Saved => "saved",
        }
    }
}

impl EmbedState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Off, Self::Loading, Self::Ready, Self::Failed];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Loading => "loading",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }
}

impl Reload {
    /// All outcomes.
    pub const ALL: [Self; 2] = [Self::Applied, Self::Refused];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Refused => "refused",
        }
    }
}
