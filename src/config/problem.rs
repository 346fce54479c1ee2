//! What is wrong with a configuration, said so that it can be put right: file, line, key path, reason and,
//! where a name was mistyped, the name that was probably meant.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the operator named it; `None` for a value that came from no file.
    pub file: Option<String>,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// Path of the key, such as `tasks.math.semantic`; empty if the file as a whole is meant.
    pub path: String,
    /// What is wrong with it, as a lower-case fragment.
    pub reason: String,
    /// The known name that is nearest to a mistyped one.
    pub suggestion: Option<String>,
}

/// Everything that is wrong with a configuration; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

/// Names further than this from what was written are no suggestion (Jaro-Winkler, 0..=1).
const ALIKE: f64 = 0.75;

/// The candidate that `written` was probably meant to be.
pub(super) fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .map(|name| (strsim::jaro_winkler(written, name), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name.to_owned())
}

// === impl Problem ===

impl Problem {
    /// A problem with the value at `path` that came from no file.
    pub(super) fn at(path: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self { file: None, line: None, path: path.into(), reason: reason.to_string(), suggestion: None }
    }
}

/// `weir.toml:12: tasks.math.similarty: unknown key (did you mean "similarity"?)`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, _) => {}
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.reason)?;
        match &self.suggestion {
            Some(name) => write!(f, " (did you mean {name:?}?)"),
            None => Ok(()),
        }
    }
}

// === impl ConfigError ===

impl ConfigError {
    /// All problems, in the order in which they were found.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// `Err` with the problems, or `Ok` if there are none.
    pub(super) fn from_all(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}
