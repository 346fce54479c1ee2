//! Reads the question banks: tab-separated rows, `#` opens a comment line.

/// The rows of a bank.
pub(super) fn rows(bank: &str) -> impl Iterator<Item = Vec<&str>> {
    bank.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| line.split('\t').collect())
}
