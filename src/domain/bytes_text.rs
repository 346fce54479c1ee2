//! Sizes in bytes as people write them: "64MiB", "512KiB", "10MB", "4096B".
//!
//! For `#[serde(with = "crate::domain::bytes_text")]` on any unsigned integer. Binary and decimal units are
//! told apart; a bare number is refused for the same reason as in `duration_text`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

const EXPECTED: &str = r#"a size such as "64MiB", "512KiB" or "4096B""#;

/// Units, largest first; the binary ones first, because printing uses them.
const UNITS: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BytesTextError {
    /// No whole number in front.
    #[error("{0:?} is not a size; expected {EXPECTED}")]
    NoNumber(String),
    /// A number without a unit.
    #[error("{0:?} has no unit; expected {EXPECTED}")]
    NoUnit(String),
    /// A unit that does not exist.
    #[error("{unit:?} is not a unit of size (B, KB, MB, GB, KiB, MiB, GiB)")]
    UnknownUnit {
        /// What stood there.
        unit: String,
    },
    /// More than the field can hold.
    #[error("{0:?} is too large")]
    TooLarge(String),
}

/// Reads a size. Case of the unit does not matter; zero is "0B" or plain "0".
pub fn parse(text: &str) -> Result<u64, BytesTextError> {
    let text = text.trim();
    if text == "0" {
        return Ok(0);
    }
    let number_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    if number.is_empty() {
        return Err(BytesTextError::NoNumber(text.to_owned()));
    }
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(BytesTextError::NoUnit(text.to_owned()));
    }
    let Some((_, size)) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) else {
        return Err(BytesTextError::UnknownUnit { unit: unit.to_owned() });
    };
    let bytes = number.parse::<u64>().ok().and_then(|count| count.checked_mul(*size));
    bytes.ok_or_else(|| BytesTextError::TooLarge(text.to_owned()))
}

/// Writes a size in the largest binary unit that divides it; [`parse`] reads it back unchanged.
#[must_use]
pub fn format(bytes: u64) -> String {
    let binary = &UNITS[..3];
    match binary.iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size)) {
        Some((name, size)) => format!("{}{name}", bytes / size),
        None => format!("{bytes}B"),
    }
}

/// For serde: writes the text form.
pub fn serialize<T, S>(bytes: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Copy + TryInto<u64>,
    S: Serializer,
{
    serializer.serialize_str(&format((*bytes).try_into().unwrap_or(u64::MAX)))
}

/// For serde: reads the text form; any other type is an error that says what was expected.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<u64>,
    D: Deserializer<'de>,
{
    struct Text<T>(PhantomData<T>);
    impl<T: TryFrom<u64>> Visitor<'_> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(EXPECTED)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            let bytes = parse(text).map_err(E::custom)?;
            T::try_from(bytes).map_err(|_| E::custom(BytesTextError::TooLarge(text.to_owned())))
        }
    }
    deserializer.deserialize_str(Text(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, expected) in
            [("64MiB", 64 << 20), ("512 KiB", 512 << 10), ("10MB", 10_000_000), ("1gib", 1 << 30), ("7B", 7), ("0", 0)]
        {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "not a size"),
            ("-1MiB", "not a size"),
            ("1024", "no unit"),
            ("5 parsecs", "not a unit"),
            ("99999999999GiB", "too large"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }

    #[test]
    fn what_is_printed_reads_back_unchanged() {
        for bytes in [0, 1, 1000, 1024, 3 << 20, (64 << 20) + 1, u64::MAX] {
            assert_eq!(parse(&format(bytes)), Ok(bytes));
        }
        assert_eq!(format(64 << 20), "64MiB");
    }
}
