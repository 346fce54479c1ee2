//! Which task is this? By the caller's word, else by the operator's rules, else by the prompt.
//!
//! A task decides how freely a call is shared, so a wrong guess must err towards caution: the prompt
//! is read only where an instruction stands (the first and the last line, as far as `HEAD`
//! reaches), code wins over everything, and a question is a question even if it mentions a summary.
//! Only what *begins* with an instruction, politeness aside, is that instruction. Width, case, blanks,
//! politeness and the mark at the end change nothing: two spellings of one question that the canonical
//! tier would join must not be kept apart by their task.

mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{NameTask, Route, TaskHints, TaskName, UnknownTask};

use words::{ASKING_EN, ASKING_ZH, CODE, INSTRUCTIONS, POLITE, SMALL_TALK};

/// The tasks that exist without configuration.
pub const BUILT_IN: [&str; 9] =
    ["generation", "summarization", "classification", "embedding", "qa", "translation", "code", "chat", "default"];

/// How much of a line is read, in characters.
const HEAD: usize = 160;

/// A rule of the operator: calls of that path and model have that task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskRule {
    /// The exact path; any if absent.
    pub path: Option<String>,
    /// The model, where `*` stands for any characters; any if absent.
    pub model: Option<String>,
    /// The task.
    pub task: String,
}

/// The configuration names a task that it does not define.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DetectError {
    /// There must be a task for calls that nothing else fits.
    #[error("the task `default` is missing")]
    NoDefault,
    /// A rule names an undefined task.
    #[error("task rule {rule} names the unknown task `{task}`")]
    UnknownInRule {
        /// Position of the rule, from 0.
        rule: usize,
        /// The name.
        task: String,
    },
    /// Extra words for an undefined task.
    #[error("words are given for the unknown task `{0}`")]
    UnknownInWords(String),
}

/// Names tasks. Immutable; a reload makes another.
#[derive(Clone, Debug)]
pub struct TaskDetector {
    names: Vec<TaskName>,
    rules: Vec<TaskRule>,
    /// The operator's own words, in lower case.
    words: Vec<(TaskName, Vec<String>)>,
    fallback: TaskName,
}

// === impl TaskDetector ===

impl TaskDetector {
    /// A detector for these tasks. Rules are asked in order; `words` extend what the prompt is
    /// searched for, before the built-in words.
    pub fn new(
        names: &[TaskName],
        rules: Vec<TaskRule>,
        words: &BTreeMap<TaskName, Vec<String>>,
    ) -> Result<Self, DetectError> {
        let is_known = |task: &str| names.iter().any(|name| name.as_str() == task);
        if !is_known("default") {
            return Err(DetectError::NoDefault);
        }
        if let Some((rule, bad)) = rules.iter().enumerate().find(|(_, rule)| !is_known(&rule.task)) {
            return Err(DetectError::UnknownInRule { rule, task: bad.task.clone() });
        }
        if let Some(bad) = words.keys().find(|task| !is_known(task.as_str())) {
            return Err(DetectError::UnknownInWords(bad.to_string()));
        }
        let lower = |list: &Vec<String>| list.iter().map(|word| word.to_lowercase()).collect();
        Ok(Self {
            names: names.to_vec(),
            rules,
            words: words.iter().map(|(task, list)| (task.clone(), lower(list))).collect(),
            fallback: TaskName::new("default"),
        })
    }

    /// A detector for the tasks that exist without configuration.
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            names: BUILT_IN.iter().map(|name| TaskName::new(name)).collect(),
            rules: Vec::new(),
            words: Vec::new(),
            fallback: TaskName::new("default"),
        }
    }

    /// The configured task of that name; an operator may have removed one.
    fn known(&self, name: &str) -> Option<&TaskName> {
        self.names.iter().find(|known| known.as_str() == name)
    }

    fn detect(&self, question: &str) -> TaskName {
        let lines = instruction_lines(question);
        let own = self.words.iter().find(|(_, words)| lines.iter().any(|line| contains_any(line, words)));
        match own {
            Some((task, _)) => task.clone(),
            None => built_in_task(question, &lines).and_then(|name| self.known(name)).unwrap_or(&self.fallback).clone(),
        }
    }
}

