//! What is in force, and how the last reload went.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::config::{ConfigError, Loaded};

/// How reloads went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReloadStatus {
    /// Counts the configurations that were in force; 1 = that of the start.
    pub generation: u64,
    /// Hash of the one in force; a refused one never shows here.
    pub hash: String,
    /// Whether the last reload was applied.
    pub ok: bool,
    /// When the files were last taken, RFC 3339.
    pub last_success: String,
    /// The last refusal, if there was one since the start.
    pub last_error: Option<ReloadError>,
}

/// A reload that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReloadError {
    /// When, RFC 3339.
    pub at: String,
    /// Why: one text per problem, with file, line and path.
    pub problems: Vec<String>,
}

/// The configuration in force with its history.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The configuration.
    pub loaded: Arc<Loaded>,
    /// Its history.
    pub status: ReloadStatus,
}

// === impl InForce ===

impl InForce {
    pub(super) fn first(loaded: Loaded) -> Self {
        let hash = loaded.config.hash();
        let status =
            ReloadStatus { generation: 1, hash, ok: true, last_success: rfc3339(SystemTime::now()), last_error: None };
        Self { loaded: Arc::new(loaded), status }
    }

    /// After `loaded` was applied. The same settings in other words are no new generation.
    pub(super) fn followed_by(&self, loaded: Loaded) -> Self {
        let differs = loaded.config != self.loaded.config;
        let status = ReloadStatus {
            generation: self.status.generation + u64::from(differs),
            hash: loaded.config.hash(),
            ok: true,
            last_success: rfc3339(SystemTime::now()),
            last_error: self.status.last_error.clone(),
        };
        Self { loaded: Arc::new(loaded), status }
    }

    pub(super) fn after_refusal(&self, error: &ConfigError) -> Self {
        let problems = error.problems().iter().map(ToString::to_string).collect();
        let last_error = Some(ReloadError { at: rfc3339(SystemTime::now()), problems });
        Self { status: ReloadStatus { ok: false, last_error, ..self.status.clone() }, ..self.clone() }
    }

    /// The page of `GET /admin/config`, secrets masked.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({ "status": self.status, "config": self.loaded.config.to_json() })
    }

    /// The page of `GET /admin/thresholds`.
    #[must_use]
    pub fn thresholds_to_json(&self) -> Json {
        json!({ "generation": self.status.generation, "tasks": self.loaded.thresholds() })
    }
}

/// UTC to the second. The days-to-date step is Howard Hinnant's `civil_from_days`.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
