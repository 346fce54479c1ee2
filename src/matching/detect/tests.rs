//! The table of prompts and the order of precedence.

use super::*;

fn detected(question: &str) -> String {
    let hints = TaskHints { route: Route::Chat, path: "/v1/chat/completions", model: "m", named: None, question };
    TaskDetector::built_in().name_task(&hints).unwrap().to_string()
}

#[test]
fn a_prompt_that_begins_with_an_instruction_has_its_task() {
    let table = [
        ("总结下面的文章：今天天气很好", "summarization"),
        ("请帮我概括一下这段话", "summarization"),
        ("Please summarize the following article.", "summarization"),
        ("Could you summarise this for me?", "summarization"),
        ("翻译成英文：你好", "translation"),
        ("把下面这句话翻译成英文：今天下雨", "translation"),
        ("Translate into French: good morning", "translation"),
        ("对以下评论进行分类：好评、差评", "classification"),
        ("Classify the sentiment: I love it", "classification"),
        ("写一篇关于春天的作文", "generation"),
        ("请生成一段商品文案", "generation"),
        ("Write a poem about the sea", "generation"),
        ("写一个排序函数", "code"),
        ("Fix the bug below", "code"),
        ("Why does my Python loop never end?", "code"),
        ("What does this print?\n```\nprint(1)\n```", "code"),
        ("什么是光合作用？", "qa"),
        ("What is photosynthesis?", "qa"),
        ("what is photosynthesis", "qa"),
        ("法国的首都是哪里", "qa"),
        ("你好！", "chat"),
        ("Hello", "chat"),
        ("Describe the water cycle.", "default"),
        ("", "default"),
        ("\u{0}\n\n", "default"),
    ];
    for (question, task) in table {
        assert_eq!(detected(question), task, "{question}");
    }
}

#[test]
fn spellings_that_may_share_have_one_task() {
    for spellings in [
        ["What is photosynthesis?", "ｗｈａｔ　ｉｓ photosynthesis", "please,  WHAT is photosynthesis?"],
        ["Describe the water cycle.", "Could you describe the water cycle?", "describe  the water cycle"],
        ["what is photosynthesis", "Hi there, what is photosynthesis", "[req-ab12] Excuse me, what is photosynthesis"],
        ["介绍北京", "请介绍北京", "能不能介绍北京？"],
        ["翻译：早上好", "您好，请翻译：早上好", "[request_id=17] 麻烦翻译：早上好"],
        ["总结：今天下雨", "麻烦您总结：今天下雨", "可以帮我总结:今天下雨？"],
    ] {
        let tasks = spellings.map(detected);
        assert!(tasks.iter().all(|task| *task == tasks[0]), "{spellings:?}: {tasks:?}");
    }
}

#[test]
fn an_instruction_behind_a_long_text_is_found_in_the_last_line() {
    assert_eq!(detected(&format!("{}\n\nSummarize the text above.", "A long story. ".repeat(500))), "summarization");
}

#[test]
fn a_word_within_the_payload_or_a_question_is_no_instruction() {
    for (question, task) in [
        ("生物分类是什么？", "qa"),
        ("How is a summary different from an abstract?", "qa"),
        ("The translation bureau closed.\nIt was a long winter.", "default"),
        ("把苹果分类的标准是什么", "qa"),
        ("Rewrite: to classify is human", "default"),
        ("The debugger's ghost", "default"),
    ] {
        assert_eq!(detected(question), task, "{question}");
    }
}

#[test]
fn the_callers_word_beats_rules_beats_the_prompt() {
    let names: Vec<TaskName> = BUILT_IN.iter().map(|name| TaskName::new(name)).collect();
    let rule = TaskRule { path: None, model: Some("qwen-*-code*".into()), task: "code".into() };
    let detector = TaskDetector::new(&names, vec![rule], &BTreeMap::new()).unwrap();
    let hints = TaskHints {
        route: Route::Chat,
        path: "/v1/chat/completions",
        model: "qwen-32b-coder",
        named: None,
        question: "翻译：你好",
    };
    let task = |hints: &TaskHints<'_>| detector.name_task(hints).unwrap().to_string();
    assert_eq!(task(&TaskHints { named: Some("chat"), ..hints }), "chat");
    assert_eq!(task(&hints), "code");
    assert_eq!(task(&TaskHints { model: "qwen-32b", ..hints }), "translation");
    assert_eq!(task(&TaskHints { model: "qwen-32b", route: Route::Embeddings, ..hints }), "embedding");
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let hints = TaskHints { route: Route::Chat, path: "/", model: "m", named: Some("sumarization"), question: "x" };
    let error = TaskDetector::built_in().name_task(&hints).unwrap_err();
    assert!(error.to_string().contains("generation, summarization"), "{error}");
}

#[test]
fn operators_add_tasks_with_their_own_words() {
    let names = [TaskName::new("default"), TaskName::new("legal")];
    let words = BTreeMap::from([(TaskName::new("legal"), vec!["合同".to_owned(), "Contract".to_owned()])]);
    let detector = TaskDetector::new(&names, Vec::new(), &words).unwrap();
    for (question, task) in [("审查这份合同", "legal"), ("Review the contract.", "legal"), ("总结", "default")]
    {
        let hints = TaskHints { route: Route::Chat, path: "/", model: "m", named: None, question };
        assert_eq!(detector.name_task(&hints).unwrap().as_str(), task, "{question}");
    }
}

#[test]
fn a_rule_or_word_for_an_undefined_task_is_refused() {
    let names = [TaskName::new("default")];
    let rule = TaskRule { task: "cod".into(), ..TaskRule::default() };
    assert_eq!(
        TaskDetector::new(&names, vec![rule], &BTreeMap::new()).unwrap_err(),
        DetectError::UnknownInRule { rule: 0, task: "cod".into() }
    );
    let words = BTreeMap::from([(TaskName::new("cod"), Vec::new())]);
    assert_eq!(TaskDetector::new(&names, Vec::new(), &words).unwrap_err(), DetectError::UnknownInWords("cod".into()));
    assert_eq!(TaskDetector::new(&[], Vec::new(), &BTreeMap::new()).unwrap_err(), DetectError::NoDefault);
}

#[test]
fn a_star_stands_for_any_characters() {
    for (pattern, text, fits) in [
        ("*", "", true),
        ("a*c", "abbc", true),
        ("a*c", "acb", false),
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("*b*b", "bb", true),
        ("a*a", "a", false),
    ] {
        assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
    }
}
