//! Who asks, from the credential alone.

use std::fmt;

use http::HeaderMap;

use crate::domain::Tenant;

/// The headers that hold a credential; the first that is there names the tenant.
pub(super) const CREDENTIALS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// A credential from the configuration. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// How credentials become tenants.
#[derive(Clone, Debug)]
pub struct TenantRules {
    key: Secret32,
    shared: Vec<Vec<Secret>>,
}

#[derive(Clone)]
struct Secret32([u8; 32]);

// === impl Secret ===

impl Secret {
    /// A credential: a bare key, as it stands behind `Bearer ` or in `api-key`.
    #[must_use]
    pub fn new(credential: &str) -> Self {
        Self(credential.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl fmt::Debug for Secret32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret32")
    }
}

// === impl TenantRules ===

impl TenantRules {
    /// Tenants hashed under `key`; each group of `shared` credentials is one tenant.
    #[must_use]
    pub fn new(key: [u8; 32], shared: Vec<Vec<Secret>>) -> Self {
        Self { key: Secret32(key), shared }
    }

    /// The same under a key that dies with the process, so that tenants of two runs cannot be linked.
    #[must_use]
    pub fn with_random_key(shared: Vec<Vec<Secret>>) -> Self {
        Self::new(rand::random(), shared)
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
        let is_this = |secret: &Secret| secret.0.as_bytes() == bare(value);
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
