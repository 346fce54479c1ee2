//! The smallest things that two questions are compared by.
//!
//! Chinese is cut by jieba; everything else by what it is: a word, a number, or something that is only ever
//! compared letter by letter (identifiers, flags, paths, addresses, product codes, code, quotations). Nothing
//! is dropped here, and a thing that is neither surely a word nor surely a number is an identifier.

use std::borrow::Cow;

use super::chars::{is_han, is_word};
use super::parts::{self, Part};
use super::{Lexicon, number};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A word of any script but Chinese.
    Word,
    /// A Chinese word.
    Han,
    /// A plain number in digits.
    Number,
    /// A date, a time, a fraction or a range in digits, such as `10:30` or `2024-05-01`.
    Date,
    /// Compared letter by letter: `-v`, `C++`, `TX-310`, `a/b.txt`, `x@y.z`, `snake_case`, `10²`.
    Identifier,
    /// Code, fences included.
    Code,
    /// A quoted string, quotes included.
    Quote,
    /// A punctuation mark or symbol.
    Mark,
    /// A line break with the indentation after it.
    Break,
}

/// What the dictionary says of a Chinese word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// A person, place, organisation or other proper name.
    Name,
    /// A noun.
    Noun,
    /// A verb.
    Verb,
    /// A numeral, perhaps with its measure word.
    Numeral,
    /// A pronoun.
    Pronoun,
    /// A time word.
    Time,
    /// Anything else; also everything that is not Chinese.
    Other,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// As it stands in the text.
    pub text: Cow<'a, str>,
    /// What the dictionary says of it.
    pub tag: Tag,
    /// Whether white space stands before it.
    pub spaced: bool,
}

/// Cuts a normalised text into tokens.
#[must_use]
pub fn tokenise<'a>(lexicon: &Lexicon, normal: &'a str) -> Vec<Token<'a>> {
    let mut cutter = Cutter { lexicon, tokens: Vec::new(), spaced: false, listed: is_list(normal) };
    for part in parts::split(normal) {
        match part {
            Part::Plain(prose) => cutter.prose(prose),
            Part::Code(code) => cutter.push(Kind::Code, code),
            Part::Quote(quote) => cutter.push(Kind::Quote, quote),
        }
    }
    cutter.tokens
}

/// One stray blank between Chinese characters is noise; several make a list of words (苹果 手机 电脑).
fn is_list(normal: &str) -> bool {
    let mut gaps = 0;
    let mut characters = normal.chars();
    let (mut before, mut blank) = (' ', characters.next());
    while let Some(c) = blank {
        let next = characters.next();
        gaps += usize::from(c == ' ' && is_han(before) && next.is_some_and(is_han));
        before = c;
        blank = next;
    }
    gaps > 1
}

struct Cutter<'l, 'a> {
    lexicon: &'l Lexicon,
    tokens: Vec<Token<'a>>,
    spaced: bool,
    listed: bool,
}

// === impl Cutter ===

