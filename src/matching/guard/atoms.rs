//! Tokens taken apart into what has a meaning of its own: numbers get their value, units their one name,
//! contractions their words.

use std::borrow::Cow;

use crate::text::number;
use crate::text::{Kind, Tag, Token};

use super::{Veto, dates, synonyms, units};

/// A piece of a question: what it is, and its spelling as compared.
#[derive(Clone, Debug)]
pub(super) struct Atom<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) kind: Kind,
    pub(super) tag: Tag,
    /// The family, where the place of the atom decides it; else the word does.
    pub(super) family: Option<Veto>,
    /// The token that it comes from.
    pub(super) token: usize,
}

/// Chinese words that begin with a numeral and count nothing, or consist of numerals and are no number.
const NO_NUMBERS: [&str; 38] = [
    "二百五",
    "十一",
    "五一",
    "六一",
    "八一",
    "三八",
    "七七",
    "九九",
    "三七",
    "二八",
    "四六",
    "十分",
    "万分",
    "一点",
    "一点点",
    "一下",
    "一下子",
    "百分",
    "一会",
    "一会儿",
    "一直",
    "一般",
    "一度",
    "一面",
    "一头",
    "一口",
    "一手",
    "一气",
    "千万",
    "万一",
    "一一",
    "万千",
    "千百",
    "三三两两",
    "一番",
    "一道",
    "一通",
    "一阵",
];
/// Measure words that jieba may give together with their numeral.
const MEASURES: [&str; 56] = [
    "个", "条", "只", "件", "份", "篇", "首", "张", "本", "句", "段", "次", "天", "年", "月", "日", "号", "点", "分",
    "秒", "岁", "人", "位", "名", "家", "间", "座", "台", "部", "辆", "把", "块", "元", "斤", "米", "里", "层", "楼",
    "级", "种", "项", "步", "倍", "遍", "集", "章", "节", "页", "行", "列", "题", "字", "词", "周", "季度", "小时",
];

/// Takes tokens apart.
pub(super) fn split<'a>(tokens: &'a [Token<'a>]) -> Vec<Atom<'a>> {
    let mut atoms: Vec<Atom<'a>> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let before = atoms.len();
        let taken = match tokens[at].kind {
            Kind::Han => push_han(&mut atoms, &tokens[at..]),
            Kind::Number => push_number(&mut atoms, &tokens[at..]),
            Kind::Identifier => push_identifier(&mut atoms, &tokens[at]),
            Kind::Word => push_word(&mut atoms, &tokens[at..]),
            _ => push_plain(&mut atoms, &tokens[at]),
        };
        for atom in &mut atoms[before..] {
            atom.token = at;
        }
        at += taken;
    }
    name_units(&mut atoms);
    mark_dates(&mut atoms);
    atoms
}

fn atom<'a>(key: impl Into<Cow<'a, str>>, kind: Kind) -> Atom<'a> {
    Atom { key: key.into(), kind, tag: Tag::Other, family: None, token: 0 }
}

fn push_plain<'a>(atoms: &mut Vec<Atom<'a>>, token: &'a Token<'a>) -> usize {
    atoms.push(Atom { tag: token.tag, ..atom(&*token.text, token.kind) });
    1
}

/// A number in digits, with 万 or `thousand` behind it multiplied in. After a name it is a version, where 3.0 is not 3.
fn push_number<'a>(atoms: &mut Vec<Atom<'a>>, tokens: &'a [Token<'a>]) -> usize {
    let text = &*tokens[0].text;
    let after_name = atoms.last().is_some_and(|before| match before.kind {
        Kind::Word => !SMALL_WORDS.contains(&&*before.key),
        Kind::Identifier => true,
        Kind::Han => matches!(&*before.key, "版本" | "版"),
        _ => false,
    });
    if after_name && text.contains('.') {
        atoms.push(Atom { family: Some(Veto::Version), ..atom(text, Kind::Number) });
        return 1;
    }
    let value = number::from_digits(text).unwrap_or_else(|| text.to_owned());
    let scale = tokens.get(1).and_then(|next| match &*next.text {
        "万" => Some(4),
        "亿" => Some(8),
        "thousand" => Some(3),
        "million" => Some(6),
        "billion" => Some(9),
        _ => None,
    });
    let scaled = scale.and_then(|zeros| shift(&value, zeros));
    atoms.push(atom(scaled.clone().unwrap_or(value), Kind::Number));
    1 + usize::from(scaled.is_some())
}

