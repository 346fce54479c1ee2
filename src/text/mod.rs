//! Text as the matcher sees it: normalised, segmented, weighted.
//!
//! Everything here is for comparing only and never reaches the upstream. Each step folds what cannot
//! change an answer and keeps all that might: a step that is in doubt keeps.
//!
//! | step | what it makes | what it folds |
//! |---|---|---|
//! | [`normalise`] | the text of [`Fingerprint`] | width, white space, safe case |
//! | [`CanonicalForm`] | the key of the canonical tier | politeness, punctuation, labelled request ids, more case |
//! | [`tokenise`] | [`Token`]s | nothing: tells words, numbers, code and quotes apart |
//! | [`TermVector`], [`LexicalIndex`] | TF-IDF | order |

mod canonical;
mod case;
mod chars;
mod fingerprint;
mod index;
mod lexicon;
mod noise;
mod normal;
pub(crate) mod number;
mod parts;
mod polite;
mod tables;
mod terms;
#[cfg(test)]
pub(crate) mod testing;
mod token;
mod wording;

pub use canonical::CanonicalForm;
pub use fingerprint::Fingerprint;
pub use index::LexicalIndex;
pub use lexicon::Lexicon;
pub use normal::normalise;
pub use terms::{TermId, TermVector};
pub use token::{Kind, Tag, Token, tokenise};
