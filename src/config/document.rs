//! A TOML file as written: every key and value with its place, so that an error can name file, line and path.
//!
//! Reading into a type goes on after an error: the offending entry is taken out and the rest is read again, so
//! that an operator sees everything that is wrong at once instead of one thing per attempt. There is no second
//! list of known keys to keep in step; what is known is what the types accept.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table};

use super::environment::{self, Lookup};
use super::problem::{ConfigError, Problem, nearest};

/// More problems than this are not looked for.
const MOST_PROBLEMS: usize = 32;
/// A filled-in text shorter than this is not looked for in messages; masking it would only garble them.
const SHORTEST_SECRET: usize = 4;

/// A parsed file.
#[derive(Clone)]
pub(super) struct Document<'i> {
    file: &'i str,
    text: &'i str,
    root: Spanned<DeTable<'i>>,
    /// What came out of the environment: never repeated in a message.
    filled_in: Vec<String>,
}

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The way to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Way(Vec<Step>);

// === impl Document ===

impl<'i> Document<'i> {
    /// Parses `text`; `file` is its name in messages. A blank file is refused: it is far more often a mount or
    /// an editor that failed than a wish for the defaults.
    pub(super) fn parse(file: &'i str, text: &'i str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            let reason = "the file is empty (to run with the defaults, name no file)";
            return Err(Problem { file: Some(file.to_owned()), ..Problem::at("", reason) }.into());
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        let document = Self { file, text, root, filled_in: Vec::new() };
        let mut problems: Vec<Problem> = Vec::new();
        for error in &errors {
            let problem = document.syntax_problem(error);
            // One slip of the pen makes several complaints about its line; the first says it best.
            if problems.last().is_none_or(|last| last.line != problem.line) {
                problems.push(problem);
            }
        }
        ConfigError::from_all(problems)?;
        Ok(document)
    }

    /// Fills environment variables into every text; gives what could not be filled in.
    pub(super) fn fill_in(&mut self, lookup: Lookup<'_>) -> Vec<Problem> {
        let mut found = Filling { lookup, values: Vec::new(), errors: Vec::new() };
        found.table(self.root.get_mut(), &Way::default());
        self.filled_in = found.values;
        found.errors.into_iter().map(|(way, span, reason)| self.problem(way.to_string(), &span, reason)).collect()
    }

    /// Reads the document as a `T`, with everything that is wrong. `None` only if what is wrong cannot be
    /// taken out.
    pub(super) fn read<T: DeserializeOwned>(&self) -> (Option<T>, Vec<Problem>) {
        let mut left = self.root.clone();
        let mut problems = Vec::new();
        while problems.len() < MOST_PROBLEMS {
            let error = match T::deserialize(toml::Deserializer::from(left.clone())) {
                Ok(value) => return (Some(value), problems),
                Err(error) => error,
            };
            let span = error.span().unwrap_or_default();
            let way = find(left.get_ref(), &span);
            problems.push(self.typed_problem(way.as_ref(), &span, error.message()));
            if !way.is_some_and(|way| remove(left.get_mut(), &way.0)) {
                break;
            }
        }
        (None, problems)
    }

    /// The document as plain values, texts filled in.
    pub(super) fn to_table(&self) -> Table {
        Table::deserialize(toml::Deserializer::from(self.root.clone())).unwrap_or_default()
    }

    /// Whether the file itself gives the key at this dotted path.
    pub(super) fn gives(&self, path: &str) -> bool {
        self.span_of(path).is_some()
    }

    /// Adds file and line to a problem found by `check()`, if this file gives the key or a table above it.
    pub(super) fn locate(&self, problem: Problem) -> Problem {
        let mut path = problem.path.as_str();
        loop {
            if let Some(span) = self.span_of(path) {
                let line = Some(self.line_at(span.start));
                return Problem { file: Some(self.file.to_owned()), line, ..problem };
            }
            match path.rsplit_once('.') {
                Some((above, _)) => path = above,
                None => return problem,
            }
        }
    }

