//! A connection whose peer must keep reading.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Fails a write that finds no room in the peer's buffers for longer than a given time. Without it a peer
/// that stops reading holds its connection, its reply and its slot for as long as it likes.
pub(super) struct StallGuard<T> {
    stream: T,
    patience: Duration,
    blocked: Option<Pin<Box<Sleep>>>,
}

// === impl StallGuard ===

impl<T> StallGuard<T> {
    pub(super) fn new(stream: T, patience: Duration) -> Self {
        Self { stream, patience, blocked: None }
    }

    /// Passes progress on; counts the time in which there is none.
    fn watch<R>(&mut self, polled: Poll<io::Result<R>>, cx: &mut Context<'_>) -> Poll<io::Result<R>> {
        if polled.is_ready() {
            self.blocked = None;
            return polled;
        }
        let patience = self.patience;
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(blocked.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for StallGuard<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for StallGuard<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(polled, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.watch(polled, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(polled, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.watch(polled, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_stops_reading_fails_the_write() {
        let (ours, _theirs) = duplex(16);
        let mut guarded = StallGuard::new(ours, PATIENCE);
        let began = Instant::now();
        let error = guarded.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_slowly_but_steadily_is_served() {
        let (ours, mut theirs) = duplex(16);
        let mut guarded = StallGuard::new(ours, PATIENCE);
        let reading = async {
            let mut buffer = [0; 16];
            for _ in 0..4 {
                tokio::time::sleep(PATIENCE * 3 / 4).await;
                theirs.read_exact(&mut buffer).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(guarded.write_all(&[0; 64]), reading);
        assert!(written.is_ok());
    }
}
