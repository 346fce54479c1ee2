//! How large and how fast the simulated server is.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Size and speed. Service time = `overhead` + prompt tokens x `prefill` + output tokens x `decode`.
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The names that `/v1/models` lists. A call may name any model: the simulator answers for all.
    pub models: Vec<String>,
    /// Inferences that run at once; the others wait in the order of their arrival. At least 1.
    pub slots: usize,
    /// Time that an inference takes whatever its length.
    pub overhead: Duration,
    /// Time to read one prompt token.
    pub prefill: Duration,
    /// Time to write one output token.
    pub decode: Duration,
    /// Length of an answer in tokens, chosen in this range by the prompt's digest, then cut by `max_tokens`.
    pub output_tokens: RangeInclusive<u32>,
    /// Tokens that fit into the KV cache, for the load metrics only: it never evicts.
    pub kv_tokens: u64,
    /// Length of an embedding.
    pub dimensions: usize,
    /// How many raw requests are kept for [`super::SimHandle::recorded`].
    pub keep: usize,
    /// The only bearer credential that is let in, if there is one.
    pub api_key: Option<String>,
}

// === impl SimConfig ===

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            models: vec!["sim-model".to_owned()],
            slots: 16,
            overhead: Duration::from_millis(5),
            prefill: Duration::from_micros(200),
            decode: Duration::from_millis(4),
            output_tokens: 16..=64,
            kv_tokens: 16_384,
            dimensions: 64,
            keep: 1_000,
            api_key: None,
        }
    }
}

impl SimConfig {
    /// A server that answers at once with short answers: for tests in which its time does not matter.
    #[must_use]
    pub fn instant() -> Self {
        Self::taking(Duration::ZERO)
    }

    /// A server whose every inference takes exactly this long, and whose slots do not run out.
    #[must_use]
    pub fn taking(time: Duration) -> Self {
        Self {
            slots: 10_000,
            overhead: time,
            prefill: Duration::ZERO,
            decode: Duration::ZERO,
            output_tokens: 8..=12,
            ..Self::default()
        }
    }
}
