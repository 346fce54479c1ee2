//! `${NAME}` and `${NAME:-otherwise}` in the texts of a configuration, for secrets that must not stand in a file.
//!
//! `$${` is a literal `${`. A variable that is not set and has no alternative is an error, never an empty text:
//! an API key that silently became "" would only show itself as a stream of 401s. As in a shell, `:-` also
//! replaces a variable that is set but empty.

/// Why a text cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EnvironmentError {
    /// `${NAME` without its end.
    #[error("`${{` without a closing `}}`")]
    Unclosed,
    /// `${}` or a name that no shell would take.
    #[error("{0:?} is not the name of an environment variable")]
    BadName(String),
    /// No such variable, no alternative.
    #[error("the environment variable {0} is not set")]
    Unset(String),
}

/// Looks a variable up; `std::env::var(..).ok()` outside tests.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Fills the variables in. `None`: there are none, the text stays as it is.
pub(super) fn expand(text: &str, lookup: Lookup<'_>) -> Result<Option<String>, EnvironmentError> {
    if !text.contains("${") {
        return Ok(None);
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, tail) = (&rest[..at], &rest[at + 2..]);
        if let Some(literal) = before.strip_suffix('$') {
            filled.push_str(literal);
            filled.push_str("${");
            rest = tail;
            continue;
        }
        let (reference, after) = tail.split_once('}').ok_or(EnvironmentError::Unclosed)?;
        filled.push_str(before);
        filled.push_str(&value_of(reference, lookup)?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(Some(filled))
}

fn value_of(reference: &str, lookup: Lookup<'_>) -> Result<String, EnvironmentError> {
    let (name, otherwise) = match reference.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (reference, None),
    };
    let well_formed = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !well_formed {
        return Err(EnvironmentError::BadName(name.to_owned()));
    }
    match (lookup(name), otherwise) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(otherwise)) => Ok(otherwise.to_owned()),
        (None, None) => Err(EnvironmentError::Unset(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        match name {
            "KEY" => Some("sk-1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_filled_in() {
        for (text, expected) in [
            ("${KEY}", "sk-1"),
            ("Bearer ${KEY}!", "Bearer sk-1!"),
            ("${KEY}${KEY}", "sk-1sk-1"),
            ("${NONE:-http://127.0.0.1:8000}", "http://127.0.0.1:8000"),
            ("${NONE:-}", ""),
            ("${EMPTY:-other}", "other"),
            ("${EMPTY}", ""),
            ("$${KEY}", "${KEY}"),
        ] {
            assert_eq!(expand(text, &lookup), Ok(Some(expected.to_owned())), "{text}");
        }
        assert_eq!(expand("costs $5 {x}", &lookup), Ok(None), "nothing to fill in");
    }

    #[test]
    fn a_variable_that_is_not_set_is_an_error_and_not_an_empty_text() {
        assert_eq!(expand("${NONE}", &lookup), Err(EnvironmentError::Unset("NONE".to_owned())));
        assert_eq!(expand("${KEY", &lookup), Err(EnvironmentError::Unclosed));
        assert_eq!(expand("${}", &lookup), Err(EnvironmentError::BadName(String::new())));
        assert_eq!(expand("${A B}", &lookup), Err(EnvironmentError::BadName("A B".to_owned())));
    }

    #[test]
    fn what_a_variable_holds_is_not_filled_in_again() {
        let nested = |_: &str| Some("${KEY}".to_owned());
        assert_eq!(expand("${A}", &nested), Ok(Some("${KEY}".to_owned())));
    }
}
