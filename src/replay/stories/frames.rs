//! Sentences with slots, and every question that they make.

use std::collections::HashMap;

use super::bank::rows;
use super::mixed::Theme;

const FRAMES: &str = include_str!("data/mixed_frames.tsv");
const SLOTS: &str = include_str!("data/mixed_slots.tsv");

/// All questions of all frames, a list a row. A frame with `{city}` and `{city#2}` is filled with every two
/// different cities, both ways round.
pub(super) fn themes() -> Vec<Vec<Theme>> {
    let slots: HashMap<&str, Vec<&str>> = rows(SLOTS).map(|row| (row[0], row[1..].to_vec())).collect();
    rows(FRAMES).map(|row| themes_of(&row, &slots)).collect()
}

fn themes_of(row: &[&str], slots: &HashMap<&str, Vec<&str>>) -> Vec<Theme> {
    let names = names_in(row[1]);
    let mut fillings: Vec<Vec<&str>> = vec![Vec::new()];
    for name in &names {
        let kind = kind_of(name);
        let values = slots.get(kind).map_or(&[][..], Vec::as_slice);
        fillings = fillings
            .into_iter()
            .flat_map(|filled| {
                values.iter().map(move |value| filled.iter().copied().chain([*value]).collect::<Vec<_>>())
            })
            .filter(|filled| {
                let value = filled[filled.len() - 1];
                !names
                    .iter()
                    .zip(&filled[..filled.len() - 1])
                    .any(|(other, earlier)| kind_of(other) == kind && *earlier == value)
            })
            .collect();
    }
    fillings
        .iter()
        .map(|filling| Theme {
            task: row[0].to_owned(),
            wordings: row[1..].iter().map(|frame| fill(frame, &names, filling)).collect(),
        })
        .collect()
}

/// `city#2` is a city.
fn kind_of(name: &str) -> &str {
    name.split('#').next().unwrap_or(name)
}

fn names_in(frame: &str) -> Vec<&str> {
    frame.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
}

fn fill(frame: &str, names: &[&str], values: &[&str]) -> String {
    names.iter().zip(values).fold(frame.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_slots_of_a_kind_are_filled_with_different_values_both_ways_round() {
        let slots = HashMap::from([("city", vec!["Rome", "Oslo"])]);
        let themes = themes_of(&["qa", "From {city} to {city#2}?", "To {city#2}, from {city}?"], &slots);
        let texts: Vec<_> = themes.iter().map(|theme| theme.wordings.join(" / ")).collect();
        assert_eq!(texts, ["From Rome to Oslo? / To Oslo, from Rome?", "From Oslo to Rome? / To Rome, from Oslo?"]);
    }

    #[test]
    fn every_slot_of_every_frame_is_filled() {
        for theme in themes().into_iter().flatten() {
            assert!(theme.wordings.len() >= 3, "{theme:?}");
            assert!(theme.wordings.iter().all(|text| !text.contains(['{', '}'])), "{theme:?}");
        }
    }
}
