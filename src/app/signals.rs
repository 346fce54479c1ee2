//! The signals that ask a process to stop.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// One request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

/// SIGTERM and SIGINT, one item each time one comes.
pub fn signals() -> io::Result<mpsc::Receiver<Stop>> {
    let (sender, receiver) = mpsc::channel(2);
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        loop {
            // Cancel-safe, as tokio documents for `Signal::recv`.
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if sender.send(Stop).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
