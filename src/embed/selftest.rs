//! Is a model fit for use?
//!
//! A wrong model does not fail, it gives vectors that mean nothing: a model of one language finds any two
//! texts of another the same, a wrong pooling or prefix makes everything alike, a damaged file gives noise.
//! So before it is used, in every language that matters, sentences on the same subject must be nearer to
//! each other than any two on different subjects.

use super::EmbedError;
use super::worker::TextModel;
use crate::domain::Score;
use crate::vector::Embedding;

/// By how much the worst related pair must lie above the best unrelated one.
const LEAST_MARGIN: f32 = 0.01;

/// Sentences about the same thing, side by side; each line is a subject of its own.
type Subjects = [(&'static str, &'static str); 4];

const ENGLISH: Subjects = [
    ("What is the capital of Australia?", "Tell me which city is the capital of Australia."),
    ("How do I bake banana bread?", "Please give me a recipe for banana bread."),
    ("My laptop does not start any more.", "The laptop won't turn on."),
    ("Write a short poem about autumn.", "Compose a little poem on the theme of autumn."),
];

const CHINESE: Subjects = [
    ("澳大利亚的首都是哪里？", "请告诉我澳大利亚的首都是哪个城市。"),
    ("香蕉面包怎么做？", "请给我一份香蕉面包的食谱。"),
    ("我的笔记本电脑开不了机了。", "笔记本电脑无法启动。"),
    ("写一首关于秋天的短诗。", "以秋天为主题创作一首小诗。"),
];

/// Why the vectors of a model say nothing.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Degenerate {
    /// It gave no vector for a plain sentence.
    #[error("the model gives no vector for a plain sentence: {0}")]
    NoVector(EmbedError),
    /// The same text gave two vectors.
    #[error("the model gives the same text different vectors")]
    Unsteady,
    /// Sentences on one subject are not nearer to each other than those on different subjects.
    #[error("the model does not tell {language} texts apart: related {related}, unrelated {unrelated}")]
    Blind {
        /// The language that it fails in.
        language: &'static str,
        /// The cosine of the related pair that is least alike.
        related: Score,
        /// The cosine of the unrelated pair that is most alike.
        unrelated: Score,
    },
}

/// Refuses a model that is unfit; else says how many dimensions its vectors have.
pub(super) fn check(model: &mut dyn TextModel) -> Result<usize, Degenerate> {
    for (language, subjects) in [("English", ENGLISH), ("Chinese", CHINESE)] {
        let (related, unrelated) = extremes(model, &subjects)?;
        if related.get() < unrelated.get() + LEAST_MARGIN {
            return Err(Degenerate::Blind { language, related, unrelated });
        }
    }
    let (once, again) = (embed(model, ENGLISH[0].0)?, embed(model, ENGLISH[0].0)?);
    if once != again {
        return Err(Degenerate::Unsteady);
    }
    Ok(once.dimensions())
}

/// The least cosine within a subject and the greatest between two.
fn extremes(model: &mut dyn TextModel, subjects: &Subjects) -> Result<(Score, Score), Degenerate> {
    let mut pairs = Vec::new();
    for (one, other) in subjects {
        pairs.push([embed(model, one)?, embed(model, other)?]);
    }
    let related = pairs.iter().map(|[one, other]| one.cosine(other)).min().unwrap_or(Score::ZERO);
    let mut unrelated = Score::ZERO;
    for (at, pair) in pairs.iter().enumerate() {
        for other in pairs[at + 1..].iter().flatten() {
            unrelated = pair.iter().map(|one| one.cosine(other)).fold(unrelated, Score::max);
        }
    }
    Ok((related, unrelated))
}

fn embed(model: &mut dyn TextModel, text: &str) -> Result<Embedding, Degenerate> {
    model.embed(text).map_err(Degenerate::NoVector)
}