impl<'a> Cutter<'_, 'a> {
    fn push(&mut self, kind: Kind, text: impl Into<Cow<'a, str>>) {
        let spaced = std::mem::take(&mut self.spaced);
        self.tokens.push(Token { kind, text: text.into(), tag: Tag::Other, spaced });
    }

    fn prose(&mut self, prose: &'a str) {
        let mut rest = prose;
        while let Some(c) = rest.chars().next() {
            let taken = match c {
                '\n' => self.line_break(rest),
                _ if c.is_whitespace() => self.blank(c),
                _ if is_han(c) => self.han(rest),
                _ => self.chunk(rest),
            };
            rest = &rest[taken..];
        }
    }

    fn blank(&mut self, c: char) -> usize {
        self.spaced = true;
        c.len_utf8()
    }

    fn line_break(&mut self, rest: &'a str) -> usize {
        let end = rest.len() - rest[1..].trim_start_matches([' ', '\t']).len();
        let indent = end - 1;
        self.push(Kind::Break, if indent > 1 || rest[1..end].contains('\t') { &rest[..end] } else { "\n" });
        end
    }

    /// A run of Chinese; a blank inside is skipped unless the text is a list or the blank changes the words.
    fn han(&mut self, rest: &'a str) -> usize {
        let mut end = 0;
        let mut blanks = 0;
        let mut characters = rest.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            if is_han(c) {
                end = at + c.len_utf8();
            } else if c == ' ' && !self.listed && characters.peek().is_some_and(|(_, next)| is_han(*next)) {
                blanks += 1;
            } else {
                break;
            }
        }
        let run = &rest[..end];
        if blanks == 0 {
            self.cut_han(run, Cow::Borrowed);
            return end;
        }
        let joined: String = run.chars().filter(|c| *c != ' ').collect();
        if self.cut_alike(run, &joined) {
            self.cut_han(&joined, |word| Cow::Owned(word.to_owned()));
        } else {
            for piece in run.split(' ') {
                self.cut_han(piece, Cow::Borrowed);
                self.spaced = true;
            }
            self.spaced = false;
        }
        end
    }

    /// Whether the blanks of a run stand between its words anyway: 乒乓球 拍卖 is not 乒乓球拍 卖.
    fn cut_alike(&self, run: &str, joined: &str) -> bool {
        let words = |text: &str| -> Vec<usize> {
            self.lexicon.jieba().tag(text, false).iter().map(|tagged| tagged.byte_end - tagged.byte_start).collect()
        };
        let (mut apart, together) = (Vec::new(), words(joined));
        for piece in run.split(' ') {
            let piece = words(piece);
            // 时 候 is one word with a blank in it.
            let split_word = apart.last() == Some(&HAN_BYTES) && piece.first() == Some(&HAN_BYTES);
            let inside = split_word && is_word_at(&together, apart.iter().sum::<usize>() - HAN_BYTES, 2 * HAN_BYTES);
            if inside {
                apart.pop();
                apart.push(2 * HAN_BYTES);
                apart.extend(&piece[1..]);
            } else {
                apart.extend(piece);
            }
        }
        apart == together
    }

    fn cut_han<'t>(&mut self, run: &'t str, own: impl Fn(&'t str) -> Cow<'a, str>) {
        for tagged in self.lexicon.jieba().tag(run, false) {
            let spaced = std::mem::take(&mut self.spaced);
            self.tokens.push(Token {
                kind: Kind::Han,
                text: own(&run[tagged.byte_start..tagged.byte_end]),
                tag: Tag::of(tagged.tag),
                spaced,
            });
        }
    }

    /// A run of anything that is neither Chinese nor white space, as far as it hangs together.
    fn chunk(&mut self, rest: &'a str) -> usize {
        let length = chunk_len(rest);
        let mut chunk = &rest[..length];
        if length == 0 {
            let c = rest.chars().next().unwrap_or(' ');
            let same =
                if matches!(c, '.' | '…' | '-' | '—' | '~' | '=' | '*') { run_len(rest, c) } else { c.len_utf8() };
            self.push(Kind::Mark, &rest[..same]);
            return same;
        }
        if let Some((number, unit)) = number_with_unit(chunk) {
            self.push(Kind::Number, number);
            chunk = unit;
            if unit.is_empty() {
                return length;
            }
        }
        self.push(kind_of(chunk), chunk);
        length
    }
}

fn run_len(rest: &str, c: char) -> usize {
    rest.chars().take_while(|d| *d == c).map(char::len_utf8).sum()
}

/// The length of what hangs together at the beginning: letters and digits, and the signs between them.
fn chunk_len(rest: &str) -> usize {
    let scheme = rest.bytes().take(12).take_while(u8::is_ascii_lowercase).count();
    let address = rest[scheme..].starts_with("://");
    let mut end = 0;
    let mut before = None;
    let mut characters = rest.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let after = characters.peek().map(|(_, c)| *c);
        if c.is_whitespace() || is_han(c) || !(is_word(c) || hangs(c, before, after, address)) {
            break;
        }
        end = at + c.len_utf8();
        before = Some(c);
    }
    end
}

/// Whether a sign belongs to the word, number or identifier that it touches.
fn hangs(c: char, before: Option<char>, after: Option<char>, address: bool) -> bool {
    let word = |c: Option<char>| c.is_some_and(is_word);
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match c {
        '+' | '#' | '%' | '=' | '&' | '*' | '^' | '|' | '<' | '>' | '$' | '€' | '£' | '¥' | '₹' | '@' | '\\' | '/'
        | '°' | '‰' => true,
        '-' => word(before) || word(after) || after == Some('-') || before == Some('-') || after == Some('>'),
        '~' => (digit(before) && digit(after)) || after == Some('/') || address,
        '.' => word(after) && (before.is_none() || word(before) || matches!(before, Some('/' | '.' | '-' | '$'))),
        ':' => {
            (digit(before) && digit(after))
                || matches!(after, Some('/' | '\\' | ':'))
                || before == Some(':')
                || (address && word(after))
        }
        ',' => digit(before) && digit(after),
        '\'' => word(before) && word(after),
        '?' | ';' | '(' | ')' | '[' | ']' | '!' => address && (word(after) || after == Some('/')),
        _ => false,
    }
}

