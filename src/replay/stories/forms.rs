//! One question in the many forms in which people and programs send it: bytes that differ, a meaning that
//! does not.
//!
//! Only what the founding page lets fold is used: white space, width, case, politeness, end punctuation,
//! labelled request ids. No form touches a digit, a name, a negation or the order of words.

use super::dice::Dice;

/// The language of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Chinese,
    English,
}

/// One way to write the same question differently.
type Change = fn(&mut Dice, Language, &str) -> String;

/// From the inside out: letters, then what stands around the sentence, then what is put around all.
const INSIDE_OUT: [Change; 6] = [case, end, politeness, width, request_id, space];

// === impl Language ===

impl Language {
    pub(super) fn of(text: &str) -> Self {
        if text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) { Self::Chinese } else { Self::English }
    }
}

/// The question (which has no end punctuation) in another form: one to three changes.
pub(super) fn disguise(dice: &mut Dice, question: &str) -> String {
    let language = Language::of(question);
    let mut order: [usize; INSIDE_OUT.len()] = std::array::from_fn(|index| index);
    dice.shuffle(&mut order);
    let count = 1 + dice.below(3);
    let chosen = &order[..count];
    let changes = INSIDE_OUT.iter().enumerate().filter(|(index, _)| chosen.contains(index));
    changes.fold(question.to_owned(), |text, (_, change)| change(dice, language, &text))
}

fn case(_: &mut Dice, language: Language, text: &str) -> String {
    // A word with capitals of its own (TV, PDF) would lose them in a sentence of capitals: "us" is not "US".
    let own_capitals =
        text.chars().skip(1).zip(text.chars().skip(2)).any(|(a, b)| a.is_uppercase() && b.is_uppercase());
    match language {
        Language::English if !own_capitals && text.len().is_multiple_of(2) => text.to_uppercase(),
        Language::English => lower_first(text),
        Language::Chinese => text.to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn end(dice: &mut Dice, language: Language, text: &str) -> String {
    let mark = match language {
        Language::Chinese => dice.pick(&["？", "?", "？？", "。", "?？"]),
        Language::English => dice.pick(&["?", "??", " ?", "？", "."]),
    };
    format!("{text}{mark}")
}

fn politeness(dice: &mut Dice, language: Language, text: &str) -> String {
    match language {
        Language::Chinese => {
            let before = dice.pick(&["", "请问", "请问一下，", "你好，", "您好，请问", "麻烦问一下，", "请教一下，"]);
            let after = if before.is_empty() {
                dice.pick(&["，谢谢", "，谢谢！", "，多谢"])
            } else {
                dice.pick(&["", "", "，谢谢"])
            };
            format!("{before}{text}{after}")
        }
        Language::English => {
            let before = dice.pick(&["", "Hi, ", "Hello, ", "Hi there, ", "Please, ", "Excuse me, "]);
            let after = if before.is_empty() {
                dice.pick(&[", please", ", thanks", " Thank you!"])
            } else {
                dice.pick(&["", "", " Thanks!"])
            };
            let text = if before.is_empty() { text.to_owned() } else { lower_first_word(text) };
            format!("{before}{text}{after}")
        }
    }
}

/// A sentence of capitals stays one.
fn lower_first_word(text: &str) -> String {
    if text.chars().any(char::is_lowercase) { lower_first(text) } else { text.to_owned() }
}

fn width(dice: &mut Dice, language: Language, text: &str) -> String {
    let whole = language == Language::Chinese || dice.percent(20);
    if !whole {
        return text.replace('?', "？").replace(", ", "，").replace('!', "！");
    }
    text.chars()
        .map(|c| match c {
            ' ' => '\u{3000}',
            '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c),
            other => other,
        })
        .collect()
}

fn request_id(dice: &mut Dice, _: Language, text: &str) -> String {
    let digits = dice.pick(&[&4, &6, &8]);
    let id = dice.hex(*digits);
    match dice.below(4) {
        0 => format!("{text} [req-{id}]"),
        1 => format!("[request_id={id}] {text}"),
        _ => format!("[req-{id}] {text}"),
    }
}

fn space(dice: &mut Dice, language: Language, text: &str) -> String {
    let around = match language {
        Language::Chinese => dice.pick(&[" ", "  ", "\n", "\u{3000}"]),
        Language::English => dice.pick(&[" ", "  ", "\n", "\t"]),
    };
    match dice.below(3) {
        0 => format!("{around}{text}"),
        1 => format!("{text}{around}"),
        _ if text.contains(' ') => {
            let gaps: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
            let (left, right) = text.split_at(gaps[dice.below(gaps.len())]);
            format!("{left}{around}{right}")
        }
        _ => format!("{around}{text}{around}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters and digits of a text, width and case folded: what no form may touch.
    fn skeleton(text: &str) -> String {
        text.chars()
            .map(|c| match c {
                '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap(),
                other => other,
            })
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    }

    #[test]
    fn a_form_keeps_every_letter_and_digit_of_the_question_in_order() {
        let mut dice = Dice::new(3);
        for question in ["How do I cast to my TV in 4K", "播客怎么设置2倍速播放"] {
            for _ in 0..500 {
                let form = disguise(&mut dice, question);
                assert!(skeleton(&form).contains(&skeleton(question)), "{form}");
            }
        }
    }

    #[test]
    fn a_word_with_capitals_of_its_own_keeps_them() {
        let mut dice = Dice::new(4);
        for _ in 0..500 {
            let form = disguise(&mut dice, "Why does it stop on my TV");
            assert!(form.contains("TV") || form.contains("ＴＶ"), "{form}");
            assert!(!form.contains("WHY") && !form.contains("ＷＨＹ"), "{form}");
        }
    }
}
