//! One lexicon for all tests of the crate: loading it takes a while.

use std::sync::{Arc, LazyLock};

use super::Lexicon;

static LEXICON: LazyLock<Arc<Lexicon>> = LazyLock::new(|| Arc::new(Lexicon::load()));

/// The shared lexicon.
pub(crate) fn lexicon() -> &'static Arc<Lexicon> {
    &LEXICON
}