    /// Where the key at this path is given; for an item of an array, such as `rules[1].task`, too.
    fn span_of(&self, path: &str) -> Option<Range<usize>> {
        let mut table = Some(self.root.get_ref());
        let mut span = None;
        for name in path.split('.') {
            let (name, index) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
                Some((name, index)) => (name, index.parse::<usize>().ok()),
                None => (name, None),
            };
            let (key, value) = table?.iter().find(|(key, _)| key.get_ref() == name)?;
            let (here, value) = match (index, value.get_ref()) {
                (Some(index), DeValue::Array(items)) => items.get(index).map(|item| (item.span(), item.get_ref()))?,
                (_, value) => (key.span(), value),
            };
            span = Some(here);
            table = match value {
                DeValue::Table(inner) => Some(inner),
                _ => None,
            };
        }
        span
    }

    fn line_at(&self, offset: usize) -> usize {
        line_at(self.text.as_bytes(), offset)
    }

    fn problem(&self, path: String, span: &Range<usize>, reason: impl fmt::Display) -> Problem {
        let mut reason = reason.to_string();
        for value in self.filled_in.iter().filter(|value| value.len() >= SHORTEST_SECRET) {
            reason = reason.replace(value.as_str(), "***");
        }
        Problem {
            file: Some(self.file.to_owned()),
            line: Some(self.line_at(span.start)),
            path,
            reason,
            suggestion: None,
        }
    }

    /// A problem of TOML's own grammar. A repeated key names the place where it was given first.
    fn syntax_problem(&self, error: &toml::de::Error) -> Problem {
        let span = error.span().unwrap_or_default();
        let path = self.written_path(span.start);
        if error.message() != "duplicate key" {
            return self.problem(path, &span, error.message());
        }
        let key = self.span_of(&path).map(|first| self.line_at(first.start));
        let header = self.text.lines().position(|line| header_of(line) == Some(&path)).map(|index| index + 1);
        let mut problem = self.problem(path, &span, "repeated key");
        if let Some(first) = header.or(key).filter(|first| Some(*first) != problem.line) {
            let _ = write!(problem.reason, ": already given on line {first}; keep one of the two");
        }
        problem
    }

    /// The path that the source writes at `offset`: the table header above it and the key on its line.
    fn written_path(&self, offset: usize) -> String {
        let offset = offset.min(self.text.len());
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        if let Some(header) = header_of(line) {
            return header.to_owned();
        }
        let table = self.text[..start].lines().rev().find_map(header_of);
        let key = line.split('=').next().unwrap_or_default().trim();
        match table {
            Some(table) if !key.is_empty() => format!("{table}.{key}"),
            Some(table) => table.to_owned(),
            None => key.to_owned(),
        }
    }

    /// A problem of the types: an unknown key, a wrong type, a value that does not read.
    fn typed_problem(&self, way: Option<&Way>, span: &Range<usize>, message: &str) -> Problem {
        let path = way.map(ToString::to_string).unwrap_or_default();
        let mut quoted = message.split('`').skip(1).step_by(2);
        let Some(written) = quoted.next().filter(|_| message.starts_with("unknown ")) else {
            return self.problem(path, span, message);
        };
        let known: Vec<&str> = quoted.collect();
        let what = if message.starts_with("unknown field") { "unknown key" } else { "unknown value" };
        let reason = match known.as_slice() {
            [] => what.to_owned(),
            names => format!("{what} {written:?}; known: {}", names.join(", ")),
        };
        Problem { suggestion: nearest(written, known), ..self.problem(path, span, reason) }
    }
}

/// The line, from 1, of a place in a text.
pub(super) fn line_at(text: &[u8], offset: usize) -> usize {
    memchr::memchr_iter(b'\n', text.get(..offset).unwrap_or_default()).count() + 1
}

fn header_of(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix('[')?;
    let line = line.strip_prefix('[').unwrap_or(line);
    line.split(']').next().map(str::trim)
}

/// The way to the key or value that stands at `span`, keys first.
fn find(table: &DeTable<'_>, span: &Range<usize>) -> Option<Way> {
    fn in_value(value: &Spanned<DeValue<'_>>, span: &Range<usize>, way: &mut Vec<Step>) -> bool {
        let inside = match value.get_ref() {
            DeValue::Table(table) => in_table(table, span, way),
            DeValue::Array(items) => items.iter().enumerate().any(|(at, item)| {
                way.push(Step::Index(at));
                let found = in_value(item, span, way);
                if !found {
                    way.pop();
                }
                found
            }),
            _ => false,
        };
        inside || value.span() == *span
    }
    fn in_table(table: &DeTable<'_>, span: &Range<usize>, way: &mut Vec<Step>) -> bool {
        table.iter().any(|(key, value)| {
            way.push(Step::Key(key.get_ref().to_string()));
            let found = key.span() == *span || in_value(value, span, way);
            if !found {
                way.pop();
            }
            found
        })
    }
    let mut way = Vec::new();
    in_table(table, span, &mut way).then_some(Way(way))
}

/// Takes the entry out; an item of an array takes the whole array with it, so that indices stay true.
fn remove(table: &mut DeTable<'_>, way: &[Step]) -> bool {
    let [Step::Key(name), rest @ ..] = way else { return false };
    let Some(key) = table.keys().find(|key| key.get_ref() == name).cloned() else { return false };
    match (rest, table.get_mut(&key).map(Spanned::get_mut)) {
        ([Step::Key(_), ..], Some(DeValue::Table(inner))) => remove(inner, rest),
        _ => table.remove(&key).is_some(),
    }
}

// === impl Way ===

impl Way {
    fn then(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(name) if at == 0 => f.write_str(name)?,
                Step::Key(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

// === impl Filling ===

/// A walk over all texts, filling in the environment.
struct Filling<'a> {
    lookup: Lookup<'a>,
    values: Vec<String>,
    errors: Vec<(Way, Range<usize>, String)>,
}

impl Filling<'_> {
    fn table(&mut self, table: &mut DeTable<'_>, way: &Way) {
        for (key, value) in table.iter_mut() {
            self.value(value, &way.then(Step::Key(key.get_ref().to_string())));
        }
    }

    fn value(&mut self, value: &mut Spanned<DeValue<'_>>, way: &Way) {
        let span = value.span();
        match value.get_mut() {
            DeValue::String(text) => match environment::expand(text, self.lookup) {
                Ok(Some(filled)) => {
                    self.values.push(filled.clone());
                    *text = Cow::Owned(filled);
                }
                Ok(None) => {}
                Err(error) => self.errors.push((way.clone(), span, error.to_string())),
            },
            DeValue::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.value(item, &way.then(Step::Index(at)));
                }
            }
            DeValue::Table(inner) => self.table(inner, way),
            _ => {}
        }
    }
}
