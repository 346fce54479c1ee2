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

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::time::sleep;

    use super::*;

    fn config() -> Config {
        Config { max_body: 100 << 10, ..Config::default() }
    }

    /// A body that brings a chunk of `size` bytes every `pause`, `count` times.
    fn trickle(size: usize, pause: Duration, count: usize) -> Body {
        Body::from_stream(stream::unfold(count, move |left| async move {
            let left = left.checked_sub(1)?;
            sleep(pause).await;
            Some((Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; size])), left))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_byte_now_and_then_is_too_slow() {
        let began = Instant::now();
        let outcome = read(trickle(1, Duration::from_secs(5), 1000), &config()).await;
        assert_eq!(outcome, Err(Refusal::BodyTooSlow));
        assert_eq!(began.elapsed(), config().body_timeout);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_line_that_makes_way_is_waited_for() {
        let body = read(trickle(20 << 10, Duration::from_millis(6500), 5), &config()).await.unwrap();
        assert_eq!(body.len(), 100 << 10);
    }

    #[tokio::test]
    async fn a_body_of_exactly_the_bound_passes_and_one_byte_more_does_not() {
        let config = config();
        assert!(read(Body::from(vec![0; config.max_body]), &config).await.is_ok());
        let too_large = Err(Refusal::BodyTooLarge { limit: config.max_body });
        assert_eq!(read(Body::from(vec![0; config.max_body + 1]), &config).await, too_large);
        // The same without an announced length.
        assert_eq!(read(trickle(config.max_body + 1, Duration::ZERO, 1), &config).await, too_large);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_invalid() {
        let broken = stream::iter([Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("gone"))]);
        assert!(matches!(read(Body::from_stream(broken), &config()).await, Err(Refusal::Invalid { .. })));
    }
}
