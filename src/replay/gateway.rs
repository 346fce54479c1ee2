//! A gateway for the length of a replay: this program's own `serve` as a child process, with a configuration
//! whose lifetimes run as fast as the file does.
//!
//! A child rather than a task, so that what is measured is what operators run, and nothing of the gateway is
//! known here but its command line, its readiness page and the key `ttl`.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::Instant;
use toml::{Table, Value};

use super::send::{Pace, Target};
use crate::domain::duration_text;

/// A running child; dropping it ends it.
#[derive(Debug)]
pub struct Gateway {
    child: Child,
    url: String,
    config: PathBuf,
}

/// Why there is no gateway to replay through.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The configuration is no TOML.
    #[error("the configuration cannot be read")]
    Config(#[from] toml::de::Error),
    /// No port, no file, no process.
    #[error("the gateway cannot be started")]
    Io(#[from] io::Error),
    /// The child ended by itself.
    #[error("the gateway ended before it was ready ({0})")]
    Ended(std::process::ExitStatus),
    /// The child never said that it was ready.
    #[error("the gateway was not ready within {0:?}")]
    NotReady(Duration),
}

/// Loading a model takes a few seconds, on a busy machine many.
const READY_WITHIN: Duration = Duration::from_mins(2);
const ASK_EVERY: Duration = Duration::from_millis(50);

/// `config` laid over `defaults`, with every lifetime of a task's answers set to `ttl` (if given) and divided
/// by the pace.
pub fn scale_ttls(defaults: &str, config: &str, ttl: Option<Duration>, pace: Pace) -> Result<String, GatewayError> {
    let mut all: Table = defaults.parse()?;
    lay_over(&mut all, config.parse()?);
    for task in all.get_mut("tasks").and_then(Value::as_table_mut).into_iter().flat_map(|tasks| tasks.iter_mut()) {
        let Some(lifetime) = task.1.get_mut("ttl") else { continue };
        let own = lifetime.as_str().and_then(|text| duration_text::parse(text).ok());
        if let Some(time) = ttl.or(own) {
            *lifetime = Value::String(duration_text::format(pace.scaled(time)));
        }
    }
    Ok(all.to_string())
}

fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

// === impl Gateway ===

impl Gateway {
    /// Starts `program serve` in front of `upstream` and waits until it is ready.
    pub async fn start(program: &Path, upstream: &str, config: &str) -> Result<Self, GatewayError> {
        let [listen, admin] = free_ports()?;
        let file = std::env::temp_dir().join(format!("weir-replay-{}-{}.toml", std::process::id(), listen.port()));
        std::fs::write(&file, config)?;
        let child = Command::new(program)
            .args(["serve", "--upstream", upstream, "--listen", &listen.to_string(), "--admin", &admin.to_string()])
            .arg("--config")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let mut gateway = Self { child, url: format!("http://{listen}"), config: file };
        gateway.ready(&format!("http://{admin}")).await?;
        Ok(gateway)
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    async fn ready(&mut self, admin: &str) -> Result<(), GatewayError> {
        let admin = Target::new(admin);
        let deadline = Instant::now() + READY_WITHIN;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Err(GatewayError::Ended(status));
            }
            if admin.get("/readyz").await.is_some() {
                return Ok(());
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
        Err(GatewayError::NotReady(READY_WITHIN))
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.config);
    }
}

/// Two ports that nobody listens on: found by listening and letting go. Somebody else may take one before the
/// child does; then the child says so and ends.
fn free_ports() -> io::Result<[SocketAddr; 2]> {
    let listeners = [TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?];
    Ok([listeners[0].local_addr()?, listeners[1].local_addr()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: &str =
        "[log]\nlevel = \"info\"\n[tasks.qa]\nttl = \"5m\"\nlexical = 0.9\n[tasks.chat]\nttl = \"1m\"\n";

    #[test]
    fn lifetimes_run_as_fast_as_the_file_and_nothing_else_changes() {
        let pace = Pace::new(60.0).unwrap();
        let config: Table = scale_ttls(DEFAULTS, "[tasks.qa]\nttl = \"1h\"\n", None, pace).unwrap().parse().unwrap();
        assert_eq!(config["tasks"]["qa"]["ttl"].as_str(), Some("1m"));
        assert_eq!(config["tasks"]["qa"]["lexical"].as_float(), Some(0.9));
        assert_eq!(config["tasks"]["chat"]["ttl"].as_str(), Some("1s"));
        assert_eq!(config["log"]["level"].as_str(), Some("info"));
    }

    #[test]
    fn one_lifetime_can_be_set_for_all_tasks() {
        let ttl = Some(Duration::from_hours(24));
        let config: Table = scale_ttls(DEFAULTS, "", ttl, Pace::OWN).unwrap().parse().unwrap();
        assert_eq!(config["tasks"]["qa"]["ttl"].as_str(), Some("1d"));
        assert_eq!(config["tasks"]["chat"]["ttl"].as_str(), Some("1d"));
    }

    #[test]
    fn the_gateways_own_defaults_have_lifetimes_to_scale() {
        let defaults = crate::config::defaults_as_toml();
        let config: Table =
            scale_ttls(&defaults, "", Some(Duration::from_secs(7)), Pace::OWN).unwrap().parse().unwrap();
        assert_eq!(config["tasks"]["qa"]["ttl"].as_str(), Some("7s"));
    }
}
