//! Numbers in any spelling as one value: `3`, `3.0`, `three`, `三`, `叁`; `1,000` and `一千`.

/// The value of plain digits, with thousands separators and a decimal point: `1,000.50` is `1000.5`.
/// `None` if it is not a plain number. Leading zeros make a code, not a number.
pub(crate) fn from_digits(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let grouped = whole.contains(',');
    if grouped && !is_grouped(whole) {
        return None;
    }
    let digits: String = whole.chars().filter(|c| *c != ',').collect();
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if digits.is_empty() && fraction.is_none_or(str::is_empty) || !all_digits(&digits) {
        return None;
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let whole = if digits.is_empty() { "0".to_owned() } else { digits };
    let Some(fraction) = fraction else { return Some(whole) };
    if fraction.is_empty() || !all_digits(fraction) {
        return None;
    }
    // Of a version or a section 3.10 is not 3.1 and 3.0 not 3; in many countries 1.500 is fifteen hundred.
    Some(format!("{whole}.{fraction}"))
}

fn is_grouped(whole: &str) -> bool {
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or("");
    (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)
}

/// The value of a Chinese numeral, `点` for the decimal point; `None` if any character is no numeral.
pub(crate) fn from_chinese(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('点').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let value = if whole.chars().count() > 3 && whole.chars().all(|c| chinese_digit(c).is_some()) {
        // Digit by digit, as years are read. Fewer (两三, 三五, 一三五) may be a range or a row.
        let digits: Option<String> = whole.chars().map(|c| chinese_digit(c).map(|d| d.to_string())).collect();
        digits?
    } else {
        chinese_whole(whole)?.to_string()
    };
    let Some(fraction) = fraction else { return Some(value) };
    let digits: Option<String> = fraction.chars().map(|c| chinese_digit(c).map(|d| d.to_string())).collect();
    from_digits(&format!("{value}.{}", digits.filter(|d| !d.is_empty())?))
}

fn chinese_whole(text: &str) -> Option<u64> {
    let (mut total, mut section, mut digit) = (0_u64, 0_u64, None);
    let (mut scale, mut after_zero) = (1, false);
    if text.is_empty() {
        return None;
    }
    for c in text.chars() {
        if let Some(value) = chinese_digit(c) {
            if digit.is_some_and(|d| d != 0) {
                return None;
            }
            after_zero |= value == 0;
            digit = Some(value);
            continue;
        }
        let unit = chinese_unit(c)?;
        if unit < 10_000 {
            section = section.checked_add(digit.filter(|d| *d != 0).unwrap_or(1).checked_mul(unit)?)?;
        } else {
            let amount = section.checked_add(digit.unwrap_or(0))?;
            total = total.checked_add(amount)?.checked_mul(unit)?;
            section = 0;
        }
        digit = None;
        (scale, after_zero) = (unit, false);
    }
    // 三千五 is 3500, 三千零五 is 3005.
    let ones = if scale >= 100 && !after_zero { scale / 10 } else { 1 };
    total.checked_add(section)?.checked_add(digit.unwrap_or(0).checked_mul(ones)?)
}

/// The value of one Chinese digit, the formal ones included.
pub(crate) fn chinese_digit(c: char) -> Option<u64> {
    Some(match c {
        '零' | '〇' => 0,
        '一' | '壹' => 1,
        '二' | '两' | '贰' => 2,
        '三' | '叁' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        _ => return None,
    })
}

fn chinese_unit(c: char) -> Option<u64> {
    Some(match c {
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1000,
        '万' => 10_000,
        '亿' => 100_000_000,
        _ => return None,
    })
}

/// The value of English number words, such as `twenty`, `five`, `hundred`: `(value, is a multiplier)`.
pub(crate) fn english_word(word: &str) -> Option<(u64, bool)> {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if let Some(value) = (0..).zip(SMALL).find_map(|(value, name)| (name == word).then_some(value)) {
        return Some((value, false));
    }
    if let Some(ten) = (2..).zip(TENS).find_map(|(ten, name)| (name == word).then_some(ten * 10)) {
        return Some((ten, false));
    }
    let scale = match word {
        "hundred" => 100,
        "thousand" => 1000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        _ => return english_compound(word),
    };
    Some((scale, true))
}

/// `twenty-one`
fn english_compound(word: &str) -> Option<(u64, bool)> {
    let (ten, one) = word.split_once('-')?;
    let ((ten, false), (one @ 1..=9, false)) = (english_word(ten)?, english_word(one)?) else { return None };
    (ten >= 20 && ten % 10 == 0).then_some((ten + one, false))
}

/// The value of an English ordinal word.
pub(crate) fn english_ordinal(word: &str) -> Option<u64> {
    const NAMES: [&str; 13] = [
        "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
        "eleventh", "twelfth",
    ];
    if let Some(value) = (0..).zip(NAMES).find_map(|(value, name)| (name == word).then_some(value)) {
        return Some(value);
    }
    let digits = word.strip_suffix("st").or_else(|| word.strip_suffix("nd")).or_else(|| word.strip_suffix("rd"));
    let digits = digits.or_else(|| word.strip_suffix("th"))?;
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits.parse().ok();
    }
    english_word(digits).map(|(value, _)| value).filter(|value| *value > 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_digits_have_one_value_and_keep_their_places() {
        for (text, value) in
            [("3", "3"), ("3.0", "3.0"), ("3.50", "3.50"), ("1,000", "1000"), (".5", "0.5"), ("0.5", "0.5")]
        {
            assert_eq!(from_digits(text).as_deref(), Some(value), "{text}");
        }
        for code in ["007", "1,2", "1.2.3", "1,0000", "", ".", "3."] {
            assert_eq!(from_digits(code), None, "{code}");
        }
    }

    #[test]
    fn chinese_numerals_have_values() {
        for (text, value) in [
            ("三", "3"),
            ("叁", "3"),
            ("十", "10"),
            ("三十七", "37"),
            ("一百零五", "105"),
            ("两千", "2000"),
            ("一万二千", "12000"),
            ("二〇二三", "2023"),
            ("三点五", "3.5"),
            ("两亿", "200000000"),
            ("一千五百万", "15000000"),
            ("三千五", "3500"),
            ("三千零五", "3005"),
            ("一百五", "150"),
            ("一万二", "12000"),
            ("一百二十五", "125"),
        ] {
            assert_eq!(from_chinese(text).as_deref(), Some(value), "{text}");
        }
        assert_eq!((from_chinese("三五"), from_chinese("一三五")), (None, None));
        assert_eq!(from_chinese("三个"), None);
        assert_eq!(from_chinese(""), None);
    }

    #[test]
    fn english_number_words_have_values() {
        assert_eq!(english_word("twelve"), Some((12, false)));
        assert_eq!(english_word("twenty-one"), Some((21, false)));
        assert_eq!(english_word("million"), Some((1_000_000, true)));
        assert_eq!(english_word("often"), None);
        for (word, value) in [("third", 3), ("3rd", 3), ("21st", 21), ("fifteenth", 15)] {
            assert_eq!(english_ordinal(word), Some(value), "{word}");
        }
        assert_eq!(english_ordinal("month"), None);
    }
}
