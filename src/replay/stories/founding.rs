//! The founding story: a recommender's bug sends 6,000 requests in one minute, and they are sixty questions.
//!
//! The sixty, half Chinese and half English, are drawn by Zipf's law and come in thousands of byte forms
//! (`forms`), with request ids in the text and in the noise fields. Mixed in are a hundred questions that
//! look like one of the sixty and ask something else, each twice: whoever shares by likeness answers these
//! wrongly.

use std::time::Duration;

use serde_json::{Value, json};

use super::bank::rows;
use super::dice::{Dice, Zipf};
use super::forms::disguise;
use super::{chat, headers};
use crate::replay::Entry;

const QUESTIONS: &str = include_str!("data/founding_questions.tsv");
const NEGATIVES: &str = include_str!("data/founding_negatives.tsv");

/// All requests of the story.
pub(super) const REQUESTS: usize = 6_000;
/// The time they come in.
pub(super) const SPAN: Duration = Duration::from_mins(1);
/// How often each hard negative is asked.
const ASKED_EACH: usize = 2;
const SEED: u64 = 6_000;

/// The story, always the same.
pub(super) fn entries() -> Vec<Entry> {
    let mut dice = Dice::new(SEED);
    let questions: Vec<&str> = rows(QUESTIONS).map(|row| row[1]).collect();
    let mut asked: Vec<(String, String)> = Vec::with_capacity(REQUESTS);
    for (index, row) in rows(NEGATIVES).enumerate() {
        for _ in 0..ASKED_EACH {
            asked.push((format!("negative-{index:03}"), row[2].to_owned()));
        }
    }
    let zipf = Zipf::new(questions.len());
    while asked.len() < REQUESTS {
        let rank = zipf.draw(&mut dice);
        let text = if dice.percent(45) { questions[rank].to_owned() } else { disguise(&mut dice, questions[rank]) };
        asked.push((format!("question-{rank:02}"), text));
    }
    dice.shuffle(&mut asked);
    let mut times: Vec<f64> = asked.iter().map(|_| dice.fraction()).collect();
    times.sort_by(f64::total_cmp);
    asked
        .into_iter()
        .zip(times)
        .map(|((group, text), time)| Entry::chat(SPAN.mul_f64(time), headers("qa"), &body(&mut dice, &text), group))
        .collect()
}

/// One in five is a stream, one in three carries fields that change with every request and mean nothing.
fn body(dice: &mut Dice, text: &str) -> Value {
    let mut body = chat(text, 0.0, dice.percent(20));
    if dice.percent(33) {
        match dice.below(3) {
            0 => body["request_id"] = json!(format!("req-{}", dice.hex(12))),
            1 => body["metadata"] = json!({"trace_id": dice.hex(16)}),
            _ => body["user"] = json!(format!("user-{}", dice.hex(6))),
        }
    }
    body
}
