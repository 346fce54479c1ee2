//! Does a question ask about the writing itself?
//!
//! Folding says that spaces, width, case, marks and courtesy do not matter. To a question about spaces, width,
//! case, marks or courtesy they are all that matters, and to one that compares two words, so are synonyms. Such
//! a text is taken at its word. Missing one is a wrong answer, taking one too many only a lost merge, so the
//! lists are generous.

use std::sync::LazyLock;

use super::chars::fold_width;
use super::tables::{Words, words};

/// Words of a text that speaks of its own writing.
static OF_WRITING: Words = LazyLock::new(|| {
    words(
        "spell spells spelled spelt spelling spellings misspelled capitals capitalize capitalise \
    capitalized capitalised capitalization capitalisation uppercase lowercase uppercased lowercased casing \
    punctuation punctuate punctuated mark marks comma commas semicolon semicolons colon colons apostrophe apostrophes \
    exclamation ellipsis hyphen hyphens dash dashes dot dots slash bracket brackets parenthesis parentheses quotes \
    symbol symbols sign signs operator operators character characters char chars letters glyph emoji emojis spaces \
    whitespace tab tabs newline newlines indent indented indentation unicode utf utf8 ascii codepoint byte bytes \
    encoding encoded tsv yaml polite politely politeness impolite rude rudeness courteous sentiment grammar \
    grammatical grammatically typo typos proofread repeat repeats echo verbatim literally column columns escape escaped grep width paragraph paragraphs digits \
    digit decimals figures syllable syllables rhyme anagram palindrome regex regexp pronounce pronounced pronunciation dialect writes print prints printed titled entitled",
    )
});
/// What is done to a text that is given after a colon or on a line of its own.
static EDITS: Words = LazyLock::new(|| words("fix correct edit rewrite revise polish improve convert reformat count"));
/// The same in Chinese, and phrases.
const PHRASES: &[&str] = &[
    "标点",
    "符号",
    "运算符",
    "操作符",
    "全角",
    "半角",
    "空格",
    "大小写",
    "大写",
    "小写",
    "字符",
    "字母",
    "编码",
    "缩进",
    "换行",
    "段落",
    "感叹号",
    "问号",
    "逗号",
    "句号",
    "分号",
    "冒号",
    "引号",
    "括号",
    "省略号",
    "破折号",
    "顿号",
    "书名号",
    "拼写",
    "错别字",
    "礼貌",
    "客气",
    "语法",
    "病句",
    "改错",
    "通顺",
    "有效数字",
    "几位",
    "小数位",
    "字节",
    "复述",
    "重复",
    "跟读",
    "照抄",
    "原样",
    "表情",
    "这句话",
    "这个词",
    "title case",
    "upper case",
    "lower case",
    "code point",
    "判断语气",
    "什么语气",
    "情感分",
    "情感倾向",
    "造句",
    "近义词",
    "反义词",
    "the tone of",
    "what tone",
    "正则",
    "校对",
    "笔画",
    "方言",
    "读音",
    "发音",
    "拼音",
];
/// Words of a text that sets two things side by side.
static OF_COMPARING: Words = LazyLock::new(|| {
    words(
        "difference differences differ differs different same equal equals equivalent identical \
    versus vs compare compared comparison synonym synonyms synonymous mean means meaning correct type",
    )
});
const COMPARING: &[&str] =
    &["区别", "差别", "差异", "不同", "一样", "相同", "同一", "等于", "相等", "对比", "比较", "近义", "正确"];

/// Marks of code, data and formulas, in which every blank and letter may count.
const OF_STRUCTURE: [char; 19] =
    ['{', '}', '<', '>', '=', '\\', '|', '$', '^', '&', '*', '_', '~', '@', '[', ']', '(', ')', ';'];

/// Whether nothing in the text may be folded: it asks about its own writing, or is more than plain prose.
pub(crate) fn is_literal(text: &str) -> bool {
    let structured = text.chars().any(|c| OF_STRUCTURE.contains(&fold_width(c))) || text.contains("./");
    structured || is_laid_out(text) || is_about_writing(text)
}

/// Whether lines or columns may count. A single break in a sentence is where somebody's editor wrapped it.
fn is_laid_out(text: &str) -> bool {
    let breaks = text.chars().filter(|c| matches!(c, '\n' | '\t')).count();
    breaks > 1 || text.contains("\n  ") || (breaks == 1 && text.contains([':', '：']))
}

fn is_about_writing(text: &str) -> bool {
    speaks(text, &OF_WRITING, PHRASES) || (text.contains([':', '：']) && speaks(text, &EDITS, &[]))
}

/// Whether the text sets two things side by side: no word in it may stand for another.
pub(crate) fn compares(text: &str) -> bool {
    speaks(text, &OF_COMPARING, COMPARING)
}

fn speaks(text: &str, words: &Words, phrases: &[&str]) -> bool {
    let lower = text.to_lowercase();
    let has_word = lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| words.contains(word));
    has_word || phrases.iter().any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_writing_are_taken_at_their_word() {
        for text in [
            "count the spaces: a  b",
            "Explain the operator ?",
            "Is this polite: give me water, please",
            "repeat after me: hello!!",
            "全角的！怎么输入",
            "3.50有几位有效数字",
        ] {
            assert!(is_about_writing(text), "{text}");
        }
        for text in ["What is the capital of France?", "红烧肉怎么做？", "How far is space?"] {
            assert!(!is_about_writing(text), "{text}");
        }
    }

    #[test]
    fn questions_that_compare_keep_their_words() {
        for text in ["difference between gray and grey", "英文和英语的区别", "is 1.0 equal to 1"] {
            assert!(compares(text), "{text}");
        }
        assert!(!compares("What is the capital of France?"));
    }
}
