//! The guard: decides from the *difference* of two questions whether they may share an answer, whatever
//! their similarity.
//!
//! It accepts exactly the pairs with equal [readings](reading::Reading). If they differ, it names the gravest
//! difference: a reason for people, and for tasks that have a rule of their own for unexplained words. One file per
//! family of reasons holds the words that belong to it.

mod antonyms;
mod asked;
mod atoms;
mod condition;
mod dates;
mod language;
mod negation;
mod person;
mod quantity;
mod reading;
mod synonyms;
mod tables;
mod units;
mod veto;

pub(crate) use reading::{Meaning, Reading};
pub use veto::Veto;

/// More different meanings than this are not looked at one against the other.
const PAIRED: usize = 12;

/// Whether two questions say the same; if not, the gravest reason.
pub(crate) fn judge(a: &Reading, b: &Reading) -> Result<(), Veto> {
    if a == b {
        return Ok(());
    }
    let (only_a, only_b) = only_in_one(a, b);
    if only_a.is_empty() && only_b.is_empty() {
        return Err(Veto::Order);
    }
    Err(gravest(&only_a, &only_b))
}

/// The gravest reason among meanings that stand in one question only.
pub(crate) fn gravest(only_a: &[&Meaning], only_b: &[&Meaning]) -> Veto {
    let opposed = only_a.len() <= PAIRED
        && only_b.len() <= PAIRED
        && only_a.iter().any(|x| only_b.iter().any(|y| reading::opposed(x, y)));
    let gravest = only_a.iter().chain(only_b).map(|meaning| meaning.family).min().unwrap_or(Veto::Unexplained);
    if opposed { gravest.min(Veto::Antonym) } else { gravest }
}

/// What stands in one reading and not in the other, counted.
fn only_in_one<'r>(a: &'r Reading, b: &'r Reading) -> (Vec<&'r Meaning>, Vec<&'r Meaning>) {
    let sorted = |reading: &'r Reading| {
        let mut meanings: Vec<&Meaning> = reading.meanings().iter().collect();
        meanings.sort_unstable_by(|x, y| x.key.cmp(&y.key));
        meanings
    };
    let (a, b) = (sorted(a), sorted(b));
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut at, mut bt) = (0, 0);
    while at < a.len() && bt < b.len() {
        match a[at].key.cmp(&b[bt].key) {
            std::cmp::Ordering::Less => {
                only_a.push(a[at]);
                at += 1;
            }
            std::cmp::Ordering::Greater => {
                only_b.push(b[bt]);
                bt += 1;
            }
            std::cmp::Ordering::Equal => {
                at += 1;
                bt += 1;
            }
        }
    }
    only_a.extend(&a[at..]);
    only_b.extend(&b[bt..]);
    (only_a, only_b)
}
