//! The key of the canonical tier: what remains of a question once manners are gone.
//!
//! A sequence, never a bag. What it drops cannot change an answer: labelled request ids, greetings, `please` and
//! `thanks` where they are manners and not content, marks at the end of a sentence that asks or orders anyway.
//! It never drops 吗, negation, digits or pronouns, nor a mark beside a digit, and it leaves the text that is to
//! be translated or corrected wholly alone. Idempotent: the form of a form is itself.

use std::borrow::Cow;
use std::fmt;

use super::case::{self, Place};
use super::polite::{self, Ends};
use super::token::{Kind, Token, tokenise};
use super::{Lexicon, noise, normalise, tables, wording};

/// A longer text is its own form: manners do not matter beside so much content, and the work stays bounded. Bytes.
pub(crate) const LONGEST: usize = 16 * 1024;
/// Words with which no question ends.
const AWAITING: [&str; 18] = [
    "a", "an", "and", "are", "between", "by", "called", "do", "does", "for", "is", "of", "or", "the", "to", "use",
    "with", "write",
];
/// Taking one thing away can uncover another; a text that takes more rounds than this is not prose.
const ROUNDS: usize = 6;

/// A question as the sequence of its words, once width, foldable case, foldable punctuation, politeness
/// and labelled request ids are gone. Equal forms are the same question.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalForm(Box<str>);

// === impl CanonicalForm ===

impl CanonicalForm {
    /// The form of a normalised text.
    #[must_use]
    pub fn of(lexicon: &Lexicon, normal: &str) -> Self {
        if normal.len() > LONGEST {
            return Self(normal.into());
        }
        // An id in brackets must not make a literal text of plain prose.
        let prose = noise::strip(normal);
        if wording::is_literal(prose) {
            return Self(normal.into());
        }
        let normal = &*normalise(lexicon, prose);
        let mut current = Cow::Borrowed(normal);
        for _ in 0..ROUNDS {
            let next = once(lexicon, &current);
            if next == current {
                return Self(current.into());
            }
            current = Cow::Owned(next);
        }
        Self(normal.into())
    }

    /// Whether only an equal text is the same: this one is too long to be taken apart, asks about its own
    /// writing, or sets two things side by side.
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.0.len() > LONGEST || wording::is_literal(&self.0) || wording::compares(&self.0)
    }

    /// The form as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CanonicalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

fn once(lexicon: &Lexicon, text: &str) -> String {
    let text = noise::strip(text);
    let tokens = tokenise(lexicon, text);
    let kept = polite::strip(&tokens);
    let opened = kept.len() < tokens.len() && kept.first() != tokens.first();
    let tokens = strip_end(kept, opened);
    join(&fold_case(lexicon, text, tokens))
}

/// Marks that end a sentence, or mean nothing at the edge of a text.
fn ends_sentence(token: &Token<'_>) -> bool {
    let marks = token.text.trim_matches(['.', '。', '!', ',', ';', '…', '~', '?']);
    token.kind == Kind::Mark && marks.is_empty()
}

/// Without the marks at the end and, where an opening has been taken away, those that it left at the beginning.
fn strip_end<'t, 'a>(tokens: &'t [Token<'a>], opened: bool) -> &'t [Token<'a>] {
    if Ends::of(tokens) == Ends::AreContent {
        return tokens;
    }
    let asks_anyway = polite::asks_anyway(tokens);
    let mut kept = tokens;
    if asks_about_mark(tokens) {
        return tokens;
    }
    while let Some((last, rest)) = kept.split_last() {
        let factorial = last.text.starts_with('!') && rest.last().is_some_and(is_factor);
        let may_go = ends_sentence(last) && !factorial && (last.text != "?" || asks_anyway);
        if rest.is_empty() || !(may_go || last.kind == Kind::Break) {
            break;
        }
        kept = rest;
    }
    while let [first, rest @ ..] = kept
        && opened
        && ends_sentence(first)
        && !rest.is_empty()
    {
        kept = rest;
    }
    kept
}

/// Whether marks that stand alone at the end are what the text asks about: `explain git add .`, `the meaning of ?`
fn asks_about_mark(tokens: &[Token<'_>]) -> bool {
    let end = tokens.iter().rposition(|token| token.kind != Kind::Mark).map_or(0, |at| at + 1);
    let (text, marks) = tokens.split_at(end);
    let alone = marks.first().is_some_and(|mark| mark.spaced);
    let awaits = |word: &Token<'_>| AWAITING.contains(&&*word.text.to_ascii_lowercase());
    // Some put a blank before the question mark.
    let closes = |mark: &Token<'_>| matches!(&*mark.text, "?" | "。");
    let by_habit =
        marks.first().is_some_and(closes) && (marks.len() == 1 || text.last().is_some_and(|t| t.kind == Kind::Han));
    alone && (!by_habit || text.last().is_some_and(awaits))
}

/// What can stand before the mark of a factorial: a number, a variable, a bracket.
fn is_factor(token: &Token<'_>) -> bool {
    let variable = token.kind == Kind::Word && token.text.len() == 1;
    token.kind == Kind::Number || variable || token.text.ends_with(')')
}

fn fold_case<'a>(lexicon: &Lexicon, text: &str, tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut folded = tokens.to_vec();
    if !text.bytes().any(|b| b.is_ascii_alphabetic()) {
        return folded;
    }
    let shouted = case::is_shouted(lexicon, text);
    let of_code =
        tokens.iter().any(|t| t.kind == Kind::Word && tables::CODE_CUES.contains(&*t.text.to_ascii_lowercase()));
    let mut before = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Word {
            before.clear();
            continue;
        }
        let begins =
            at == 0 || tokens[at - 1].kind == Kind::Break || matches!(&*tokens[at - 1].text, "." | "?" | "!" | "。");
        let after = tokens.get(at + 1).map_or("", |t| &*t.text);
        // After a number a letter may be a unit, whose case is its meaning.
        let is_unit = at > 0
            && tokens[at - 1].kind == Kind::Number
            && token.text.len() <= 3
            && !lexicon.is_common(&token.text.to_ascii_lowercase());
        if !is_unit {
            let place = Place { begins, shouted, of_code, before: &before, after };
            folded[at].text = Cow::Owned(case::fold_word(&token.text, place));
        }
        before = token.text.to_ascii_lowercase();
    }
    folded
}

/// One blank between tokens, none beside a Chinese one (unless it stood in a list).
fn join(tokens: &[Token<'_>]) -> String {
    let mut out = String::with_capacity(tokens.len() * 6);
    let mut before: Option<&Token<'_>> = None;
    let mut last_mark = None;
    for token in tokens {
        // Twice the same mark behind a word says it once; standing alone it may be the thing spoken of.
        if token.kind == Kind::Mark && matches!(&*token.text, "!" | "?" | "," | ".") && last_mark == Some(&*token.text)
        {
            continue;
        }
        let stands_alone = before.is_none_or(|before| token.spaced && before.kind != Kind::Han);
        last_mark = (token.kind == Kind::Mark && !stands_alone).then_some(&*token.text);
        if let Some(before) = before {
            let han = (before.kind == Kind::Han, token.kind == Kind::Han);
            let close = match han {
                (true, true) => !token.spaced,
                (false, false) => token.kind == Kind::Break || before.kind == Kind::Break,
                _ => true,
            };
            if !close {
                out.push(' ');
            }
        }
        out.push_str(if token.text == "。" { "." } else { &token.text });
        before = Some(token);
    }
    out
}

#[cfg(test)]
mod tests;
