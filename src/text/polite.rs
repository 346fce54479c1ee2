//! Manners: greetings, requests for help and thanks, where they are manners and not what is talked about.

mod words;

use super::token::{Kind, Tag, Token};

use words::{
    AUXILIARIES, BEGINNINGS, EDITS, GREETINGS, MEASURED, OPENINGS, REQUESTS, SPOKEN, TASKS, TELLING, THANKS, WH, WISHES,
};

/// Whether the ends of a text are manners and marks, or part of what is to be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// They may be folded.
    AreForm,
    /// The text is to be translated, corrected or the like: every mark of it counts.
    AreContent,
}

/// Nobody is politer than this; the bound keeps a text of nothing but thanks from costing its length squared.
const ROUNDS: usize = 6;

/// Fewer words than this beside a courtesy may be a name that it belongs to: `Hello, Dolly`.
const LEAST: usize = 2;

/// The tokens without manners at either end. Something always remains.
pub(crate) fn strip<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    if speaks_of_courtesy(tokens) {
        // `Please write a song` is an order all the same.
        let ordered =
            |rest: &&[Token<'_>]| rest.first().is_some_and(|t| TASKS.contains(&&*t.text.to_ascii_lowercase()));
        return strip_opening(tokens).filter(ordered).unwrap_or(tokens);
    }
    let mut kept = tokens;
    for _ in 0..ROUNDS {
        let shorter = strip_opening(kept).or_else(|| strip_thanks(kept));
        match shorter {
            Some(shorter)
                if shorter.iter().filter(|t| !matches!(t.kind, Kind::Mark | Kind::Break)).count() >= LEAST =>
            {
                kept = shorter;
            }
            _ => break,
        }
    }
    kept
}

