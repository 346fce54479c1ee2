//! Text as the matcher sees it: normalised, segmented, weighted.
//!
//! Everything here is for comparing only and never reaches the upstream. Each step folds what cannot
//! change an answer and keeps all that might: a step that is in doubt keeps.
//!
//! | step | type | folds |
//! |---|---|---|
//! | normalise | [`Fingerprint`] | width, white space, safe case |
//!
//! | canonical | [`CanonicalForm`] | punctuation between words, politeness, labelled request ids |
//! | weights | [`TermVector`], [`LexicalIndex`] | order |

mod canonical;
mod fingerprint;
mod index;
mod lexicon;

mod terms;

pub use canonical::CanonicalForm;
pub use fingerprint::Fingerprint;
pub use index::LexicalIndex;
pub use lexicon::Lexicon;

pub use terms::{TermId, TermVector};
