//! One line of a replay file.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// One request and when it is sent. In the file:
/// `{"at_ms":12,"path":"/v1/chat/completions","headers":{…},"body":{…},"group":"q1"}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// When it is sent, counted from the beginning.
    #[serde(rename = "at_ms", with = "millis")]
    pub at: Duration,
    /// Path and query.
    pub path: String,
    /// Its headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Its body. A JSON document is sent byte for byte as it stands in the file; a JSON string is sent as
    /// the text that it holds, so that bodies which are no JSON can be written too.
    body: Box<RawValue>,
    /// Requests of one group may share an answer; those of different groups must not.
    pub group: String,
}

/// Why a file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read")]
    Io(#[from] io::Error),
    /// A line is not an entry.
    #[error("line {line} is not a request")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(at.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

// === impl Entry ===

impl Entry {
    /// A chat completion, at a whole millisecond.
    pub(super) fn chat(at: Duration, headers: BTreeMap<String, String>, body: &Value, group: String) -> Self {
        Self {
            at,
            path: "/v1/chat/completions".to_owned(),
            headers,
            // A `Value` is always valid JSON.
            body: RawValue::from_string(body.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned()),
            group,
        }
        .at(at)
    }

    /// The same request at another time, which is cut to the file's milliseconds.
    #[must_use]
    pub fn at(self, at: Duration) -> Self {
        Self { at: Duration::from_millis(u64::try_from(at.as_millis()).unwrap_or(u64::MAX)), ..self }
    }

    /// The bytes to send.
    #[must_use]
    pub fn body(&self) -> Bytes {
        let raw = self.body.get();
        match serde_json::from_str::<String>(raw) {
            Ok(text) => Bytes::from(text),
            Err(_) => Bytes::copy_from_slice(raw.as_bytes()),
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let key = |entry: &Self| (entry.at, entry.path.clone(), entry.headers.clone(), entry.group.clone());
        key(self) == key(other) && self.body.get() == other.body.get()
    }
}

/// Reads a file; empty lines are skipped, and the entries are put in the order of time.
pub fn read(file: impl BufRead) -> Result<Vec<Entry>, FileError> {
    let mut entries = Vec::new();
    for (number, line) in file.lines().enumerate() {
        let line = line?;
        if !line.trim().is_empty() {
            let entry = serde_json::from_str(&line).map_err(|source| FileError::Line { line: number + 1, source })?;
            entries.push(entry);
        }
    }
    entries.sort_by_key(|entry: &Entry| entry.at);
    Ok(entries)
}

/// Writes a file that [`read`] reads.
pub fn write(mut file: impl Write, entries: &[Entry]) -> io::Result<()> {
    for entry in entries {
        serde_json::to_writer(&mut file, entry)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_sent_byte_for_byte_as_it_stands_in_the_file() {
        let line = r#"{"at_ms":5,"path":"/v1/completions","body":{ "prompt" : "caf\u00e9", "x":1.0 },"group":"g"}"#;
        let entries = read(line.as_bytes()).unwrap();
        assert_eq!(entries[0].body(), r#"{ "prompt" : "caf\u00e9", "x":1.0 }"#);
        assert_eq!(entries[0].at, Duration::from_millis(5));
    }

    #[test]
    fn a_body_that_is_a_string_is_sent_as_its_text() {
        let line = r#"{"at_ms":0,"path":"/","body":"{\"broken\"","group":"g"}"#;
        assert_eq!(read(line.as_bytes()).unwrap()[0].body(), r#"{"broken""#);
    }

    #[test]
    fn a_broken_line_is_named() {
        let error = read("\n{\"at_ms\":0}\n".as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "line 2 is not a request");
    }
}
