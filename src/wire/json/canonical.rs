//! The form in which two JSON values that mean the same are the same text.
//!
//! Folded: white space, escapes, the order of keys, the spelling of numbers (`0` = `0.0` = `-0`,
//! `1e0` = `1`). Not folded: the order of keys inside a schema, since a constrained decoder writes
//! its answer in that order; integers of any length; strings; the order of arrays.

use super::{Json, Member};

/// Beneath these keys the order of keys is meaning, at any depth.
const ORDERED_BENEATH: [&str; 11] = [
    "response_format",
    "json_schema",
    "schema",
    "input_schema",
    "tools",
    "functions",
    "function",
    "parameters",
    "guided_json",
    "structured_outputs",
    "json",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyOrder {
    Free,
    Kept,
}

/// The canonical text of a value; equal texts mean equal values and the other way round.
#[must_use]
pub fn canonical(value: &Json<'_>) -> String {
    let mut out = String::new();
    write(value, KeyOrder::Free, &mut out);
    out
}

fn write(value: &Json<'_>, order: KeyOrder, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => write_number(number.as_str(), out),
        Json::String(text) => write_string(text, out),
        Json::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(element, order, out);
            }
            out.push(']');
        }
        Json::Object(members) => write_object(members, order, out),
    }
}

fn write_object(members: &[Member<'_>], order: KeyOrder, out: &mut String) {
    let mut members: Vec<&Member<'_>> = members.iter().collect();
    if order == KeyOrder::Free {
        members.sort_by(|a, b| a.key.cmp(&b.key));
    }
    out.push('{');
    for (index, member) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(&member.key, out);
        out.push(':');
        let kept = order == KeyOrder::Kept || ORDERED_BENEATH.contains(&member.key.as_ref());
        write(&member.value, if kept { KeyOrder::Kept } else { KeyOrder::Free }, out);
    }
    out.push('}');
}

/// Escapes only what must be escaped to keep texts apart.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for piece in text.split_inclusive(['"', '\\']) {
        match piece.strip_suffix(['"', '\\']) {
            Some(plain) => {
                out.push_str(plain);
                out.push('\\');
                out.push_str(&piece[plain.len()..]);
            }
            None => out.push_str(piece),
        }
    }
    out.push('"');
}

/// `digits` or `digits e exponent`, without needless zeros.
fn write_number(spelled: &str, out: &mut String) {
    // Most numbers are token ids, and canonical as they stand.
    if spelled.bytes().all(|byte| byte.is_ascii_digit()) && (spelled == "0" || !spelled.ends_with('0')) {
        out.push_str(spelled);
        return;
    }
    let Some(decimal) = Decimal::of(spelled) else {
        out.push_str(spelled);
        return;
    };
    if decimal.digits.is_empty() {
        out.push('0');
        return;
    }
    if decimal.negative {
        out.push('-');
    }
    out.push_str(&decimal.digits);
    if decimal.exponent != 0 {
        out.push('e');
        out.push_str(&decimal.exponent.to_string());
    }
}

/// A number that is whole, however it is spelled, if 64 bits hold it.
pub(super) fn whole(spelled: &str) -> Option<i64> {
    let decimal = Decimal::of(spelled)?;
    if decimal.digits.is_empty() {
        return Some(0);
    }
    // 64 bits hold no more than 19 digits.
    let zeros = usize::try_from(decimal.exponent).ok().filter(|zeros| *zeros < 19)?;
    let sign = if decimal.negative { "-" } else { "" };
    format!("{sign}{}{}", decimal.digits, "0".repeat(zeros)).parse().ok()
}

/// `digits` x 10^`exponent`; no zero at either end of the digits, none at all for zero.
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

// === impl Decimal ===

impl Decimal {
    /// `None` if the exponent is beyond 64 bits.
    fn of(spelled: &str) -> Option<Self> {
        let (mantissa, exponent) = spelled.split_once(['e', 'E']).unwrap_or((spelled, "0"));
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - digits.len()).ok()?;
        let exponent: i64 = exponent.parse().ok()?;
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
        Some(Self { negative, digits: digits.trim_start_matches('0').to_owned(), exponent })
    }
}
