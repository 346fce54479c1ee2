//! Manners: greetings, requests for help and thanks, where they are manners and not what is talked about.

use super::token::{Kind, Tag, Token};

/// Whether the ends of a text are manners and marks, or part of what is to be worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// They may be folded.
    AreForm,
    /// The text is to be translated, corrected or the like: every mark of it counts.
    AreContent,
}

/// Tasks whose result depends on every mark and courtesy of the text that they are given.
const EDITS: &[&str] = &[
    "translate",
    "translation",
    "rewrite",
    "rephrase",
    "paraphrase",
    "proofread",
    "correct",
    "polish",
    "punctuate",
    "transcribe",
    "edit",
    "fix",
    "repeat",
    "echo",
    "copy",
    "spell",
    "count",
    "classify",
    "sentiment",
    "tone",
    "翻译",
    "改写",
    "润色",
    "校对",
    "纠正",
    "改正",
    "标点",
    "重复",
    "复述",
    "修改",
    "译",
    "译成",
    "语气",
    "情感",
    "判断",
    "数",
];

/// Openings that are manners whatever follows.
const OPENINGS: &[&str] = &[
    "请问一下",
    "请问",
    "麻烦问一下",
    "我想问一下",
    "我想问下",
    "我想请问一下",
    "我想请问",
    "想问一下",
    "想问下",
    "想请问一下",
    "想请问",
    "我想咨询一下",
    "想咨询一下",
    "咨询一下",
    "请教一下",
    "我想请教一下",
    "麻烦您",
    "麻烦你",
    "麻烦请",
    "劳驾",
    "拜托",
    "帮忙",
    "帮个忙",
    "麻烦帮忙",
    "请帮忙",
];
/// Greetings: only where a mark sets them off.
const GREETINGS: &[&str] = &[
    "你好",
    "您好",
    "嗨",
    "哈喽",
    "hi",
    "hello",
    "hey",
    "hi there",
    "hello there",
    "hey there",
    "good morning",
    "good afternoon",
    "good evening",
    "dear assistant",
    "could you help",
    "could you help me",
    "can you help",
    "can you help me",
    "please help",
    "please help me",
    "excuse me",
    "quick question",
    "sorry",
    "在吗",
];
/// Requests: manners before a verb that gives the task.
const REQUESTS: &[&str] = &[
    "could you please",
    "could you",
    "can you please",
    "can you",
    "would you please",
    "would you",
    "will you please",
    "i want you to",
    "i would like you to",
    "i need you to",
    "please could you",
    "please can you",
];
/// Wishes to know: manners before a question word.
const WISHES: &[&str] = &[
    "can you tell me",
    "could you tell me",
    "please tell me",
    "tell me",
    "i want to know",
    "i would like to know",
    "i'd like to know",
    "i was wondering",
    "i wonder",
    "may i ask",
];
const THANKS: &[&str] = &[
    "谢谢",
    "谢谢你",
    "谢谢您",
    "谢谢了",
    "谢谢啦",
    "多谢",
    "感谢",
    "非常感谢",
    "十分感谢",
    "感谢您",
    "辛苦了",
    "拜托了",
    "麻烦了",
    "thanks",
    "thank you",
    "thanks a lot",
    "thank you very much",
    "thank you so much",
    "thanks in advance",
    "thx",
    "cheers",
    "please",
    "many thanks",
    "much appreciated",
    "thanks so much",
];
/// Verbs that give a task, in English.
pub(crate) const TASKS: &[&str] = &[
    "write",
    "draft",
    "compose",
    "summarize",
    "summarise",
    "translate",
    "explain",
    "describe",
    "list",
    "give",
    "show",
    "tell",
    "make",
    "create",
    "generate",
    "plan",
    "calculate",
    "compute",
    "solve",
    "convert",
    "classify",
    "sort",
    "find",
    "suggest",
    "recommend",
    "compare",
    "design",
    "build",
    "implement",
    "fix",
    "check",
    "review",
    "rewrite",
    "rephrase",
    "paraphrase",
    "correct",
    "proofread",
    "answer",
    "define",
    "name",
    "help",
    "outline",
    "analyze",
    "analyse",
    "provide",
    "extract",
    "count",
    "tag",
    "label",
    "rate",
    "rank",
    "refactor",
    "debug",
    "format",
];
/// After these, `please` is a word that is spoken of.
const SPOKEN: &[&str] = &[
    "say",
    "saying",
    "says",
    "said",
    "spell",
    "word",
    "write",
    "translate",
    "mean",
    "define",
    "pronounce",
    "use",
    "than",
    "to",
    "the",
    "of",
    "you",
    "as",
    "a",
    "and",
    "or",
    "means",
    "with",
];
const WH: &[&str] = &[
    "what", "what's", "who", "who's", "whom", "whose", "which", "when", "where", "where's", "why", "how", "how's",
    "if", "whether",
];
const AUXILIARIES: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "am",
    "do",
    "does",
    "did",
    "can",
    "could",
    "should",
    "would",
    "will",
    "may",
    "must",
    "has",
    "have",
    "had",
    "isn't",
    "aren't",
    "don't",
    "doesn't",
    "didn't",
    "can't",
    "won't",
    "shouldn't",
];

