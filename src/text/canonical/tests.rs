use proptest::prelude::*;

use super::*;
use crate::text::normalise;
use crate::text::testing::lexicon;

fn form(text: &str) -> CanonicalForm {
    CanonicalForm::of(lexicon(), &normalise(lexicon(), text))
}

#[test]
fn manners_and_marks_are_gone() {
    for (a, b) in [
        ("请问发票怎么开", "请问, 发票怎么开??"),
        ("发票怎么开", "你好，请问发票怎么开？谢谢！"),
        ("写一首诗", "麻烦帮我写一首诗,谢谢"),
        ("把合同翻译成法文", "请把合同翻译成法文。"),
        ("Write a poem", "Please write a poem."),
        ("How do I reset my password?", "hi, how do i reset my password"),
        ("A rectangle is 5 meters long", "Hi, a rectangle is 5 meters long"),
        ("What is the weather in Tokyo", "WHAT IS THE WEATHER IN TOKYO?"),
        ("WHAT IS THE PRICE OF BREAD", "What is the price of bread?"),
        ("write quicksort in Rust", "write quicksort in rust, thanks"),
        ("explain gravity", "Could you help: explain gravity [req-8f3a91]"),
        ("6 月 3 日停水", "6月3日停水"),
    ] {
        assert_eq!(form(a), form(b));
    }
}

#[test]
fn what_may_be_meant_stays() {
    for (a, b) in [
        ("你吃了", "你吃了吗"),
        ("你好用日语怎么说", "用日语怎么说"),
        ("怎么用日语说谢谢", "怎么用日语说"),
        ("how do I say thanks", "how do I say"),
        ("How do I spell please", "How do I spell"),
        ("翻译成英文:你好，谢谢", "翻译成英文:你好"),
        ("Translate: you are here?", "Translate: you are here"),
        ("hello world program", "world program"),
        ("what is 5!", "what is 5"),
        ("what is -5 squared", "what is 5 squared"),
        ("请假流程", "假流程"),
        ("sort by 'Price'", "sort by 'price'"),
        ("grep -v", "grep -V"),
        ("他是老师?", "他是老师"),
        ("5 MW of power", "5 mW of power"),
        ("price of Apple", "price of apple"),
        ("a b", "b a"),
    ] {
        assert_ne!(form(a), form(b), "{a:?} and {b:?}");
    }
}

proptest! {
    #[test]
    fn the_form_of_a_form_is_itself(
        text in "(请问|请|hi|please|谢谢|thanks|could you|[a-zA-Z0-9 ,.?!:。，？！\n一-十天气怎么样吗\"'`-]){0,12}|\\PC{0,40}"
    ) {
        let once = form(&text);
        prop_assert_eq!(CanonicalForm::of(lexicon(), once.as_str()), once);
    }

    #[test]
    fn texts_that_differ_in_a_digit_never_have_one_form(
        before in "[a-zA-Z ,.天气怎么样一-十\"'-]{0,12}", after in "[a-zA-Z ,.?!天气怎么样一-十\"'-]{0,12}",
        a in 0_u8..10, b in 0_u8..10,
    ) {
        prop_assume!(a != b);
        prop_assert_ne!(form(&format!("{before}{a}{after}")), form(&format!("{before}{b}{after}")));
    }
}
