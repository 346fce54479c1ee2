//! Who asks, from the credential alone.

use std::fmt;

use http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::domain::{Secret, Tenant};

/// The headers that hold a credential; the first that is there names the tenant.
pub(super) const CREDENTIALS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// `[tenants]`: which credentials belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Groups of credentials, bare as they stand behind `Bearer `; each group is one tenant. Default: none, so
    /// every credential is a tenant of its own.
    pub shared_scope: Vec<Vec<Secret>>,
}

/// A value of `[tenants]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenantConfigError {
    /// An empty credential would put everybody without one into the group.
    #[error("shared_scope: a credential is empty")]
    Empty,
    /// A credential cannot be of two tenants.
    #[error("shared_scope: a credential stands in two groups")]
    Twice,
}

/// The key under which credentials are hashed. It dies with the process, so that tenants of two runs cannot
/// be linked, and outlives a reload, so that a reload loses no stored answer.
#[derive(Clone)]
pub struct TenantKey([u8; 32]);

/// How credentials become tenants.
#[derive(Clone, Debug)]
pub struct TenantRules {
    key: TenantKey,
    shared: Vec<Vec<Secret>>,
}

// === impl TenantConfig ===

impl TenantConfig {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), TenantConfigError> {
        let mut all: Vec<&str> = self.shared_scope.iter().flatten().map(Secret::expose).collect();
        if all.iter().any(|secret| secret.is_empty()) {
            return Err(TenantConfigError::Empty);
        }
        let named = all.len();
        all.sort_unstable();
        all.dedup();
        if all.len() < named { Err(TenantConfigError::Twice) } else { Ok(()) }
    }
}

// === impl TenantKey ===

impl TenantKey {
    /// A key that nobody knows.
    #[must_use]
    pub fn random() -> Self {
        Self(rand::random())
    }
}

impl fmt::Debug for TenantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TenantKey")
    }
}

// === impl TenantRules ===

impl TenantRules {
    /// Tenants hashed under `key`.
    #[must_use]
    pub fn new(key: TenantKey, config: &TenantConfig) -> Self {
        Self { key, shared: config.shared_scope.clone() }
    }

    /// The tenant of a request: a keyed hash of all its credentials, or [`Tenant::ANONYMOUS`].
    ///
    /// The upstream may listen to any of the credentials, so two requests are of one tenant only if
    /// all are equal or of one shared group.
    #[must_use]
    pub fn tenant(&self, headers: &HeaderMap) -> Tenant {
        let mut hasher = blake3::Hasher::new_keyed(&self.key.0);
        let mut is_known = false;
        for name in CREDENTIALS {
            for value in headers.get_all(name) {
                is_known = true;
                self.add(name, value.as_bytes(), &mut hasher);
            }
        }
        if !is_known {
            return Tenant::ANONYMOUS;
        }
        let mut tenant = [0; 16];
        hasher.finalize_xof().fill(&mut tenant);
        Tenant(tenant)
    }

    fn add(&self, name: &str, value: &[u8], hasher: &mut blake3::Hasher) {
        let is_this = |secret: &Secret| secret.matches(bare(value));
        match self.shared.iter().position(|group| group.iter().any(is_this)) {
            Some(group) => {
                hasher.update(b"group").update(&(group as u64).to_le_bytes());
            }
            None => {
                for part in [name.as_bytes(), value] {
                    hasher.update(b"bytes").update(&(part.len() as u64).to_le_bytes()).update(part);
                }
            }
        }
    }
}

/// A credential without its scheme.
fn bare(value: &[u8]) -> &[u8] {
    match value.split_at_checked(7) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case(b"bearer ") => key.trim_ascii(),
        _ => value.trim_ascii(),
    }
}
