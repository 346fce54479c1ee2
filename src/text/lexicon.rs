//! What is known about words: the segmenter's dictionary and how rare each term is. Loaded once.

use std::fmt;

use jieba_rs::Jieba;

/// The dictionary of the segmenter and the table of rarity. Immutable, shared by `Arc`.
pub struct Lexicon {
    jieba: Jieba,
}

// === impl Lexicon ===

impl Lexicon {
    /// Reads the built-in dictionary and table. Takes a few hundred milliseconds: once, at start.
    #[must_use]
    pub fn load() -> Self {
        Self { jieba: Jieba::new() }
    }

    pub(super) fn jieba(&self) -> &Jieba {
        &self.jieba
    }
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lexicon")
    }
}
