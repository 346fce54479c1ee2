//! A panic hook that logs where, never what.

use std::panic;

/// Logs the place of every panic instead of its message, which may quote the text of a prompt. The place is
/// enough to find the cause. Goes through the logger, so that it is one line like every other record.
pub fn quiet_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        let thread = std::thread::current();
        tracing::error!(place, thread = thread.name().unwrap_or("unnamed"), "panicked");
    }));
}
