//! The key of the exact tier.
//!
//! MD5 because the founding system keys by it; it can be collided on purpose, so nobody may take two
//! equal fingerprints for two equal texts: whoever finds one confirms it against the text.

use std::fmt;

use md5::{Digest, Md5};

/// MD5 of a normalised text: 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub [u8; 16]);

// === impl Fingerprint ===

impl Fingerprint {
    /// The fingerprint of a text that is normalised already.
    #[must_use]
    pub fn of(normal: &str) -> Self {
        Self(Md5::digest(normal.as_bytes()).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_the_published_md5() {
        assert_eq!(Fingerprint::of("").to_string(), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(Fingerprint::of("abc").to_string(), "900150983cd24fb0d6963f7d28e17f72");
    }
}
