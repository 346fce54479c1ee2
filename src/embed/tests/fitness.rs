use super::super::selftest::check;
use super::super::worker::TextModel;
use super::*;

/// A model made of a function.
struct Model<F>(F);

impl<F: FnMut(&str) -> Result<Embedding, EmbedError>> TextModel for Model<F> {
    fn embed(&mut self, text: &str) -> Result<Embedding, EmbedError> {
        (self.0)(text)
    }
}

#[test]
fn a_model_to_which_everything_is_the_same_is_refused() {
    let constant = |_: &str| Ok(Embedding::new(&[1.0, 2.0, 3.0]).unwrap());
    let refusal = check(&mut Model(constant)).unwrap_err();
    assert!(matches!(refusal, Degenerate::Blind { language: "English", .. }), "{refusal}");
}

#[test]
fn a_model_of_noise_is_refused() {
    let refusal = check(&mut Model(|text: &str| Ok(noise(text)))).unwrap_err();
    assert!(matches!(refusal, Degenerate::Blind { .. }), "{refusal}");
}

#[test]
fn a_model_that_knows_only_english_is_refused() {
    // Knows the subjects of the English sentences by a word, and sees nothing in Chinese ones.
    let subjects = ["Australia", "banana", "laptop", "autumn"];
    let english = |text: &str| {
        let subject = subjects.map(|word| if text.contains(word) { 1.0 } else { 0.1 });
        Ok(Embedding::new(&subject).unwrap())
    };
    let refusal = check(&mut Model(english)).unwrap_err();
    assert!(matches!(refusal, Degenerate::Blind { language: "Chinese", .. }), "{refusal}");
}

#[test]
fn a_model_that_changes_its_mind_is_refused() {
    let subjects = ["ustralia", "anana", "aptop", "utumn", "澳大利亚", "香蕉", "笔记本", "秋天"];
    let mut drift = 0.0;
    let unsteady = |text: &str| {
        drift += 0.001;
        let subject = subjects.map(|word| if text.contains(word) { 1.0 + drift } else { 0.1 });
        Ok(Embedding::new(&subject).unwrap())
    };
    assert_eq!(check(&mut Model(unsteady)), Err(Degenerate::Unsteady));
}

#[test]
fn a_model_that_fails_is_refused() {
    let refusal = check(&mut Model(|_: &str| Err(EmbedError::Unavailable))).unwrap_err();
    assert_eq!(refusal, Degenerate::NoVector(EmbedError::Unavailable));
}
