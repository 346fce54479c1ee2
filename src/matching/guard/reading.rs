//! What a question says, as a sequence of meanings.
//!
//! Two questions are the same to the guard exactly if their readings are equal. A reading is made from one text
//! alone, so equality is reflexive, symmetric and transitive by construction, and costs one comparison of strings.
//! Every rule that makes two spellings one meaning (numbers, units, contractions, synonyms) is a statement that the
//! difference cannot change an answer; whatever no rule speaks of stays as it is, and is a veto if it differs.

use std::borrow::Cow;

use crate::text::{CanonicalForm, Kind, Lexicon, Tag, tokenise};

use super::atoms::{self, Atom};
use super::{Veto, antonyms, asked, condition, dates, language, negation, person, quantity, synonyms};

/// One meaning and the veto that it gives if the other question lacks it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meaning {
    /// What it is, in the one spelling that stands for all.
    pub(crate) key: Box<str>,
    /// Which family it belongs to.
    pub(crate) family: Veto,
}

/// The meanings of a question, in order.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    meanings: Vec<Meaning>,
    /// For each meaning the token of the canonical text where it begins.
    tokens: Vec<usize>,
}

// === impl Reading ===

impl Reading {
    /// The reading of a question; that of one too long to be taken apart is the whole text.
    pub(crate) fn of(lexicon: &Lexicon, canonical: &CanonicalForm) -> Self {
        if canonical.is_opaque() {
            let whole = Meaning { key: canonical.as_str().into(), family: Veto::TooDifferent };
            return Self { meanings: vec![whole], tokens: vec![0] };
        }
        let tokens = tokenise(lexicon, canonical.as_str());
        let mut atoms = atoms::split(&tokens);
        drop_particles(&mut atoms);
        join_phrases(&mut atoms);
        open_frames(&mut atoms);
        let tokens = atoms.iter().map(|atom| atom.token).collect();
        Self { meanings: atoms.into_iter().map(Meaning::from).collect(), tokens }
    }

    /// The meanings, in order.
    pub(crate) fn meanings(&self) -> &[Meaning] {
        &self.meanings
    }

    /// For each meaning the token of the canonical text where it begins.
    pub(crate) fn tokens(&self) -> &[usize] {
        &self.tokens
    }
}

impl PartialEq for Reading {
    fn eq(&self, other: &Self) -> bool {
        self.meanings == other.meanings
    }
}

/// 呢 and 吧 at the end soften a question or an order that stands without them; 苹果呢 asks by its 呢 alone.
fn drop_particles(atoms: &mut Vec<Atom<'_>>) {
    const SOFT: [&str; 7] = ["呢", "吧", "呀", "啊", "哦", "啦", "哈"];
    const LEAST: usize = 4;
    while atoms.len() >= LEAST && atoms.last().is_some_and(|atom| atom.kind == Kind::Han && SOFT.contains(&&*atom.key))
    {
        atoms.pop();
    }
}

/// Words before which 怎么 asks why, or how it can be, rather than how to.
const NOT_HOW_TO: [&str; 24] = [
    "不", "没", "没有", "还", "又", "这么", "那么", "会", "是", "样", "了", "回事", "敢", "能", "可能", "都", "也",
    "就", "老", "总", "总是", "一直", "突然", "办",
];

/// Replaces each phrase by what stands for its class.
fn join_phrases(atoms: &mut Vec<Atom<'_>>) {
    let mut joined: Vec<Atom<'_>> = Vec::with_capacity(atoms.len());
    let mut at = 0;
    while at < atoms.len() {
        let (length, stands) = phrase_at(atoms, at);
        if length == 0 {
            joined.push(atoms[at].clone());
            at += 1;
        } else {
            // What the dictionary says of one member must not tell it from the others.
            joined.push(Atom { key: Cow::Borrowed(stands), tag: Tag::Other, ..atoms[at].clone() });
            at += length;
        }
    }
    *atoms = joined;
}

