//! What operators ask of the running process, answered by gateway and configuration.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::cache;
use crate::config::{AdjustError, ReloadHandle};
use crate::domain::{EntryId, ScopeId};
use crate::embed::EmbedState;
use crate::http::{AdminError, AdminOps, Purge};
use crate::text::Fingerprint;

use super::assemble::House;

/// The operator's side of the house.
pub struct Operator {
    /// The engines.
    pub house: Arc<House>,
    /// The configuration in force.
    pub config: ReloadHandle,
}

// === impl Operator ===

impl AdminOps for Operator {
    fn unready(&self) -> Vec<&'static str> {
        match self.house.embedder.state() {
            EmbedState::Loading => vec!["the embedding model is loading"],
            // A model that failed costs the semantic tier, not the service.
            EmbedState::Off | EmbedState::Ready | EmbedState::Failed(_) => Vec::new(),
        }
    }

    fn metrics(&self) -> String {
        let (entries, bytes) = self.house.gateway.cache().size();
        let meter = self.house.gateway.meter();
        meter.cache_size(entries, bytes);
        meter.render()
    }

    fn purge(&self, what: &Purge) -> Result<u64, AdminError> {
        let what = match what {
            Purge::Entry(name) => cache::Purge::Entry(entry(name)?),
            Purge::Key(key) => cache::Purge::Question(Fingerprint(hex("key", key)?)),
            Purge::Scope(scope) => cache::Purge::Scope(ScopeId(hex("scope", scope)?)),
            Purge::All(_) => cache::Purge::All,
        };
        Ok(self.house.gateway.cache().purge(what) as u64)
    }

    fn thresholds(&self) -> Value {
        self.config.in_force().thresholds_to_json()
    }

    fn set_thresholds(&self, change: Value) -> BoxFuture<'_, Result<Value, AdminError>> {
        Box::pin(async move {
            let in_force = self.config.adjust(change.to_string().as_bytes()).await.map_err(|error| refused(&error))?;
            Ok(in_force.thresholds_to_json())
        })
    }

    fn config(&self) -> Value {
        self.config.in_force().to_json()
    }
}

fn refused(error: &AdjustError) -> AdminError {
    let key = match error {
        AdjustError::Invalid(invalid) => invalid.problems().first().map(|problem| problem.path.clone()),
        AdjustError::NotKept(_) | AdjustError::Stopped => None,
    };
    AdminError { key, message: error.to_string() }
}

fn entry(name: &str) -> Result<EntryId, AdminError> {
    let number = name.strip_prefix('e').and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.map(EntryId).ok_or_else(|| wrong("entry", "must look like e1f, as the reply's header shows it"))
}

fn hex<const N: usize>(key: &'static str, text: &str) -> Result<[u8; N], AdminError> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let mut bytes = [0; N];
    let all =
        text.len() == 2 * N && bytes.iter_mut().enumerate().all(|(n, byte)| digit(2 * n).map(|b| *byte = b).is_some());
    if all { Ok(bytes) } else { Err(wrong(key, &format!("must be {} hexadecimal digits", 2 * N))) }
}

fn wrong(key: &str, message: &str) -> AdminError {
    AdminError { key: Some(key.to_owned()), message: format!("{key} {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_headers_show_are_understood_and_others_name_their_key() {
        assert_eq!(entry(&EntryId(0x1f).to_string()).unwrap(), EntryId(0x1f));
        assert_eq!(hex::<2>("key", "0aff").unwrap(), [0x0a, 0xff]);
        for bad in ["", "0a", "0aff0", "zzzz", "é"] {
            assert_eq!(hex::<2>("key", bad).unwrap_err().key.as_deref(), Some("key"), "{bad}");
        }
        assert_eq!(entry("f1").unwrap_err().key.as_deref(), Some("entry"));
    }
}
