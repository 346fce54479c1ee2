//! When is a capital only a habit of writing?
//!
//! It is where a plain word begins a sentence, and where nobody distinguishes: a text all in capitals (of which
//! only the canonical form knows enough words to judge). It is not in flags, single letters, identifiers and acronyms, nor in words that are a name with a capital and
//! another thing without (`Polish`, `Apple`, `US`), nor within a sentence in any word that might be a name (`Steam`).
//! Well-known places (`Tokyo`) fold as words do, since many people type no capitals at all.

use super::chars::{is_han, is_word};
use super::parts::{self, Part};
use super::{Lexicon, tables};

/// Words that must be there before a text counts as "all in capitals".
const SENTENCE: usize = 4;

/// Where a word stands, as far as its case depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// It begins the text or a sentence.
    pub(crate) begins: bool,
    /// The text is written all in capitals.
    pub(crate) shouted: bool,
    /// The text speaks of programming.
    pub(crate) of_code: bool,
    /// The word before it, in lower case; empty at the beginning.
    pub(crate) before: &'a str,
    /// The word after it, as written; empty at the end.
    pub(crate) after: &'a str,
}

/// Folds what is safe without knowing the other words: the capital that begins a sentence.
pub(crate) fn fold_sentences(lexicon: &Lexicon, text: String) -> String {
    if !text.bytes().any(|b| b.is_ascii_uppercase()) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for part in parts::split(&text) {
        match part {
            Part::Plain(prose) => fold_prose(lexicon, &mut out, prose),
            Part::Code(kept) | Part::Quote(kept) => out.push_str(kept),
        }
    }
    out
}

/// Whether a text of several words has no small letter, and is a sentence rather than a row of acronyms.
pub(crate) fn is_shouted(lexicon: &Lexicon, text: &str) -> bool {
    if text.chars().any(char::is_lowercase) {
        return false;
    }
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
    let (mut all, mut plain) = (0, 0);
    for word in words {
        all += 1;
        let lower = word.to_ascii_lowercase();
        plain += usize::from(lexicon.is_common(&lower) && !tables::AMBIGUOUS.contains(&*lower));
    }
    all >= SENTENCE && plain * 2 >= all
}

