//! How the guard's word lists are written down and looked up.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words, written as one string, separated by blanks.
pub(super) type Words = LazyLock<HashSet<&'static str>>;

pub(super) fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}
