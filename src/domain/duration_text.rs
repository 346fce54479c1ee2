//! Durations as people write them: "50ms", "5s", "1m30s", "2h".
//!
//! For `#[serde(with = "crate::domain::duration_text")]` on a `Duration`. A bare number is refused, because
//! nobody can tell seconds from milliseconds in it. What is printed reads back as the same duration, down
//! to the nanosecond.

use std::fmt::{self, Write};
use std::time::Duration;

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

const EXPECTED: &str = r#"a duration such as "50ms", "5s", "1m30s" or "2h""#;

/// Units by size, largest first, in nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationTextError {
    /// Nothing in it.
    #[error("an empty duration; expected {EXPECTED}")]
    Empty,
    /// A number without a unit.
    #[error("{0:?} has no unit; expected {EXPECTED}")]
    NoUnit(String),
    /// A unit without a whole number before it.
    #[error("{0:?} is not a duration; expected {EXPECTED}")]
    NoNumber(String),
    /// A unit that does not exist.
    #[error("{unit:?} is not a unit of time (d, h, m, s, ms, us, ns)")]
    UnknownUnit {
        /// What stood there.
        unit: String,
    },
    /// "30s1m" or "1s1s".
    #[error("the units of {0:?} do not go from large to small, each once")]
    Disorder(String),
    /// More than 584 years.
    #[error("{0:?} is too long")]
    TooLong(String),
}

/// Reads a duration. Units go from large to small, each at most once; zero is "0s" or plain "0".
pub fn parse(text: &str) -> Result<Duration, DurationTextError> {
    let trimmed = text.trim();
    match trimmed {
        "" => return Err(DurationTextError::Empty),
        "0" => return Ok(Duration::ZERO),
        _ => {}
    }
    let mut rest = trimmed;
    let mut total: u64 = 0;
    let mut next_unit = 0;
    while !rest.is_empty() {
        let (number, unit, tail) = first_part(rest);
        rest = tail;
        let Ok(number) = number.parse::<u64>() else {
            let error = if number.is_empty() { DurationTextError::NoNumber } else { DurationTextError::TooLong };
            return Err(error(trimmed.to_owned()));
        };
        if unit.is_empty() {
            return Err(DurationTextError::NoUnit(trimmed.to_owned()));
        }
        let Some(at) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(DurationTextError::UnknownUnit { unit: unit.to_owned() });
        };
        if at < next_unit {
            return Err(DurationTextError::Disorder(trimmed.to_owned()));
        }
        next_unit = at + 1;
        total = number
            .checked_mul(UNITS[at].1)
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| DurationTextError::TooLong(trimmed.to_owned()))?;
    }
    Ok(Duration::from_nanos(total))
}

/// Splits "1m30s" into "1", "m" and "30s".
fn first_part(text: &str) -> (&str, &str, &str) {
    let number_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, tail) = text.split_at(number_end);
    let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
    let (unit, tail) = tail.split_at(unit_end);
    (number, unit.trim(), tail)
}

/// Writes a duration in the largest units that fit; [`parse`] reads it back unchanged.
#[must_use]
pub fn format(duration: Duration) -> String {
    if duration.is_zero() {
        return "0s".to_owned();
    }
    let mut left = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (name, size) in UNITS {
        let count = left / size;
        if count > 0 {
            let _ = write!(text, "{count}{name}");
            left %= size;
        }
    }
    text
}

/// For serde: writes the text form.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*duration))
}

/// For serde: reads the text form; any other type is an error that says what was expected.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = Duration;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(EXPECTED)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
            parse(text).map_err(E::custom)
        }
    }
    deserializer.deserialize_str(Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, expected) in [
            ("50ms", Duration::from_millis(50)),
            ("5s", Duration::from_secs(5)),
            ("1m30s", Duration::from_secs(90)),
            ("2h", Duration::from_hours(2)),
            ("1d 2h", Duration::from_hours(26)),
            ("250us", Duration::from_micros(250)),
            ("0s", Duration::ZERO),
            ("0", Duration::ZERO),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "empty"),
            ("60", "no unit"),
            ("s", "not a duration"),
            ("-5s", "not a duration"),
            ("1.5s", "not a unit"),
            ("5 minutes", "not a unit"),
            ("30s1m", "large to small"),
            ("1s1s", "large to small"),
            ("99999999999999999999s", "too long"),
            ("99999999d", "too long"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }

    #[test]
    fn what_is_printed_reads_back_unchanged() {
        for nanos in [0, 1, 999, 50_000_000, 90_000_000_000, 93_784_005_006_007, u64::MAX] {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(parse(&format(duration)), Ok(duration));
        }
        assert_eq!(format(Duration::from_secs(90)), "1m30s");
    }
}