fn fold_prose(lexicon: &Lexicon, out: &mut String, prose: &str) {
    let mut at = 0;
    while let Some(c) = prose[at..].chars().next() {
        if !c.is_ascii_alphabetic() {
            out.push(c);
            at += c.len_utf8();
            continue;
        }
        let end = at + prose[at..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = &prose[at..end];
        if begins_sentence(out) && stands_free(out, &prose[end..]) && folds_surely(lexicon, word) {
            out.push_str(&word.to_ascii_lowercase());
        } else {
            out.push_str(word);
        }
        at = end;
    }
}

fn folds_surely(lexicon: &Lexicon, word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let titled = word.len() > 1 && word[1..] == lower[1..];
    titled && lexicon.is_common(&lower) && !tables::AMBIGUOUS.contains(&*lower)
}

fn begins_sentence(before: &str) -> bool {
    let text = before.trim_end_matches([' ', '\n']);
    text.is_empty() || (text.len() < before.len() && text.ends_with(['.', '?', '!', '。']))
}

/// Whether the word is a word of prose: not a piece of an identifier, a flag, a path or a formula.
fn stands_free(before: &str, after: &str) -> bool {
    let free_before =
        before.chars().next_back().is_none_or(|c| c.is_whitespace() || is_han(c) || "(,;:!?。，".contains(c));
    let mut following = after.chars();
    let free_after = following.next().is_none_or(|c| {
        c.is_whitespace()
            || is_han(c)
            || ");!?。，、".contains(c)
            || (",.:".contains(c) && following.next().is_none_or(|d| !is_word(d)))
            || (c == '\'' && following.next().is_some_and(|d| "stdmrlv".contains(d)))
    });
    free_before && free_after
}

/// The form in which a single word is compared, given where it stands.
pub(crate) fn fold_word(word: &str, place: Place<'_>) -> String {
    let lower = word.to_ascii_lowercase();
    if word == "i" && (place.begins || tables::BEFORE_PRONOUN.contains(place.before)) {
        return "I".to_owned();
    }
    if let Some(contracted) = lower.strip_prefix("i'") {
        return format!("I'{contracted}");
    }
    if lower == word || !word.is_ascii() {
        return word.to_owned();
    }
    if word.len() == 1 {
        return fold_letter(word, &lower, place);
    }
    let letters: Vec<u8> = word.bytes().filter(u8::is_ascii_alphabetic).collect();
    let capitals = letters.iter().filter(|b| b.is_ascii_uppercase()).count();
    let titled = capitals == 1 && word.as_bytes()[0].is_ascii_uppercase();
    let acronym = capitals == letters.len();
    let fold = if is_brand(&lower, place) {
        true
    } else if tables::AMBIGUOUS.contains(&*lower) {
        folds_by_company(&lower, acronym, place)
    } else if titled {
        place.begins || tables::PLACES.contains(&*lower)
    } else if acronym {
        place.shouted || tables::ACRONYMS.contains(&*lower) || tables::EMPHASISED.contains(&*lower)
    } else {
        tables::CAMEL.contains(&*lower)
    };
    if fold { lower } else { word.to_owned() }
}

/// `A` is an article before a small-lettered word; `I` needs no folding, `i` becomes it elsewhere.
fn fold_letter(word: &str, lower: &str, place: Place<'_>) -> String {
    let counted = place.shouted
        && place.after.starts_with(|c: char| c.is_ascii_digit())
        && matches!(place.before, "is" | "was" | "of" | "for" | "with" | "write" | "give");
    let spelled = word == "A"
        && (place.begins || place.shouted)
        && place.after.len() > 1
        && place.after.bytes().all(|b| b.is_ascii_alphabetic())
        && !matches!(
            &*place.after.to_ascii_lowercase(),
            "minor" | "major" | "flat" | "sharp" | "level" | "is" | "was" | "or" | "and" | "vs" | "to" | "if"
        );
    let article = spelled || (word == "A" && counted);
    if article { lower.to_owned() } else { word.to_owned() }
}

/// `Apple Watch`: the two words are one name however they are written.
fn is_brand(lower: &str, place: Place<'_>) -> bool {
    let after = place.after.to_ascii_lowercase();
    tables::BRAND_PAIRS.contains(&(lower, &*after)) || tables::BRAND_PAIRS.contains(&(place.before, lower))
}

/// A word with a double life is clear beside certain others: `sort in Rust` (but not `SWIFT code`), `is it`.
fn folds_by_company(lower: &str, acronym: bool, place: Place<'_>) -> bool {
    let code = place.of_code && (!acronym || place.shouted) && tables::PROGRAMMING.contains(&lower);
    let asked = place.begins && matches!(lower, "who" | "it" | "will" | "may");
    let pronoun = place.shouted
        && (lower == "it" || lower == "us")
        && matches!(
            place.before,
            "is" | "does" | "was" | "if" | "do" | "can" | "will" | "of" | "for" | "make" | "about"
        );
    code || asked || pronoun
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::lexicon;

    const MID: Place<'_> = Place { begins: false, shouted: false, of_code: false, before: "the", after: "of" };

    #[test]
    fn names_fold_and_words_with_a_double_life_do_not() {
        for (word, folded) in [
            ("Tokyo", "tokyo"),
            ("Apple", "Apple"),
            ("Polish", "Polish"),
            ("US", "US"),
            ("PDF", "pdf"),
            ("iPhone", "iphone"),
            ("getName", "getName"),
            ("V", "V"),
            ("NOT", "not"),
        ] {
            assert_eq!(fold_word(word, MID), folded);
        }
    }

    #[test]
    fn company_makes_a_word_clear() {
        let watch = Place { after: "Watch", ..MID };
        assert_eq!(fold_word("Apple", watch), "apple");
        let code = Place { of_code: true, before: "in", after: "", ..MID };
        assert_eq!(fold_word("Rust", code), "rust");
    }

    #[test]
    fn a_row_of_acronyms_is_no_shouted_sentence() {
        assert!(!is_shouted(lexicon(), "NASA ESA CNES JAXA"));
        assert!(is_shouted(lexicon(), "HOW OLD IS THE DOG"));
    }
}
