//! The listeners and what a connection may do to us.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::{Secret, bytes_text, duration_text};

/// `[server]`: where callers connect, and what they may cost before they have asked anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where callers connect. Default `127.0.0.1:8080`. Read at start only.
    pub listen: SocketAddr,
    /// From connecting, or from the last reply, to a complete request head. Default 10 s, so it is also how
    /// long an idle connection is kept.
    #[serde(with = "duration_text")]
    pub header_timeout: Duration,
    /// A request body must come within this time, plus one second for every 16 KiB. Default 30 s.
    #[serde(with = "duration_text")]
    pub body_timeout: Duration,
    /// A connection is closed if its caller takes nothing of a reply for so long. Default 60 s.
    #[serde(with = "duration_text")]
    pub write_timeout: Duration,
    /// Largest request body of an inference. Default 32 MiB. Other paths have no bound.
    #[serde(with = "bytes_text")]
    pub max_body: usize,
    /// Connections at a time; more wait in the listener's backlog. Default 20,000. Read at start only.
    pub max_connections: usize,
    /// How long running replies may go on after SIGTERM. Default 120 s.
    #[serde(with = "duration_text")]
    pub drain: Duration,
}

/// `[admin]`: the listener for operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdminConfig {
    /// Where operators connect. Default `127.0.0.1:9900`. Read at start only.
    pub listen: SocketAddr,
    /// The bearer token of `/admin/*`. Without one those paths are closed. `/livez`, `/readyz` and
    /// `/metrics` never ask for it.
    pub token: Secret,
}

/// A value of `[server]` or `[admin]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct ConfigError {
    /// The key within its section.
    pub key: &'static str,
    /// What is allowed.
    pub reason: &'static str,
}

// === impl Config ===

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_mins(1),
            max_body: 32 << 20,
            max_connections: 20_000,
            drain: Duration::from_mins(2),
        }
    }
}

impl Config {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key, reason| Err(ConfigError { key, reason });
        let hour = Duration::from_hours(1);
        for (key, value) in [
            ("header_timeout", self.header_timeout),
            ("body_timeout", self.body_timeout),
            ("write_timeout", self.write_timeout),
        ] {
            if value < Duration::from_millis(10) || value > hour {
                return refuse(key, "must be between 10ms and 1h");
            }
        }
        if !(1 << 10..=1 << 30).contains(&self.max_body) {
            return refuse("max_body", "must be between 1KiB and 1GiB");
        }
        if !(1..=1_000_000).contains(&self.max_connections) {
            return refuse("max_connections", "must be between 1 and 1000000");
        }
        if self.drain > hour {
            return refuse("drain", "must be at most 1h");
        }
        Ok(())
    }
}

// === impl AdminConfig ===

impl Default for AdminConfig {
    fn default() -> Self {
        Self { listen: (Ipv4Addr::LOCALHOST, 9900).into(), token: Secret::default() }
    }
}

impl AdminConfig {
    /// Refuses what cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.token.is_set() && self.token.expose().len() < 8 {
            return Err(ConfigError { key: "token", reason: "must have at least 8 characters" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_out_of_range_is_refused_by_its_key() {
        let good = Config::default();
        assert_eq!(good.check(), Ok(()));
        for (bad, key) in [
            (Config { header_timeout: Duration::ZERO, ..good.clone() }, "header_timeout"),
            (Config { body_timeout: Duration::ZERO, ..good.clone() }, "body_timeout"),
            (Config { write_timeout: Duration::ZERO, ..good.clone() }, "write_timeout"),
            (Config { max_body: 1, ..good.clone() }, "max_body"),
            (Config { max_connections: 0, ..good.clone() }, "max_connections"),
            (Config { drain: Duration::from_hours(2), ..good.clone() }, "drain"),
        ] {
            assert_eq!(bad.check().unwrap_err().key, key);
        }
        let short = AdminConfig { token: Secret::new("short"), ..AdminConfig::default() };
        assert_eq!(short.check().unwrap_err().key, "token");
    }

    #[test]
    fn k12_05_every_kind_of_address_can_be_listened_on() {
        for listen in ["0.0.0.0:8080", "[::]:8080", "[::1]:8080"] {
            let config: Config = toml::from_str(&format!("listen = {listen:?}")).unwrap();
            assert_eq!(config.listen.to_string(), listen);
        }
    }
}
