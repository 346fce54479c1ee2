use proptest::prelude::*;

use super::*;
use crate::text::testing::lexicon;

fn normal(text: &str) -> String {
    normalise(lexicon(), text)
}

#[test]
fn accidents_are_folded() {
    for (a, b) in [
        ("  how  are   you ", "how are you"),
        ("下面２０条评论，好吗？", "下面20条评论,好吗?"),
        ("怎么导出\u{200b}报表?\u{feff}", "怎么导出报表?"),
        ("What is love?", "what is love?"),
        ("caf\u{65}\u{301}", "caf\u{e9}"),
    ] {
        assert_eq!(normal(a), normal(b));
    }
}

#[test]
fn what_is_literal_only_before_trimming_is_folded() {
    // Found by the property below.
    assert_eq!(normal("！\t"), normal("!"));
}

#[test]
fn meaning_is_kept() {
    for (a, b) in [
        ("10² 乘以 3", "102 乘以 3"),
        ("½ cup", "1/2 cup"),
        ("① first", "1 first"),
        ("5 ㎡", "5 m2"),
        ("grep -v", "grep -V"),
        ("sort by 'Price'", "sort by 'price'"),
        ("run `a  b`", "run `a b`"),
        ("say \"a  b\"", "say \"a b\""),
        ("sınır ne demek", "sinir ne demek"),
        ("می\u{200c}خواهم", "میخواهم"),
        ("x\n    y", "x\n  y"),
        ("Polish shoes", "polish shoes"),
        ("5 - 3", "5 -3"),
    ] {
        assert_ne!(normal(a), normal(b), "{a:?} and {b:?}");
    }
}

#[test]
fn turkish_capitals_neither_panic_nor_shift() {
    assert_eq!(normal("İSTANBUL nerede"), "İSTANBUL nerede");
}

proptest! {
    #[test]
    fn normalising_twice_changes_nothing_more(text in "\\PC{0,60}|[ \\n\\t`'\"A-Za-z0-9一-十,。？！\u{200b}]{0,40}") {
        let once = normal(&text);
        prop_assert_eq!(normal(&once), once);
    }
}
