//! Languages and scripts, of people and of programs.

use std::sync::LazyLock;

use super::tables::{Words, words};

pub(super) static WORDS: Words = LazyLock::new(|| {
    words(
        "english chinese mandarin cantonese french german spanish portuguese italian dutch swedish danish norwegian finnish \
         polish Polish russian ukrainian czech greek turkish arabic hebrew persian hindi bengali urdu japanese korean \
         vietnamese thai indonesian malay latin simplified traditional pinyin braille cyrillic kanji hiragana katakana \
         python java javascript typescript rust go ruby php swift kotlin scala perl haskell sql bash html css json yaml xml csv \
         中文 汉语 普通话 国语 粤语 英文 英语 法文 法语 德文 德语 西班牙文 西班牙语 葡萄牙语 意大利语 意大利文 俄语 俄文 日文 日语 韩文 韩语 \
         阿拉伯语 印地语 泰语 越南语 拉丁语 希腊语 简体 繁体 简体中文 繁体中文 文言文 白话文 拼音 方言 四川话 东北话 上海话",
    )
});
