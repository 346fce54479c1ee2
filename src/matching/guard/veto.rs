//! The guard's reasons.

use std::fmt;

use serde::Serialize;

/// Why the guard refuses a pair; also the label of `weir_guard_vetoes_total`. The order is that of
/// precedence: of several reasons the first is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Veto {
    /// Code, in a block or inline, differs in any character.
    Code,
    /// A quoted string differs in any character.
    Quote,
    /// An identifier, flag, path, URL, address or product code differs.
    Identifier,
    /// A version differs.
    Version,
    /// A date or a time of day differs.
    Date,
    /// A number differs.
    Number,
    /// A unit or a currency differs.
    Unit,
    /// One is negated.
    Negation,
    /// A word stands against its opposite.
    Antonym,
    /// A quantifier differs: all, some, every, only.
    Quantifier,
    /// A comparison or a bound differs: more, most, at least.
    Comparison,
    /// Another thing is asked: who, when, where, how many, why.
    Asked,
    /// Another person is spoken of: my, your, her.
    Person,
    /// A condition or a relation differs: if, unless, without, from, to.
    Condition,
    /// Another thing is to be done: summarize, translate, compare.
    Task,
    /// The language or script of the reply differs.
    Language,
    /// A name of a person, place, organisation or product differs.
    Name,
    /// The same words stand in another order.
    Order,
    /// A word differs that nothing explains.
    Unexplained,
    /// The texts are too long or too different to be aligned.
    TooDifferent,
}

// === impl Veto ===

impl Veto {
    /// All reasons, for metrics.
    pub const ALL: [Self; 20] = [
        Self::Code,
        Self::Quote,
        Self::Identifier,
        Self::Version,
        Self::Date,
        Self::Number,
        Self::Unit,
        Self::Negation,
        Self::Antonym,
        Self::Quantifier,
        Self::Comparison,
        Self::Asked,
        Self::Person,
        Self::Condition,
        Self::Task,
        Self::Language,
        Self::Name,
        Self::Order,
        Self::Unexplained,
        Self::TooDifferent,
    ];

    /// The metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Quote => "quote",
            Self::Identifier => "identifier",
            Self::Version => "version",
            Self::Date => "date",
            Self::Number => "number",
            Self::Unit => "unit",
            Self::Negation => "negation",
            Self::Antonym => "antonym",
            Self::Quantifier => "quantifier",
            Self::Comparison => "comparison",
            Self::Asked => "asked",
            Self::Person => "person",
            Self::Condition => "condition",
            Self::Task => "task",
            Self::Language => "language",
            Self::Name => "name",
            Self::Order => "order",
            Self::Unexplained => "unexplained",
            Self::TooDifferent => "too_different",
        }
    }

    /// Whether this reason stands even where a task has its own rule for unexplained words.
    #[must_use]
    pub const fn is_hard(self) -> bool {
        !matches!(self, Self::Unexplained | Self::TooDifferent)
    }
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