/// `5km`, `$5`, `50%`, `3rd`: the number and what stands with it; `None` if it is not that.
fn number_with_unit(chunk: &str) -> Option<(&str, &str)> {
    let digits = chunk.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b',' | b'.')).count();
    let digits = chunk[..digits].trim_end_matches([',', '.']).len();
    number::from_digits(&chunk[..digits])?;
    let unit = &chunk[digits..];
    let percent = unit == "%" || unit == "‰";
    let letters = (2..=7).contains(&unit.len()) && unit.bytes().all(|b| b.is_ascii_lowercase());
    let symbol = matches!(
        unit,
        "kB" | "KB"
            | "MB"
            | "GB"
            | "TB"
            | "Mb"
            | "Gb"
            | "Kb"
            | "kW"
            | "MW"
            | "mW"
            | "kWh"
            | "mAh"
            | "Hz"
            | "kHz"
            | "MHz"
            | "GHz"
            | "°C"
            | "°F"
            | "h"
            | "m"
            | "s"
            | "g"
            | "V"
            | "W"
            | "A"
    );
    let ordinal = matches!(unit, "st" | "nd" | "rd" | "th");
    ((unit.is_empty() || percent || letters || symbol) && !ordinal).then_some((&chunk[..digits], unit))
}

fn kind_of(chunk: &str) -> Kind {
    let letters = |part: &str| !part.is_empty() && part.chars().all(|c| is_word(c) && !c.is_numeric() && c != '_');
    if number::from_digits(chunk).is_some() {
        return Kind::Number;
    }
    let mut pieces = chunk.split(['-', '\'']);
    if pieces.all(letters) {
        return Kind::Word;
    }
    let of_digits = chunk.bytes().all(|b| b.is_ascii_digit() || b":/-.~,".contains(&b));
    if of_digits && chunk.starts_with(|c: char| c.is_ascii_digit()) { Kind::Date } else { Kind::Identifier }
}

// === impl Tag ===

impl Tag {
    /// From the tags of jieba's dictionary.
    fn of(tag: &str) -> Self {
        match tag {
            "nr" | "ns" | "nt" | "nz" | "nrt" | "nrfg" => Self::Name,
            "m" | "mq" => Self::Numeral,
            "t" => Self::Time,
            "r" | "rz" | "rr" | "rg" => Self::Pronoun,
            _ if tag.starts_with('n') => Self::Noun,
            _ if tag.starts_with('v') => Self::Verb,
            _ => Self::Other,
        }
    }
}

/// Bytes of a Chinese character of the plane that nearly all text uses.
const HAN_BYTES: usize = 3;

/// Whether one of the words, given by their lengths, begins there and is so long.
fn is_word_at(words: &[usize], begin: usize, length: usize) -> bool {
    let mut at = 0;
    words.iter().any(|word| {
        let found = at == begin && *word == length;
        at += word;
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::testing::lexicon;

    fn cut(text: &str) -> Vec<(Kind, String)> {
        tokenise(lexicon(), text).into_iter().map(|t| (t.kind, t.text.into_owned())).collect()
    }

    #[test]
    fn identifiers_stay_whole() {
        for text in [
            "-v",
            "--keep-days",
            "C++",
            "C#",
            ".NET",
            "TX-310",
            "a/b.txt",
            "x@y.com",
            "snake_case",
            "10²",
            "std::vec",
            "v2.1.0",
            "3D",
            "¥",
        ] {
            assert_eq!(cut(text), [(Kind::Identifier, text.to_owned())], "{text}");
        }
        assert_eq!(cut("https://a.b/c?d=e").len(), 1);
    }

    #[test]
    fn numbers_are_cut_from_their_units() {
        assert_eq!(cut("5km"), [(Kind::Number, "5".to_owned()), (Kind::Word, "km".to_owned())]);
        assert_eq!(cut("1,000.5"), [(Kind::Number, "1,000.5".to_owned())]);
        assert_eq!(cut("10:30"), [(Kind::Date, "10:30".to_owned())]);
        assert_eq!(cut("12厘米").first(), Some(&(Kind::Number, "12".to_owned())));
    }

    #[test]
    fn sentence_marks_are_cut_off() {
        let cut = cut("Really, in 2021? Yes.");
        assert_eq!(cut.iter().filter(|(kind, _)| *kind == Kind::Mark).count(), 3, "{cut:?}");
    }

    #[test]
    fn one_blank_inside_chinese_is_noise_and_several_are_a_list() {
        assert_eq!(cut("股票上涨的时 候"), cut("股票上涨的时候"));
        let gaps = |text| tokenise(lexicon(), text).iter().filter(|t| t.spaced).count();
        assert_eq!((gaps("比较 苹果 手机 电脑"), gaps("比较苹果手机 电脑")), (3, 0));
    }
}