/// Whether a courtesy in the text may be what it is about: `how do you say, thank you`.
fn speaks_of_courtesy(tokens: &[Token<'_>]) -> bool {
    let said = tokens.iter().any(|token| SAID.contains(&&*token.text.to_ascii_lowercase()));
    // `Hello, in Japanese`, `please in Spanish`, 谢谢用英语怎么说.
    let in_a_language = tokens.windows(2).any(|two| &*two[0].text == "," && &*two[1].text == "in")
        || tokens.get(1).is_some_and(|token| &*token.text == "in");
    let put_into_words = tokens.windows(2).any(|two| {
        matches!(&*two[0].text, "怎么" | "如何" | "怎样")
            && two[1].text.starts_with(['说', '讲', '翻', '写', '念', '读', '表'])
    });
    said || in_a_language || put_into_words
}

// === impl Ends ===

impl Ends {
    /// Whether somebody is asked to work on a text that is given after a colon or on a line of its own.
    pub(crate) fn of(tokens: &[Token<'_>]) -> Self {
        let given = tokens.iter().any(|t| t.kind == Kind::Break || (t.kind == Kind::Mark && t.text == ":"));
        if given && has_edit(tokens) { Self::AreContent } else { Self::AreForm }
    }
}

fn has_edit(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| match token.kind {
        Kind::Word => EDITS.contains(&&*token.text.to_ascii_lowercase()),
        // The segmenter may have joined a verb with its complement: 翻译成.
        Kind::Han => EDITS.iter().any(|edit| token.text.starts_with(edit)),
        _ => false,
    })
}

/// Whether what follows a courtesy and its marks is a sentence of its own, and not the rest of a title.
fn begins_sentence(rest: &[Token<'_>]) -> bool {
    let marks = rest.iter().take_while(|t| is_separator(t)).count();
    let rest = &rest[marks..];
    let Some(first) = rest.first() else { return false };
    let lower = first.text.to_ascii_lowercase();
    match first.kind {
        Kind::Word => [WH, AUXILIARIES, TASKS, BEGINNINGS].iter().any(|list| list.contains(&&*lower)),
        Kind::Han => first.tag != Tag::Name || asks_or_orders_in_chinese(rest),
        _ => true,
    }
}

/// How many tokens at the beginning spell `phrase`; blanks do not count in Chinese.
fn prefix(tokens: &[Token<'_>], phrase: &str) -> Option<usize> {
    let mut rest = phrase;
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token.kind, Kind::Word | Kind::Han) {
            return None;
        }
        let text = token.text.to_ascii_lowercase();
        rest = rest.strip_prefix(&*text)?;
        if rest.is_empty() {
            return Some(at + 1);
        }
        if token.kind == Kind::Word {
            rest = rest.strip_prefix(' ')?;
        }
    }
    None
}

fn longest(tokens: &[Token<'_>], phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| prefix(tokens, phrase)).max()
}

fn is_separator(token: &Token<'_>) -> bool {
    token.kind == Kind::Break
        || (token.kind == Kind::Mark && matches!(&*token.text, "," | "." | "!" | ":" | "。" | "~" | ";" | "、" | "?"))
}

fn strip_opening<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    let opening = opening_len(tokens)?;
    let rest = &tokens[opening..];
    let marks = rest.iter().take_while(|t| is_separator(t)).count();
    (marks < rest.len()).then(|| &rest[marks..])
}

fn opening_len(tokens: &[Token<'_>]) -> Option<usize> {
    let lower = |at: usize| tokens.get(at).map_or_else(String::new, |t| t.text.to_ascii_lowercase());
    if let Some(length) = longest(tokens, GREETINGS)
        && tokens.get(length).is_some_and(is_separator)
        && begins_sentence(&tokens[length..])
    {
        return Some(length);
    }
    if let Some(length) = prefix(tokens, "can you").filter(|length| TELLING.contains(&&*lower(*length))) {
        return Some(length);
    }
    if let Some(length) = longest(tokens, WISHES).filter(|length| WH.contains(&&*lower(*length))) {
        return Some(length);
    }
    // `could you find life on Mars` asks whether it can be done.
    let asks_for = |length: &usize| {
        TASKS.contains(&&*lower(*length)) && (!DEEDS.contains(&&*lower(*length)) || lower(*length + 1) == "me")
    };
    if let Some(length) = longest(tokens, REQUESTS).filter(asks_for) {
        return Some(length);
    }
    if let Some(length) = longest(tokens, OPENINGS).filter(|length| *length < tokens.len()) {
        return Some(length);
    }
    let next = tokens.get(1)?;
    let speech = matches!(next.kind, Kind::Word | Kind::Han | Kind::Number | Kind::Identifier | Kind::Quote);
    let single = match &*lower(0) {
        "please" | "kindly" => {
            let again =
                tokens[1..].iter().find(|t| !is_separator(t)).is_some_and(|t| t.text.eq_ignore_ascii_case("please"));
            begins_sentence(&tokens[1..]) && (!again || TASKS.contains(&&*lower(2)))
        }
        "hi" | "hello" | "hey" => WH.contains(&&*lower(1)) || AUXILIARIES.contains(&&*lower(1)) || lower(1) == "please",
        // 请律师 hires one, 请你吃饭 invites, 帮忙搬家 is a service.
        "请" => {
            let person = matches!(next.tag, Tag::Name | Tag::Pronoun) && !next.text.contains(['何', '么', '哪', '谁']);
            speech && !person && !INVITED.contains(&&*next.text)
        }
        "帮忙" => speech && (next.tag != Tag::Verb || &*next.text == "请" || TASKS.contains(&&*next.text)),
        "麻烦" => {
            speech
                && !matches!(
                    &*next.text,
                    "的" | "事" | "事情" | "问题" | "人" | "精" | "了" | "大" | "是" | "在" | "制造者"
                )
        }
        _ => false,
    };
    if single {
        return Some(1);
    }
    // 帮我 + what is to be done.
    let helped = prefix(tokens, "帮我").or_else(|| prefix(tokens, "请帮我"))?;
    let task = tokens.get(helped)?;
    let does = task.tag == Tag::Verb || matches!(&*task.text, "把" | "用" | "以" | "给" | "为" | "将" | "按");
    does.then_some(helped)
}

fn strip_thanks<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    if Ends::of(tokens) == Ends::AreContent {
        return None;
    }
    let end = tokens.iter().rposition(|t| !is_separator(t))? + 1;
    for length in (1..=4.min(end)).rev() {
        let from = end - length;
        if longest(&tokens[from..end], THANKS) != Some(length) {
            continue;
        }
        let before = tokens[..from].last()?;
        let own_clause = is_separator(before) && before.text != ":";
        let please = length == 1 && tokens[from].text.eq_ignore_ascii_case("please");
        let spoken = SPOKEN.contains(&&*before.text.to_ascii_lowercase())
            || !matches!(before.kind, Kind::Word | Kind::Number | Kind::Identifier);
        // `… for the next episode Thank you!`: the capital begins a sentence of its own.
        let own_sentence = tokens[from].text.starts_with("Thank") && before.kind == Kind::Word && !spoken;
        if ((own_clause || own_sentence) && !has_edit(tokens)) || (please && !own_clause && !spoken) {
            return Some(&tokens[..from]);
        }
    }
    None
}

/// Whether a text asks or orders even without its question mark; where it does not, the mark is the question.
pub(crate) fn asks_anyway(tokens: &[Token<'_>]) -> bool {
    let Some(first) = tokens.first() else { return false };
    let lower = |token: &Token<'_>| token.text.to_ascii_lowercase();
    let begins = |at: usize| at == 0 || matches!(&*tokens[at - 1].text, "," | "." | "!" | ":");
    // `in which year …`; but `he knows when it starts?` asks by its mark alone.
    let leads = |at: usize| begins(at) || (begins(at - 1) && PREPOSITIONS.contains(&&*lower(&tokens[at - 1])));
    let english = tokens.iter().enumerate().any(|(at, token)| {
        token.kind == Kind::Word
            && ((leads(at) && WH.contains(&&*lower(token))) || (begins(at) && AUXILIARIES.contains(&&*lower(token))))
    });
    let ordered = TASKS.contains(&&*lower(first)) || tokens.get(1).is_some_and(|t| t.text == "of") || has_task(tokens);
    english || ordered || asks_in_chinese(tokens)
}

const PREPOSITIONS: [&str; 14] =
    ["in", "on", "at", "for", "to", "of", "by", "from", "with", "about", "under", "and", "so", "but"];

/// Words that only look like question words.
const NOT_ASKING: [&str; 17] = [
    "几乎",
    "任何",
    "那么",
    "这么",
    "多么",
    "要么",
    "什么的",
    "几何",
    "何必",
    "何况",
    "无论何时",
    "否则",
    "否定",
    "否认",
    "酒吧",
    "任何人",
    "任何事",
];

/// Words that speak of what is said or written to somebody.
const SAID: [&str; 37] = [
    "say",
    "says",
    "said",
    "saying",
    "phrase",
    "phrases",
    "synonym",
    "synonyms",
    "greeting",
    "greetings",
    "forget",
    "forgets",
    "forgot",
    "remember",
    "reply",
    "respond",
    "sign",
    "end",
    "close",
    "song",
    "lyrics",
    "titled",
    "called",
    "named",
    "mean",
    "means",
    "回复",
    "回信",
    "结尾",
    "开头",
    "称呼",
    "问候",
    "敬语",
    "近义词",
    "反义词",
    "意思",
    "造句",
];

/// Whom one hires or invites, and to what.
const INVITED: [&str; 38] = [
    "老师",
    "律师",
    "保姆",
    "医生",
    "大夫",
    "家教",
    "客人",
    "阿姨",
    "朋友",
    "同学",
    "同事",
    "领导",
    "老板",
    "人",
    "师傅",
    "工人",
    "月嫂",
    "钟点工",
    "护工",
    "护士",
    "教练",
    "导游",
    "司机",
    "厨师",
    "专家",
    "顾问",
    "会计",
    "中介",
    "代驾",
    "嘉宾",
    "明星",
    "道士",
    "客",
    "假",
    "饭",
    "吃饭",
    "喝酒",
    "喝茶",
];

/// Tasks that may also be deeds of the person who is asked.
const DEEDS: [&str; 16] = [
    "give", "name", "build", "find", "help", "rate", "make", "design", "plan", "solve", "count", "test", "choose",
    "pick", "create", "define",
];

/// An order after an introduction: `As a teacher, write …`
fn has_task(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).any(|pair| pair[0].text == "," && TASKS.contains(&&*pair[1].text))
}

fn asks_in_chinese(tokens: &[Token<'_>]) -> bool {
    let states = tokens.iter().filter(|t| t.kind == Kind::Han).any(|t| {
        matches!(&*t.text, "是" | "有" | "在" | "会" | "能" | "了" | "可以" | "要" | "都" | "已经" | "不" | "没")
    });
    let last = tokens.iter().rfind(|t| t.kind != Kind::Mark);
    let nominal = last.is_some_and(|t| matches!(t.tag, Tag::Noun | Tag::Name)) && !states;
    asks_or_orders_in_chinese(tokens) || nominal
}

fn asks_or_orders_in_chinese(tokens: &[Token<'_>]) -> bool {
    let han = || tokens.iter().filter(|t| t.kind == Kind::Han);
    let asked =
        han().any(|t| {
            (t.text.contains(['么', '吗', '呢', '谁', '哪', '几', '何', '否', '吧']) && !NOT_ASKING.contains(&&*t.text))
                || MEASURED.contains(&&*t.text)
                || is_a_not_a(&t.text)
        }) || tokens.windows(3).any(|three| three[0].text == three[2].text && matches!(&*three[1].text, "不" | "没"));
    let ordered = tokens.first().is_some_and(|t| {
        (t.tag == Tag::Verb && !matches!(&*t.text, "是" | "有" | "在" | "会" | "能" | "可以"))
            || matches!(&*t.text, "把" | "用" | "以" | "为" | "给" | "将" | "按")
    });
    asked || ordered
}

/// 要不要, 能不能, 有没有
fn is_a_not_a(word: &str) -> bool {
    let mut characters = word.chars();
    let (first, not, second) = (characters.next(), characters.next(), characters.next());
    first == second && first.is_some() && matches!(not, Some('不' | '没'))
}
