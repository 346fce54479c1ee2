//! What kind of character is this? One place, so that every step draws the same lines.

use unicode_normalization::char::is_combining_mark;

/// Chinese characters, the ideographic zero and the iteration mark included.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3134f}' | '〇' | '々')
}

/// Letters, digits and marks of all other scripts. The joiners are spelling there (Persian), and so are
/// superscripts, fractions and circled digits: they are not plain digits.
pub(crate) fn is_word(c: char) -> bool {
    !is_han(c) && (c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}' | '_'))
}

/// Invisible characters that mean nothing beside Chinese or white space.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// The ASCII form of a full-width one. Other compatibility forms (², ½, ㎡, ①) carry meaning and stay.
pub(crate) fn fold_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        '￥' => '¥',
        '￡' => '£',
        '￠' => '¢',
        '’' => '\'',
        _ => c,
    }
}
