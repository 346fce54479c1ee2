//! From the command line to a running gateway: the one place where everything is put together.

use std::sync::Arc;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{App, House, Operator, Stop};
use crate::config::{Config, Loaded, Loader, Reloader};
use crate::meter::Meter;
use crate::telemetry::LevelHandle;
use crate::upstream::SystemResolver;

/// A gateway that listens and is ready to be run.
pub struct Serving {
    app: App,
    house: Arc<House>,
}

/// Makes everything that a checked configuration asks for, and binds the listeners.
pub async fn start(loader: Loader, initial: Loaded, level: LevelHandle) -> anyhow::Result<Serving> {
    let config = initial.config.clone();
    let (background, stopping, meter) = (TaskTracker::new(), CancellationToken::new(), Meter::new());
    let callers = bind("server.listen", config.server.listen).await?;
    let operators = bind("admin.listen", config.admin.listen).await?;
    let house = Arc::new(House::build(&config, &meter, background.clone(), stopping.clone())?);
    let applied = Arc::clone(&house);
    let apply = Box::new(move |config: &Arc<Config>| {
        applied.apply(config).map_err(|error| error.to_string())?;
        level.set(&config.log.level).map_err(|error| error.to_string())
    });
    let (reloader, handle) = Reloader::new(loader, initial, apply, Arc::new(SystemResolver), meter);
    background.spawn(reloader.run(stopping.clone()));
    let admin = Arc::new(Operator { house: Arc::clone(&house), config: handle });
    let edge = Arc::clone(&house.edge);
    let app = App { callers, operators, edge, admin, admin_config: config.admin, background, stopping };
    Ok(Serving { app, house })
}

async fn bind(key: &str, address: std::net::SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("{key}: cannot listen on {address}"))
}

// === impl Serving ===

impl Serving {
    /// Where callers connect.
    pub fn callers(&self) -> std::io::Result<std::net::SocketAddr> {
        self.app.callers.local_addr()
    }

    /// Where operators connect.
    pub fn operators(&self) -> std::io::Result<std::net::SocketAddr> {
        self.app.operators.local_addr()
    }

    /// The engines.
    #[must_use]
    pub fn house(&self) -> &Arc<House> {
        &self.house
    }

    /// Runs until stopped; each item of `stops` is one signal.
    pub async fn run(self, stops: mpsc::Receiver<Stop>) {
        super::run(self.app, stops).await;
    }
}
