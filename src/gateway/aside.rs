//! CPU work that would hold up a worker.
//!
//! More than about half a millisecond on a worker delays every stream that it serves. Such work steps aside:
//! the worker hands its other tasks to a fresh thread first. A single-threaded runtime (tests on a paused clock)
//! has nobody to hand them to and just does the work.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Text of so many bytes is normalised or segmented within half a millisecond.
pub const LONG_TEXT: usize = 1536;
/// A body of so many bytes is parsed and hashed within half a millisecond.
pub const LONG_BODY: usize = 128 * 1024;

/// Does `work`, aside if it is `heavy`.
pub fn aside_if<T>(heavy: bool, work: impl FnOnce() -> T) -> T {
    let has_other_threads = || Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if heavy && has_other_threads() { block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn heavy_work_is_done_on_a_single_thread_too() {
        assert_eq!(aside_if(true, || 7), 7);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn heavy_work_lets_the_only_worker_go_on() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let heavy = tokio::spawn(async move { aside_if(true, move || receiver.recv()) });
        // The only worker must run this task too, or the first one would wait for ever.
        tokio::spawn(async move { sender.send(7) }).await.unwrap().unwrap();
        assert_eq!(heavy.await.unwrap(), Ok(7));
    }
}
