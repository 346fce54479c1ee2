//! What is known about words: the segmenter's dictionary and how rare each term is. Loaded once.

use std::collections::{HashMap, HashSet};
use std::fmt;

use jieba_rs::Jieba;

use super::TermId;

/// `term <tab> 100 * idf [<tab> c]`; `c` marks a word that is also written in small letters. Made by
/// `examples/prepare_idf.rs`.
const TABLE: &str = include_str!("data/idf.tsv");

/// IDF of a term that the table does not hold: ln(10000), as the founding system has it.
const UNKNOWN_IDF: f32 = 9.210_34;

/// The dictionary of the segmenter and the table of rarity. Immutable, shared by `Arc`.
pub struct Lexicon {
    jieba: Jieba,
    idf: HashMap<TermId, f32>,
    common: HashSet<&'static str>,
}

// === impl Lexicon ===

impl Lexicon {
    /// Reads the built-in dictionary and table. Takes a few hundred milliseconds: once, at start.
    #[must_use]
    pub fn load() -> Self {
        let mut lexicon = Self { jieba: Jieba::new(), idf: HashMap::new(), common: HashSet::new() };
        for line in TABLE.lines() {
            let mut fields = line.split('\t');
            let (Some(term), Some(idf)) = (fields.next(), fields.next().and_then(|idf| idf.parse::<f32>().ok())) else {
                continue;
            };
            lexicon.idf.insert(TermId::of(term), idf / 100.0);
            if fields.next().is_some() {
                lexicon.common.insert(term);
            }
        }
        lexicon
    }

    /// How rare a term is: the natural logarithm of one over the share of questions that hold it.
    #[must_use]
    pub fn idf(&self, term: TermId) -> f32 {
        self.idf.get(&term).copied().unwrap_or(UNKNOWN_IDF)
    }

    /// Whether this (lower-case) English word is a word, and not only a name.
    pub(crate) fn is_common(&self, lower: &str) -> bool {
        self.common.contains(lower)
    }

    pub(crate) fn jieba(&self) -> &Jieba {
        &self.jieba
    }
}

impl fmt::Debug for Lexicon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lexicon({} terms)", self.idf.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::text::TermId;
    use crate::text::testing::lexicon;

    #[test]
    fn rare_terms_weigh_more_than_common_ones() {
        let idf = |term: &str| lexicon().idf(TermId::of(term));
        assert!(idf("the") < idf("card") && idf("card") < idf("zeugma"));
        assert!(idf("的") < idf("银行") && idf("银行") < idf("犄角旮旯"));
    }

    #[test]
    fn an_unknown_term_weighs_the_logarithm_of_ten_thousand() {
        assert!((lexicon().idf(TermId::of("xyzzy")) - 10_000_f32.ln()).abs() < 1e-4);
    }

    #[test]
    fn the_table_stays_small() {
        assert!(super::TABLE.len() < 400_000);
    }
}