/// Words after which a number with a point is an amount.
const SMALL_WORDS: [&str; 40] = [
    "is", "are", "was", "were", "of", "to", "by", "than", "at", "in", "on", "for", "from", "and", "or", "with",
    "about", "least", "most", "around", "under", "over", "below", "above", "between", "a", "the", "i", "have", "has",
    "plus", "minus", "times", "equals", "be", "only", "cost", "costs", "weighs", "exactly",
];

/// The value times a power of ten.
fn shift(value: &str, zeros: usize) -> Option<String> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let mut digits = format!("{whole}{fraction}");
    let missing = zeros.checked_sub(fraction.len())?;
    digits.extend(std::iter::repeat_n('0', missing));
    let digits = digits.trim_start_matches('0');
    (!digits.is_empty()).then(|| digits.to_owned())
}

/// `$5` is an amount, everything else is compared letter by letter.
fn push_identifier<'a>(atoms: &mut Vec<Atom<'a>>, token: &'a Token<'a>) -> usize {
    let amount = token.text.strip_prefix(['$', '€', '£', '¥']).and_then(number::from_digits);
    if let Some(value) = amount {
        let currency = &token.text[..token.text.chars().next().map_or(0, char::len_utf8)];
        atoms.push(atom(value, Kind::Number));
        atoms.push(Atom { family: Some(Veto::Unit), ..atom(currency, Kind::Word) });
    } else if let Some(value) = number::english_ordinal(&token.text) {
        atoms.push(Atom { family: Some(Veto::Number), ..atom(format!("{value}th"), Kind::Number) });
    } else {
        push_plain(atoms, token);
    }
    1
}

fn push_word<'a>(atoms: &mut Vec<Atom<'a>>, tokens: &'a [Token<'a>]) -> usize {
    let word = &*tokens[0].text;
    if let Some(words) = synonyms::contraction(word) {
        atoms.extend(words.iter().map(|word| atom(*word, Kind::Word)));
        return 1;
    }
    if let Some(value) = number::english_ordinal(word) {
        atoms.push(Atom { family: Some(Veto::Number), ..atom(format!("{value}th"), Kind::Number) });
        return 1;
    }
    if let Some((value, length)) = english_number(tokens) {
        atoms.push(atom(value.to_string(), Kind::Number));
        return length;
    }
    let key = match word {
        "an" => "a",
        _ => dates::full_name(word).unwrap_or(word),
    };
    atoms.push(atom(key, Kind::Word));
    1
}

/// `two hundred and five`: the value and how many tokens spell it.
fn english_number(tokens: &[Token<'_>]) -> Option<(u64, usize)> {
    let word = |at: usize| tokens.get(at).filter(|t| t.kind == Kind::Word).map(|t| &*t.text);
    let (first, false) = number::english_word(word(0)?)? else { return None };
    let (mut total, mut section, mut at) = (0_u64, first, 1);
    loop {
        let and = usize::from(word(at) == Some("and") && section % 100 == 0);
        let Some((value, multiplies)) = word(at + and).and_then(number::english_word) else { break };
        if multiplies && and == 0 {
            section = section.checked_mul(value)?;
            if value >= 1000 {
                total = total.checked_add(section)?;
                section = 0;
            }
        } else if !multiplies && fits(section, value) {
            section += value;
        } else {
            break;
        }
        at += 1 + and;
    }
    Some((total.checked_add(section)?, at))
}

/// Whether a small number continues the one before it: twenty + one, hundred + five, thousand + two.
fn fits(section: u64, value: u64) -> bool {
    (section.is_multiple_of(100) && value < 100 && section >= 100)
        || (section % 100 >= 20 && section.is_multiple_of(10) && (1..10).contains(&value))
}

/// A Chinese word, or the numeral that it and its neighbours spell.
fn push_han<'a>(atoms: &mut Vec<Atom<'a>>, tokens: &'a [Token<'a>]) -> usize {
    let word = &*tokens[0].text;
    if NO_NUMBERS.contains(&word) {
        return push_plain(atoms, &tokens[0]);
    }
    if let Some(value) = word.strip_prefix("百分之").and_then(number::from_chinese) {
        atoms.push(atom(value, Kind::Number));
        atoms.push(Atom { family: Some(Veto::Unit), ..atom("%", Kind::Word) });
        return 1;
    }
    if word == "百分之" && tokens.get(1).is_some_and(|t| t.kind == Kind::Number) {
        push_number(atoms, &tokens[1..2]);
        atoms.push(Atom { family: Some(Veto::Unit), ..atom("%", Kind::Word) });
        return 2;
    }
    if let Some(counted) = word.strip_prefix('第').filter(|rest| !rest.is_empty()) {
        atoms.push(atom("第", Kind::Han));
        return if push_counted(atoms, counted) {
            1
        } else {
            atoms.pop();
            push_plain(atoms, &tokens[0])
        };
    }
    let spelled = tokens
        .iter()
        .take_while(|t| t.kind == Kind::Han && is_numeral(&t.text) && !NO_NUMBERS.contains(&&*t.text))
        .count();
    if spelled > 0 {
        let joined: String = tokens[..spelled].iter().map(|t| &*t.text).collect();
        let value = number::from_chinese(&joined).unwrap_or(joined);
        atoms.push(atom(value, Kind::Number));
        return spelled;
    }
    if !push_counted(atoms, word) {
        push_plain(atoms, &tokens[0]);
    }
    1
}

