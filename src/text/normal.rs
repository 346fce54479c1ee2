//! The key of the exact tier: a text without its accidents.
//!
//! Equal normalised texts share an answer with no further question, so only what can never carry meaning is
//! folded: canonical composition, full width, runs of white space, invisible characters beside Chinese,
//! and the capital of a plain word that begins a sentence. Code and quotations are left alone, and so is the
//! indentation of lines. Idempotent.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::chars::{fold_width, is_han, is_invisible};
use super::parts::{self, Part};
use super::{Lexicon, case, wording};

/// Folding one thing can uncover another; texts that take more rounds than this are not prose.
const ROUNDS: usize = 4;

/// The normalised text.
#[must_use]
pub fn normalise(lexicon: &Lexicon, text: &str) -> String {
    let inner = text.trim();
    if wording::is_literal(inner) {
        // Before the first of several lines, blanks are its indentation.
        return if inner.contains('\n') { text.to_owned() } else { inner.to_owned() };
    }
    // What is not laid out has one break at most, and that is a blank.
    let text = &*inner.replace(['\n', '\t'], " ");
    let mut current = once(lexicon, text);
    for _ in 0..ROUNDS {
        let next = once(lexicon, &current);
        if next == current {
            return current;
        }
        current = next;
    }
    text.to_owned()
}

fn once(lexicon: &Lexicon, text: &str) -> String {
    let text = text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c));
    let mut out = String::with_capacity(text.len());
    for part in parts::split(text) {
        match part {
            Part::Plain(prose) => push_prose(&mut out, prose),
            Part::Code(kept) | Part::Quote(kept) => out.push_str(kept),
        }
    }
    case::fold_sentences(lexicon, out)
}

fn push_prose(out: &mut String, prose: &str) {
    let mut characters: Vec<char> = if is_nfc_quick(prose.chars()) == IsNormalized::Yes {
        prose.chars().map(fold_width).collect()
    } else {
        prose.nfc().map(fold_width).collect()
    };
    drop_invisible(&mut characters);
    let mut at = 0;
    while at < characters.len() {
        if characters[at].is_whitespace() {
            let end = at + characters[at..].iter().take_while(|c| c.is_whitespace()).count();
            push_blank(out, &characters[at..end]);
            at = end;
        } else {
            out.push(characters[at]);
            at += 1;
        }
    }
}

/// Between Chinese characters, and beside anything but the letters of other scripts, they are noise.
fn drop_invisible(characters: &mut Vec<char>) {
    if !characters.iter().any(|c| is_invisible(*c)) {
        return;
    }
    let spelled = |c: char| c.is_alphanumeric() && !is_han(c);
    let visible_before = characters.iter().scan(false, |last, c| {
        let before = *last;
        if !is_invisible(*c) {
            *last = spelled(*c);
        }
        Some(before)
    });
    let mut noise: Vec<bool> = visible_before.collect();
    let mut spelled_after = false;
    for (c, noise) in characters.iter().zip(&mut noise).rev() {
        if is_invisible(*c) {
            *noise = !(*noise && spelled_after);
        } else {
            spelled_after = spelled(*c);
            *noise = false;
        }
    }
    let mut noise = noise.into_iter();
    characters.retain(|_| !noise.next().unwrap_or(false));
}

/// One space, or one line break with the indentation that follows it: that may be the meaning of code which
/// nobody fenced.
fn push_blank(out: &mut String, blank: &[char]) {
    let Some(line_break) = blank.iter().rposition(|c| *c == '\n') else {
        if !out.ends_with(' ') {
            out.push(' ');
        }
        return;
    };
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
    let indent = &blank[line_break + 1..];
    out.extend(indent.iter().map(|c| if *c == '\r' { ' ' } else { *c }));
}

#[cfg(test)]
mod tests;
