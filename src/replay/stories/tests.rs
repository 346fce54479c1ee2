use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use super::bank::rows;
use super::*;
use crate::replay::Book;
use crate::sim::{Ask, Surface};

/// Told once for all tests.
fn told(story: Story) -> &'static [Entry] {
    static FOUNDING: LazyLock<Vec<Entry>> = LazyLock::new(|| Story::Founding.entries());
    static MIXED: LazyLock<Vec<Entry>> = LazyLock::new(|| Story::Mixed.entries());
    match story {
        Story::Founding => &FOUNDING,
        Story::Mixed => &MIXED,
    }
}

fn question(entry: &Entry) -> String {
    Ask::read(Surface::Chat, &entry.body()).unwrap().turns[0].text.clone()
}

fn forms(entries: &[Entry]) -> BTreeMap<String, BTreeSet<String>> {
    let mut forms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in entries {
        forms.entry(entry.group.clone()).or_default().insert(question(entry));
    }
    forms
}

fn bytes(entries: &[Entry]) -> Vec<u8> {
    let mut file = Vec::new();
    crate::replay::write(&mut file, entries).unwrap();
    file
}

#[test]
fn a_story_is_the_same_to_the_byte_every_time() {
    // A change of these hashes is a change of what the README's figures were measured with.
    for (story, hash) in [(Story::Founding, "999379ddcf4123f3"), (Story::Mixed, "a63c6e1c7b40fcb1")] {
        assert_eq!(blake3::hash(&bytes(&story.entries())).to_hex()[..16], *hash, "{story:?}");
    }
}

#[test]
fn a_story_reads_back_as_it_was_written() {
    for story in [Story::Founding, Story::Mixed] {
        assert_eq!(crate::replay::read(&bytes(told(story))[..]).unwrap(), told(story), "{story:?}");
    }
}

#[test]
fn no_prompt_belongs_to_two_groups() {
    for story in [Story::Founding, Story::Mixed] {
        assert_eq!(Book::new(told(story)).err(), None, "{story:?}");
    }
}

#[test]
fn requests_come_in_the_order_of_time() {
    for (story, span) in [(Story::Founding, founding::SPAN), (Story::Mixed, mixed::SPAN)] {
        let entries = told(story);
        assert!(entries.is_sorted_by_key(|entry| entry.at), "{story:?}");
        assert!(entries.iter().all(|entry| entry.at < span), "{story:?}");
    }
}

#[test]
fn the_founding_story_is_sixty_questions_in_two_thousand_forms_and_a_hundred_negatives_twice() {
    let entries = told(Story::Founding);
    assert_eq!(entries.len(), 6_000);
    let forms = forms(entries);
    let questions: Vec<_> = forms.iter().filter(|(group, _)| group.starts_with("question")).collect();
    let negatives: Vec<_> = forms.iter().filter(|(group, _)| group.starts_with("negative")).collect();
    assert_eq!((questions.len(), negatives.len()), (60, 100));
    assert_eq!(entries.iter().filter(|entry| entry.group.starts_with("negative")).count(), 200);
    let different: usize = questions.iter().map(|(_, forms)| forms.len()).sum();
    assert!(different >= 2_000, "{different} forms");
    let chinese = rows(include_str!("data/founding_questions.tsv")).filter(|row| row[0] == "zh").count();
    assert_eq!(chinese, 30);
}

#[test]
fn every_hard_negative_is_its_own_question_and_differs_from_its_base() {
    let questions: HashSet<&str> = rows(include_str!("data/founding_questions.tsv")).map(|row| row[1]).collect();
    let mut negatives = HashSet::new();
    let mut kinds = HashSet::new();
    for row in rows(include_str!("data/founding_negatives.tsv")) {
        assert!(questions.contains(row[1]), "no such base: {row:?}");
        assert!(!questions.contains(row[2]), "a negative that is a question: {row:?}");
        assert!(negatives.insert(row[2]), "twice: {row:?}");
        kinds.insert(row[0]);
    }
    for kind in ["number", "name", "negation", "antonym", "direction", "unit", "date", "version"] {
        assert!(kinds.contains(kind), "no {kind}");
    }
}

#[test]
fn the_founding_story_is_asked_without_freedom_and_partly_as_streams() {
    let streams = told(Story::Founding)
        .iter()
        .filter(|entry| {
            let body: Value = serde_json::from_slice(&entry.body()).unwrap();
            assert_eq!(body["temperature"], 0.0);
            body["stream"] == true
        })
        .count();
    assert!((900..1_500).contains(&streams), "{streams}");
}

#[test]
fn the_mixed_day_repeats_rewords_and_asks_anew_in_the_stated_shares() {
    let entries = told(Story::Mixed);
    assert_eq!(entries.len(), 10_000);
    let (mut seen, mut groups) = (HashSet::new(), HashMap::new());
    let (mut repeats, mut rewordings, mut new) = (0, 0, 0);
    for entry in entries {
        let told: &mut HashSet<String> = groups.entry(entry.group.clone()).or_default();
        if !seen.insert((entry.headers.clone(), entry.body())) {
            repeats += 1;
        } else if told.is_empty() {
            new += 1;
        } else {
            rewordings += 1;
            assert!(!told.contains(&question(entry)), "not reworded: {}", question(entry));
        }
        told.insert(question(entry));
    }
    assert_eq!((repeats, rewordings, new), (4_000, 2_500, 3_500));
}

#[test]
fn the_written_questions_have_two_to_four_rewordings_and_no_text_twice() {
    let mut texts = HashSet::new();
    let mut count = 0;
    for row in rows(include_str!("data/mixed_questions.tsv")) {
        assert!((4..=6).contains(&row.len()), "{row:?}");
        for text in &row[1..] {
            assert!(texts.insert(*text), "twice: {text}");
        }
        count += 1;
    }
    assert!(count >= 150, "{count}");
}