fn is_numeral(word: &str) -> bool {
    let scale = |c| matches!(c, '十' | '百' | '千' | '万' | '亿' | '拾' | '佰' | '仟');
    word.chars().all(|c| number::chinese_digit(c).is_some() || scale(c)) && !matches!(word, "万" | "亿" | "千" | "百")
}

/// 三篇: the number and its measure word. Says whether the word was that.
fn push_counted<'a>(atoms: &mut Vec<Atom<'a>>, word: &'a str) -> bool {
    let end = word
        .char_indices()
        .find(|(_, c)| !is_numeral(c.encode_utf8(&mut [0; 4])) && !matches!(c, '千' | '百' | '万' | '亿' | '点'));
    let end = end.map_or(word.len(), |(at, _)| at);
    let (numeral, measure) = word.split_at(end);
    // 千米 and 百姓 count nothing.
    if !numeral.starts_with(|c| c == '十' || number::chinese_digit(c).is_some()) {
        return false;
    }
    let (numeral, measure) = if MEASURES.contains(&measure) || measure.is_empty() {
        (numeral, measure)
    } else {
        return false;
    };
    // 三点: the measure word is 点 itself.
    let (numeral, measure) = numeral.strip_suffix('点').map_or((numeral, measure), |hour| (hour, "点"));
    let Some(value) = number::from_chinese(numeral) else { return false };
    atoms.push(atom(value, Kind::Number));
    if !measure.is_empty() {
        atoms.push(atom(measure, Kind::Han));
    }
    true
}

/// A unit is one only behind an amount.
fn name_units(atoms: &mut [Atom<'_>]) {
    for at in 1..atoms.len() {
        let amount = atoms[at - 1].kind == Kind::Number && !atoms[at - 1].key.ends_with("th");
        if amount && let Some(unit) = units::unit(&atoms[at].key) {
            atoms[at].key = Cow::Borrowed(unit);
            atoms[at].family = Some(Veto::Unit);
        }
    }
}

/// A number beside a month or before 年, 月, 日, 号 is part of a date.
fn mark_dates(atoms: &mut [Atom<'_>]) {
    for at in 0..atoms.len() {
        if atoms[at].kind != Kind::Number || atoms[at].family.is_some() {
            continue;
        }
        let dated = |atom: Option<&Atom<'_>>| {
            atom.is_some_and(|atom| matches!(atom.kind, Kind::Word) && dates::WORDS.contains(&*atom.key))
        };
        let counted = atoms.get(at + 1).is_some_and(|next| matches!(&*next.key, "年" | "月" | "日" | "号" | "点"));
        let year = atoms[at].key.len() == 4 && matches!(atoms[at].key.as_bytes()[0], b'1' | b'2');
        if counted || year || dated(atoms.get(at + 1)) || (at > 0 && dated(atoms.get(at - 1))) {
            atoms[at].family = Some(Veto::Date);
        }
        // 6月3号 is 6月3日.
        if counted && at > 0 && &*atoms[at - 1].key == "月" && &*atoms[at + 1].key == "号" {
            atoms[at + 1].key = Cow::Borrowed("日");
        }
    }
}
