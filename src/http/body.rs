//! Request bodies: complete, within their size, and not too slow.

use std::time::Duration;

use axum::body::{Body, Bytes};
use bytes::BytesMut;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use super::Config;
use crate::domain::Refusal;

/// What a slow but honest line is taken to carry: each so many bytes earn one second more.
const BYTES_PER_SECOND: usize = 16 << 10;

/// Reads a whole body. A body announced as too large is refused before a byte of it is read; one that
/// trickles is given up after `body_timeout` plus one second for every 16 KiB that came, so that a byte now
/// and then does not hold a connection for ever.
pub(super) async fn read(mut body: Body, config: &Config) -> Result<Bytes, Refusal> {
    let too_large = Refusal::BodyTooLarge { limit: config.max_body };
    if body.size_hint().lower() > config.max_body as u64 {
        return Err(too_large);
    }
    let began = Instant::now();
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    loop {
        let earned = Duration::from_secs(((first.len() + rest.len()) / BYTES_PER_SECOND) as u64);
        let frame = timeout_at(began + config.body_timeout + earned, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Refusal::BodyTooSlow)? else { break };
        let Ok(chunk) = frame.map_err(|_| incomplete())?.into_data() else { continue };
        if first.len() + rest.len() + chunk.len() > config.max_body {
            return Err(too_large);
        }
        if first.is_empty() && rest.is_empty() {
            first = chunk;
        } else {
            rest.extend_from_slice(&std::mem::take(&mut first));
            rest.extend_from_slice(&chunk);
        }
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}

fn incomplete() -> Refusal {
    Refusal::Invalid { field: None, message: "the request body ended early or its framing is broken".to_owned() }
}
