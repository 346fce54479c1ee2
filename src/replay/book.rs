//! Whose prompt is this? The groups of a file by the digest of their prompts.

use std::collections::HashMap;

use super::Entry;
use crate::sim::{Ask, PromptDigest, Surface};

/// Which group each prompt of a file belongs to.
#[derive(Clone, Debug, Default)]
pub struct Book {
    groups: HashMap<PromptDigest, String>,
}

/// A file in which one prompt belongs to two groups cannot tell right from wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("groups {one:?} and {other:?} ask with the very same prompt")]
pub struct SharedPrompt {
    /// The group that had it first.
    pub one: String,
    /// The other group.
    pub other: String,
}

// === impl Book ===

impl Book {
    /// Reads every prompt. Requests that carry none (other paths, broken bodies) are left out: nothing can be
    /// said of their answers.
    pub fn new(entries: &[Entry]) -> Result<Self, SharedPrompt> {
        let mut groups: HashMap<PromptDigest, String> = HashMap::new();
        for entry in entries {
            let Some(digest) = digest(entry) else { continue };
            match groups.get(&digest) {
                Some(one) if *one != entry.group => {
                    return Err(SharedPrompt { one: one.clone(), other: entry.group.clone() });
                }
                Some(_) => {}
                None => {
                    groups.insert(digest, entry.group.clone());
                }
            }
        }
        Ok(Self { groups })
    }

    /// The group of a prompt, if the file holds it.
    #[must_use]
    pub fn group(&self, prompt: PromptDigest) -> Option<&str> {
        self.groups.get(&prompt).map(String::as_str)
    }
}

fn digest(entry: &Entry) -> Option<PromptDigest> {
    let path = entry.path.split('?').next().unwrap_or_default();
    Ask::read(Surface::of(path)?, &entry.body()).ok().map(|ask| ask.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(groups: [&str; 2]) -> Vec<Entry> {
        let line = |group: &str| {
            format!(r#"{{"at_ms":0,"path":"/v1/completions","body":{{"prompt":"hi"}},"group":"{group}"}}"#)
        };
        super::super::read(groups.map(line).join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn one_prompt_in_two_groups_is_refused() {
        assert!(Book::new(&entries(["a", "a"])).is_ok());
        assert_eq!(Book::new(&entries(["a", "b"])).unwrap_err(), SharedPrompt { one: "a".into(), other: "b".into() });
    }
}
