//! Bytes to [`Json`]: one pass, recursive, bounded by [`MAX_DEPTH`].

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memchr2;

use super::{Json, MAX_DEPTH, MAX_VALUES, Member, Number};

/// Why bytes are not the JSON that we accept, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {at}")]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// Path of the value in question, such as `messages[0].content`; `None` for the whole document.
    pub path: Option<String>,
    /// Position in bytes.
    pub at: usize,
}

/// What can be wrong with JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// Not one byte but white space.
    #[error("empty document")]
    Empty,
    /// Bytes that are no UTF-8.
    #[error("invalid UTF-8")]
    NotUtf8,
    /// A byte order mark in front.
    #[error("byte order mark")]
    ByteOrderMark,
    /// Something behind the document.
    #[error("trailing characters")]
    Trailing,
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("nesting is too deep")]
    TooDeep,
    /// More values than [`MAX_VALUES`].
    #[error("too many values")]
    TooMany,
    /// The same key twice in one object.
    #[error("duplicate key")]
    DuplicateKey,
    /// A number that no 64-bit float holds.
    #[error("number out of range")]
    NumberRange,
    /// Not JSON.
    #[error("malformed JSON")]
    Malformed,
    /// The document ends too early.
    #[error("unexpected end of JSON")]
    UnexpectedEnd,
}

/// How much of a path is told, in characters: a key may be as long as the document.
const SHOWN: usize = 256;

/// Parses one document, strictly.
pub fn parse(bytes: &[u8]) -> Result<Json<'_>, Problem> {
    let whole = |kind, at| Problem { kind, path: None, at };
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(whole(ProblemKind::ByteOrderMark, 0));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| whole(ProblemKind::NotUtf8, error.valid_up_to()))?;
    let mut parser = Parser { text, at: 0, values: 0, path: Vec::new() };
    parser.skip_space();
    if parser.peek().is_none() {
        return Err(whole(ProblemKind::Empty, parser.at));
    }
    let value = parser.value()?;
    parser.skip_space();
    if parser.peek().is_some() {
        return Err(whole(ProblemKind::Trailing, parser.at));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// How many values have begun.
    values: usize,
    /// The steps from the root to the value at hand; its length is the depth.
    path: Vec<Step<'a>>,
}

enum Step<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn value(&mut self) -> Result<Json<'a>, Problem> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.problem(ProblemKind::TooMany));
        }
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(_) => self.literal(),
            None => Err(self.problem(ProblemKind::UnexpectedEnd)),
        }
    }

    fn literal(&mut self) -> Result<Json<'a>, Problem> {
        let rest = &self.text[self.at..];
        for (word, value) in [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.problem(ProblemKind::Malformed))
    }

    fn object(&mut self) -> Result<Json<'a>, Problem> {
        self.open()?;
        let mut members: Vec<Member<'a>> = Vec::new();
        let mut keys = Keys::default();
        if self.closes(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected());
            }
            let key = self.string()?;
            self.path.push(Step::Key(key.clone()));
            if keys.have_seen(key.clone(), &members) {
                return Err(self.problem(ProblemKind::DuplicateKey));
            }
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let start = self.at;
            let value = self.value()?;
            members.push(Member { key, value, span: start..self.at });
            self.path.pop();
            if !self.continues(b'}')? {
                return Ok(Json::Object(members));
            }
        }
    }

    fn array(&mut self) -> Result<Json<'a>, Problem> {
        self.open()?;
        let mut elements = Vec::new();
        if self.closes(b']') {
            return Ok(Json::Array(elements));
        }
        loop {
            self.path.push(Step::Index(elements.len()));
            elements.push(self.value()?);
            self.path.pop();
            if !self.continues(b']')? {
                return Ok(Json::Array(elements));
            }
        }
    }

    fn number(&mut self) -> Result<Number<'a>, Problem> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let spelled = &self.text[start..self.at];
        match spelled.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Number(spelled)),
            _ => Err(self.problem(ProblemKind::NumberRange)),
        }
    }

    fn digits(&mut self) -> Result<(), Problem> {
        let count = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.unexpected());
        }
        self.at += count;
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Problem> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        self.at += 1;
        loop {
            let Some(found) = memchr2(b'"', b'\\', &bytes[self.at..]) else {
                self.at = bytes.len();
                return Err(self.problem(ProblemKind::UnexpectedEnd));
            };
            self.at += found;
            if bytes[self.at] == b'"' {
                break;
            }
            escaped = true;
            // Whatever is escaped is never the closing quote.
            self.at = (self.at + 2).min(bytes.len());
        }
        self.at += 1;
        let quoted = &self.text[start..self.at];
        if escaped {
            // Escapes are what serde_json says they are; it also refuses lone surrogates.
            return serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| self.malformed_at(start));
        }
        let inner = &quoted[1..quoted.len() - 1];
        if inner.bytes().any(|byte| byte < 0x20) { Err(self.malformed_at(start)) } else { Ok(Cow::Borrowed(inner)) }
    }

    /// Steps over an opening bracket and the space behind it.
    fn open(&mut self) -> Result<(), Problem> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.problem(ProblemKind::TooDeep));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn closes(&mut self, bracket: u8) -> bool {
        let closes = self.peek() == Some(bracket);
        self.at += usize::from(closes);
        closes
    }

    /// Behind an element: `true` if a comma promises another, `false` if the bracket closes.
    fn continues(&mut self, bracket: u8) -> Result<bool, Problem> {
        self.skip_space();
        if self.closes(bracket) {
            return Ok(false);
        }
        self.expect(b',')?;
        self.skip_space();
        Ok(true)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected());
        }
        self.at += 1;
        Ok(())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self) -> Problem {
        self.problem(if self.peek().is_some() { ProblemKind::Malformed } else { ProblemKind::UnexpectedEnd })
    }

    fn malformed_at(&self, at: usize) -> Problem {
        Problem { at, ..self.problem(ProblemKind::Malformed) }
    }

    fn problem(&self, kind: ProblemKind) -> Problem {
        let path: String = self.path.iter().enumerate().map(|(depth, step)| step.shown(depth)).collect();
        let path: String = path.chars().take(SHOWN).collect();
        Problem { kind, path: (!path.is_empty()).then_some(path), at: self.at }
    }
}

// === impl Step ===

impl Step<'_> {
    fn shown(&self, depth: usize) -> String {
        match self {
            Self::Key(key) if depth == 0 => key.to_string(),
            Self::Key(key) => format!(".{key}"),
            Self::Index(index) => format!("[{index}]"),
        }
    }
}

/// The keys of one object. Most have few, where a look at each is fastest; an object of a million
/// keys must not cost a trillion looks.
#[derive(Default)]
struct Keys<'a>(HashSet<Cow<'a, str>>);

// === impl Keys ===

impl<'a> Keys<'a> {
    /// The most members that are compared one by one.
    const FEW: usize = 16;

    /// Whether `key` is among `members`, the ones before it.
    fn have_seen(&mut self, key: Cow<'a, str>, members: &[Member<'a>]) -> bool {
        if members.len() < Self::FEW {
            return members.iter().any(|member| member.key == key);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|member| member.key.clone()));
        }
        !self.0.insert(key)
    }
}