impl NameTask for TaskDetector {
    fn name_task(&self, hints: &TaskHints<'_>) -> Result<TaskName, UnknownTask> {
        if let Some(name) = hints.named {
            return self.known(name).cloned().ok_or_else(|| UnknownTask { known: self.names.clone() });
        }
        if let Some(task) = self.rules.iter().find(|rule| rule.fits(hints)).and_then(|rule| self.known(&rule.task)) {
            return Ok(task.clone());
        }
        match hints.route {
            Route::Embeddings => Ok(self.known("embedding").unwrap_or(&self.fallback).clone()),
            Route::Chat | Route::Completions | Route::Ai => Ok(self.detect(hints.question)),
            Route::Other => Ok(self.fallback.clone()),
        }
    }
}

// === impl TaskRule ===

impl TaskRule {
    fn fits(&self, hints: &TaskHints<'_>) -> bool {
        self.path.as_ref().is_none_or(|path| path == hints.path)
            && self.model.as_ref().is_none_or(|model| glob(model, hints.model))
    }
}

/// `*` stands for any characters, also none.
fn glob(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some(found) = rest.find(piece) else { return false };
        rest = &rest[found + piece.len()..];
    }
    rest.ends_with(last)
}

// === the built-in words ===

/// The first and the last line that hold anything, folded.
fn instruction_lines(question: &str) -> Vec<String> {
    let mut lines = question.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next();
    let last = lines.next_back();
    [first, last].into_iter().flatten().map(folded_head).collect()
}

/// The beginning of a line in lower case, half width and with single blanks.
fn folded_head(line: &str) -> String {
    let head: String = line.chars().take(HEAD).map(half_width).flat_map(char::to_lowercase).collect();
    head.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The ASCII twin of a full-width character.
fn half_width(c: char) -> char {
    match c {
        '\u{3000}' => ' ',
        '\u{FF01}'..='\u{FF5E}' => u32::from(c).checked_sub(0xFEE0).and_then(char::from_u32).unwrap_or(c),
        _ => c,
    }
}

fn built_in_task(question: &str, lines: &[String]) -> Option<&'static str> {
    if question.contains("```") || lines.iter().any(|line| contains_any(line, &CODE)) {
        return Some("code");
    }
    let bare: Vec<&str> = lines.iter().map(|line| without_politeness(line)).collect();
    let instructed = bare.iter().find_map(|line| instruction(line));
    if instructed.is_some() {
        return instructed;
    }
    if bare.iter().any(|line| is_question(line)) {
        return Some("qa");
    }
    let whole = question.trim().trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    SMALL_TALK.contains(&whole.as_str()).then_some("chat")
}

/// The task whose word a line begins with. `把…翻译成…` and `对…进行分类` put their object first.
fn instruction(line: &str) -> Option<&'static str> {
    let object_first = line.starts_with(['把', '将', '对']);
    let begins = |word: &str| {
        if object_first { !word.is_ascii() && line.contains(word) } else { starts_with_word(line, word) }
    };
    let is_object_question = object_first && is_question(line);
    INSTRUCTIONS
        .iter()
        .find(|(_, words)| !is_object_question && words.iter().any(|word| begins(word)))
        .map(|(task, _)| *task)
}

fn is_question(line: &str) -> bool {
    ASKING_ZH.iter().any(|word| line.contains(word)) || ASKING_EN.iter().any(|word| starts_with_word(line, word))
}

/// Drops everything that a line begins with and that asks nothing: greetings, politeness, `[req-17]`.
fn without_politeness(mut line: &str) -> &str {
    loop {
        line = line.trim_start_matches([' ', ',', ':', '!', '、', '。']);
        if let Some((_, rest)) = line.strip_prefix('[').and_then(|label| label.split_once(']')) {
            line = rest;
            continue;
        }
        let Some(word) = POLITE.iter().find(|word| starts_with_word(line, word)) else { return line };
        line = &line[word.len()..];
    }
}

fn contains_any<W: AsRef<str>>(line: &str, words: &[W]) -> bool {
    words.iter().map(AsRef::as_ref).any(|word| {
        line.match_indices(word)
            .any(|(at, _)| !word.is_ascii() || (ends_word(&line[..at]) && starts_with_word(&line[at..], word)))
    })
}

/// A Chinese word needs no end; an English one must not go on.
fn starts_with_word(line: &str, word: &str) -> bool {
    line.strip_prefix(word)
        .is_some_and(|rest| !word.is_ascii() || !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

fn ends_word(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests;
