//! Where white space, case and punctuation are content: code and quoted strings.

/// A stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Prose: may be folded.
    Plain(&'a str),
    /// A fenced block or inline code, fences included: never touched.
    Code(&'a str),
    /// A quoted string, quotes included: never touched.
    Quote(&'a str),
}

/// A quotation longer than this is rather two stray marks, in bytes.
const LONGEST_QUOTE: usize = 400;

/// Cuts a text into prose, code and quotations. The parts make up the text again.
pub(crate) fn split(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut plain_from, mut at) = (0, 0);
    let mut before = ' ';
    while let Some(c) = text[at..].chars().next() {
        let found = if opens(c) { protected(&text[at..], c, before) } else { None };
        if let Some(part) = found {
            if plain_from < at {
                parts.push(Part::Plain(&text[plain_from..at]));
            }
            parts.push(part);
            at += part.as_str().len();
            plain_from = at;
            before = '"';
        } else {
            at += c.len_utf8();
            before = c;
        }
    }
    if plain_from < text.len() {
        parts.push(Part::Plain(&text[plain_from..]));
    }
    parts
}

fn opens(c: char) -> bool {
    c == '`' || c == '"' || c == '\'' || closing(c).is_some()
}

fn closing(c: char) -> Option<char> {
    Some(match c {
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        '〈' => '〉',
        _ => return None,
    })
}

/// The code or quotation that begins here, if one does.
fn protected(rest: &str, first: char, before: char) -> Option<Part<'_>> {
    if let Some(block) = rest.strip_prefix("```") {
        let end = block.find("```").map_or(rest.len(), |at| at + 6);
        return Some(Part::Code(&rest[..end]));
    }
    let body = &rest[first.len_utf8()..];
    let end = match first {
        '`' => line(body).find('`'),
        // After a digit it means inches.
        '"' if !before.is_ascii_digit() => line(body).find('"'),
        '\'' if !before.is_alphanumeric() => single(line(body)),
        _ => line(body).find(closing(first)?),
    }?;
    let inside = &body[..end];
    if inside.is_empty() {
        return None;
    }
    let close = body[end..].chars().next().map_or(0, char::len_utf8);
    let whole = &rest[..first.len_utf8() + end + close];
    Some(if first == '`' { Part::Code(whole) } else { Part::Quote(whole) })
}

/// As far as a quotation may reach: its line, and no further than the longest one. The bound keeps a text
/// full of opening marks from costing its length squared.
fn line(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(LONGEST_QUOTE)];
    near.split('\n').next().unwrap_or(near)
}

/// The end of a single-quoted string: an apostrophe inside a word does not close it.
fn single(body: &str) -> Option<usize> {
    if body.starts_with(char::is_whitespace) {
        return None;
    }
    body.match_indices('\'').map(|(at, _)| at).find(|at| {
        let after = body[at + 1..].chars().next();
        !after.is_some_and(char::is_alphanumeric) && !body[..*at].ends_with(char::is_whitespace)
    })
}

// === impl Part ===

impl<'a> Part<'a> {
    /// The text of the part.
    pub(crate) fn as_str(self) -> &'a str {
        match self {
            Self::Plain(text) | Self::Code(text) | Self::Quote(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_quotations_are_cut_out_whole() {
        assert_eq!(
            split("say `a  b` or \"c  d\" or 'e'"),
            [
                Part::Plain("say "),
                Part::Code("`a  b`"),
                Part::Plain(" or "),
                Part::Quote("\"c  d\""),
                Part::Plain(" or "),
                Part::Quote("'e'"),
            ]
        );
    }

    #[test]
    fn apostrophes_and_inches_quote_nothing() {
        for text in
            ["don't and can't", "the students' books of the teachers'", "a 5\" pipe or a 6\" pipe", "lone \" mark"]
        {
            assert_eq!(split(text), [Part::Plain(text)], "{text}");
        }
    }

    #[test]
    fn an_unclosed_fence_is_code_to_the_end() {
        assert_eq!(split("x ```\n  y"), [Part::Plain("x "), Part::Code("```\n  y")]);
    }
}