/// Nobody is politer than this; the bound keeps a text of nothing but thanks from costing its length squared.
const ROUNDS: usize = 6;

/// The tokens without manners at either end. Something always remains.
pub(crate) fn strip<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let mut kept = tokens;
    for _ in 0..ROUNDS {
        let shorter = strip_opening(kept).or_else(|| strip_thanks(kept));
        match shorter {
            Some(shorter) if shorter.iter().any(|t| t.kind != Kind::Mark && t.kind != Kind::Break) => kept = shorter,
            _ => break,
        }
    }
    kept
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
    if let Some(length) = longest(tokens, GREETINGS).filter(|length| tokens.get(*length).is_some_and(is_separator)) {
        return Some(length);
    }
    if let Some(length) = longest(tokens, WISHES).filter(|length| WH.contains(&&*lower(*length))) {
        return Some(length);
    }
    if let Some(length) = longest(tokens, REQUESTS).filter(|length| TASKS.contains(&&*lower(*length))) {
        return Some(length);
    }
    if let Some(length) = longest(tokens, OPENINGS).filter(|length| *length < tokens.len()) {
        return Some(length);
    }
    let next = tokens.get(1)?;
    let speech = matches!(next.kind, Kind::Word | Kind::Han | Kind::Number | Kind::Identifier | Kind::Quote);
    let single = match &*lower(0) {
        "please" | "kindly" => (speech || is_separator(next)) && lower(1) != "please",
        "hi" | "hello" | "hey" => WH.contains(&&*lower(1)) || AUXILIARIES.contains(&&*lower(1)) || lower(1) == "please",
        "请" => speech,
        "麻烦" => speech && !matches!(&*next.text, "的" | "事" | "了" | "大" | "是" | "在" | "制造者"),
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
        let spoken = SPOKEN.contains(&&*before.text.to_ascii_lowercase()) || before.kind != Kind::Word;
        if (own_clause && !has_edit(tokens)) || (please && !own_clause && !spoken) {
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
    let english = tokens.iter().enumerate().any(|(at, token)| {
        token.kind == Kind::Word
            && (WH.contains(&&*lower(token)) || (begins(at) && AUXILIARIES.contains(&&*lower(token))))
    });
    let ordered = TASKS.contains(&&*lower(first)) || tokens.get(1).is_some_and(|t| t.text == "of") || has_task(tokens);
    english || ordered || asks_in_chinese(tokens)
}

/// An order after an introduction: `As a teacher, write …`
fn has_task(tokens: &[Token<'_>]) -> bool {
    tokens.windows(2).any(|pair| pair[0].text == "," && TASKS.contains(&&*pair[1].text))
}

fn asks_in_chinese(tokens: &[Token<'_>]) -> bool {
    let han = || tokens.iter().filter(|t| t.kind == Kind::Han);
    let asked =
        han().any(|t| {
            t.text.contains(['么', '吗', '呢', '谁', '哪', '几', '何', '否', '吧'])
                || t.text.contains("多少")
                || is_a_not_a(&t.text)
        }) || tokens.windows(3).any(|three| three[0].text == three[2].text && matches!(&*three[1].text, "不" | "没"));
    let ordered = tokens.first().is_some_and(|t| {
        (t.tag == Tag::Verb && !matches!(&*t.text, "是" | "有" | "在" | "会" | "能" | "可以"))
            || matches!(&*t.text, "把" | "用" | "以" | "为" | "给" | "将" | "按")
    });
    let states = han().any(|t| {
        matches!(&*t.text, "是" | "有" | "在" | "会" | "能" | "了" | "可以" | "要" | "都" | "已经" | "不" | "没")
    });
    let nominal = tokens.last().is_some_and(|t| t.kind == Kind::Han || t.kind == Kind::Mark)
        && tokens.iter().rfind(|t| t.kind != Kind::Mark).is_some_and(|t| matches!(t.tag, Tag::Noun | Tag::Name))
        && !states;
    asked || ordered || nominal
}

/// 要不要, 能不能, 有没有
fn is_a_not_a(word: &str) -> bool {
    let mut characters = word.chars();
    let (first, not, second) = (characters.next(), characters.next(), characters.next());
    first == second && first.is_some() && matches!(not, Some('不' | '没'))
}
