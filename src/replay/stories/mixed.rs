//! A mixed day: ten thousand requests, of which 40% repeat an earlier one to the byte, 25% reword one, and
//! 35% are new.
//!
//! Some questions and their rewordings are written out one by one, the others are frames with slots: the
//! frames of one row are rewordings of each other, and every choice of values is a question of its own. So
//! most of what is new looks very much like something old, with one city, number, date or direction changed.

use std::time::Duration;

use super::bank;
use super::dice::Dice;
use super::frames;
use super::{chat, headers};
use crate::replay::Entry;

const QUESTIONS: &str = include_str!("data/mixed_questions.tsv");

/// All requests of the day.
pub(super) const REQUESTS: usize = 10_000;
/// The day.
pub(super) const SPAN: Duration = Duration::from_hours(24);
/// Of a hundred requests.
const REPEATS: usize = 40;
const REWORDINGS: usize = 25;
const SEED: u64 = 10_000;
/// Of a hundred times that somebody comes back to a question, it is one of the last [`RECENT`] requests.
const COMES_BACK_SOON: usize = 70;
const RECENT: usize = 200;
/// The busiest moment, as a fraction of the day.
const PEAK: f64 = 0.6;

/// One question: its task and its wordings, the first of which is asked first.
#[derive(Clone, Debug)]
pub(super) struct Theme {
    pub(super) task: String,
    pub(super) wordings: Vec<String>,
}

#[derive(Clone, Copy)]
enum Kind {
    Repeat,
    Rewording,
    New,
}

/// The day as it is being told.
struct Day {
    dice: Dice,
    /// Themes nobody has asked yet; the last comes next.
    untold: Vec<Theme>,
    /// Themes asked, and how many of their wordings.
    told: Vec<(Theme, usize)>,
    /// What was asked: theme and request without its time.
    asked: Vec<(usize, Entry)>,
    /// Rewordings that came too early in the day.
    owed: usize,
}

/// The day, always the same.
pub(super) fn entries() -> Vec<Entry> {
    let mut day = Day::new();
    let mut times: Vec<f64> = (0..REQUESTS).map(|_| time_of_day(&mut day.dice)).collect();
    times.sort_by(f64::total_cmp);
    for kind in day.kinds() {
        day.tell(kind);
    }
    day.asked.into_iter().zip(times).map(|((_, entry), time)| entry.at(SPAN.mul_f64(time))).collect()
}

/// A fraction of the day; three times as busy in the afternoon as in the small hours.
fn time_of_day(dice: &mut Dice) -> f64 {
    loop {
        let time = dice.fraction();
        let from_peak = (time - PEAK).abs();
        let busy = 1.5 - 2.0 * from_peak.min(1.0 - from_peak);
        if dice.fraction() * 1.5 < busy {
            return time;
        }
    }
}

/// The written questions and as many of the framed ones as the day needs, mixed.
fn themes(dice: &mut Dice) -> Vec<Theme> {
    let new = REQUESTS * (100 - REPEATS - REWORDINGS) / 100;
    let mut themes: Vec<Theme> = bank::rows(QUESTIONS)
        .map(|row| Theme {
            task: row[0].to_owned(),
            wordings: row[1..].iter().map(|text| (*text).to_owned()).collect(),
        })
        .collect();
    let mut rows = frames::themes();
    for row in &mut rows {
        dice.shuffle(row);
    }
    // One of each row in turn, so that a row with many values does not fill the day.
    while themes.len() < new && rows.iter().any(|row| !row.is_empty()) {
        themes.extend(rows.iter_mut().filter_map(Vec::pop));
    }
    themes.truncate(new);
    dice.shuffle(&mut themes);
    themes
}

// === impl Day ===

impl Day {
    fn new() -> Self {
        let mut dice = Dice::new(SEED);
        let untold = themes(&mut dice);
        Self { dice, untold, told: Vec::new(), asked: Vec::new(), owed: 0 }
    }

    /// The kinds in the order of the day. The first request is new, since there is nothing to repeat, and
    /// rewordings come no earlier than there are themes to reword.
    fn kinds(&mut self) -> Vec<Kind> {
        let (repeats, rewordings) = (REQUESTS * REPEATS / 100, REQUESTS * REWORDINGS / 100);
        let mut kinds = vec![Kind::Repeat; repeats];
        kinds.extend(vec![Kind::Rewording; rewordings]);
        kinds.extend(vec![Kind::New; REQUESTS - repeats - rewordings]);
        self.dice.shuffle(&mut kinds);
        let first_new = kinds.iter().position(|kind| matches!(kind, Kind::New)).unwrap_or(0);
        kinds.swap(0, first_new);
        kinds
    }

    fn tell(&mut self, kind: Kind) {
        match kind {
            Kind::Repeat => {
                let earlier = self.earlier();
                self.asked.push(self.asked[earlier].clone());
            }
            // Early in the day there may be nothing left to reword: then a new theme comes first.
            Kind::Rewording => {
                if let Some(theme) = self.theme_with_words_left() {
                    self.ask(theme);
                } else {
                    self.owed += 1;
                    self.tell_new();
                }
            }
            Kind::New if self.owed > 0 => {
                self.owed -= 1;
                self.tell(Kind::Rewording);
            }
            Kind::New => self.tell_new(),
        }
    }

    fn tell_new(&mut self) {
        if let Some(theme) = self.untold.pop() {
            self.told.push((theme, 0));
            self.ask(self.told.len() - 1);
        }
    }

    /// An earlier request, likely a recent one.
    fn earlier(&mut self) -> usize {
        let all = self.asked.len();
        let window = if self.dice.percent(COMES_BACK_SOON) { all.min(RECENT) } else { all };
        all - 1 - self.dice.below(window)
    }

    /// A theme of which a wording is left: near an earlier request if there is one, else the latest.
    fn theme_with_words_left(&mut self) -> Option<usize> {
        let has_words = |told: &[(Theme, usize)], theme: usize| told[theme].1 < told[theme].0.wordings.len();
        for _ in 0..50 {
            let at = self.earlier();
            let theme = self.asked[at].0;
            if has_words(&self.told, theme) {
                return Some(theme);
            }
        }
        (0..self.told.len()).rev().find(|theme| has_words(&self.told, *theme))
    }

    /// Asks the next wording of a theme.
    fn ask(&mut self, index: usize) {
        let (theme, used) = &mut self.told[index];
        let text = theme.wordings[*used].clone();
        *used += 1;
        // Invention is asked for with some freedom, everything else without.
        let temperature = if theme.task == "generation" { 0.7 } else { 0.0 };
        let task = theme.task.clone();
        let body = chat(&text, temperature, self.dice.percent(25));
        let entry = Entry::chat(Duration::ZERO, headers(&task), &body, format!("theme-{index:04}"));
        self.asked.push((index, entry));
    }
}