fn phrase_at(atoms: &[Atom<'_>], at: usize) -> (usize, &'static str) {
    let atom = &atoms[at];
    if !matches!(atom.kind, Kind::Word | Kind::Han) {
        return (0, "");
    }
    if matches!(&*atom.key, "如何" | "怎样") {
        let rest = &atoms[at + 1..];
        // 怎么学不会 asks why, too.
        let negated = rest.iter().take(3).any(|atom| atom.key.contains(['不', '没']));
        let manner =
            rest.first().is_some_and(|next| next.kind != Kind::Mark && !NOT_HOW_TO.contains(&&*next.key)) && !negated;
        return if manner { (1, "怎么") } else { (0, "") };
    }
    for (words, stands) in synonyms::beginning_with(&atom.key) {
        let spelled = atoms[at..].iter().take(words.len()).map(|atom| &*atom.key);
        if atoms.len() - at >= words.len() && spelled.eq(words.iter().copied()) {
            return (words.len(), stands);
        }
    }
    (0, "")
}

/// Whole questions that are built differently: `what is the capital of X` and `capital of X`; 什么是X and X是什么.
fn open_frames(atoms: &mut Vec<Atom<'_>>) {
    let keys = |range: &[Atom<'_>]| range.iter().map(|atom| atom.key.to_string()).collect::<Vec<_>>();
    if atoms.len() >= 5
        && keys(&atoms[..3]) == ["what", "is", "the"]
        && &*atoms[4].key == "of"
        && !asked::TASKS.contains(&*atoms[3].key)
    {
        atoms.drain(..3);
    } else if atoms.len() >= 4 && &*atoms[0].key == "the" && &*atoms[2].key == "of" {
        atoms.drain(..1);
    } else if atoms.len() >= 3
        && keys(&atoms[..2]) == ["什么", "是"]
        && atoms[2..].iter().all(|atom| atom.kind != Kind::Mark)
    {
        atoms.rotate_left(2);
        let end = atoms.len();
        atoms.swap(end - 1, end - 2);
    }
}

// === impl Meaning ===

impl From<Atom<'_>> for Meaning {
    fn from(atom: Atom<'_>) -> Self {
        let family = atom.family.unwrap_or_else(|| family(&atom));
        Self { key: atom.key.into(), family }
    }
}

/// Which family a word belongs to.
fn family(atom: &Atom<'_>) -> Veto {
    let key = &*atom.key;
    match atom.kind {
        Kind::Code => return Veto::Code,
        Kind::Quote => return Veto::Quote,
        Kind::Identifier => return Veto::Identifier,
        Kind::Date => return Veto::Date,
        Kind::Number => return Veto::Number,
        Kind::Mark | Kind::Break => return Veto::Unexplained,
        Kind::Word | Kind::Han => {}
    }
    let listed = [
        (&negation::WORDS, Veto::Negation),
        (&asked::WORDS, Veto::Asked),
        (&quantity::COMPARISONS, Veto::Comparison),
        (&quantity::QUANTIFIERS, Veto::Quantifier),
        (&person::WORDS, Veto::Person),
        (&language::WORDS, Veto::Language),
        (&dates::WORDS, Veto::Date),
        (&condition::WORDS, Veto::Condition),
        (&asked::TASKS, Veto::Task),
    ];
    if negation::negates(key) {
        return Veto::Negation;
    }
    if let Some((_, veto)) = listed.iter().find(|(words, _)| words.contains(key)) {
        return *veto;
    }
    let capital = key.starts_with(char::is_uppercase) && key.len() > 1;
    if capital || atom.tag == Tag::Name { Veto::Name } else { Veto::Unexplained }
}

/// Whether two meanings stand against each other.
pub(crate) fn opposed(a: &Meaning, b: &Meaning) -> bool {
    antonyms::opposed(&a.key, &b.key)
}
