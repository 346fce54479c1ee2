//! The running process: listeners, background work, and the order of stopping.
//!
//! Stopping has three steps. At the first signal readiness turns 503, new requests are turned away and
//! running replies go on. When the last has ended, or the drain time is over, or a second signal comes, what
//! still runs gets an error frame. Then connections close and [`run`] returns; the exit code is 0 either
//! way, since an operator who stops a process has not met an error.

mod assemble;
mod operator;
mod serve;
mod signals;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::info;

use crate::gateway::Gateway;
use crate::http::{self, AdminConfig, AdminOps, Edge};

pub use assemble::{ApplyError, House};
pub use operator::Operator;
pub use serve::{Serving, start};
pub use signals::{Stop, signals};

/// How long connections may take to hand over their last bytes.
const LAST_BYTES: Duration = Duration::from_secs(5);

/// A process ready to run. Listeners are bound by the caller, so that a port in use is an error before
/// anything starts, and port 0 can be asked for its number.
pub struct App {
    /// Where callers connect.
    pub callers: TcpListener,
    /// Where operators connect.
    pub operators: TcpListener,
    /// What callers meet.
    pub edge: Arc<Edge>,
    /// What operators meet.
    pub admin: Arc<dyn AdminOps>,
    /// The token for it.
    pub admin_config: AdminConfig,
    /// Work beside the requests (load probes, the watcher of the configuration, the upstream's tending). Spawned
    /// by the caller on `background`, ended by `stopping`.
    pub background: TaskTracker,
    /// Tells the background work to end.
    pub stopping: CancellationToken,
}

/// Runs until stopped. Each item of `stops` is one signal; the second one ends the drain at once.
pub async fn run(app: App, mut stops: mpsc::Receiver<Stop>) {
    let App { callers, operators, edge, admin, admin_config, background, stopping } = app;
    let (life, config) = (edge.life.clone(), edge.config.clone());
    let gateway: Arc<Gateway> = Arc::clone(&edge.gateway);
    let connections = TaskTracker::new();
    // The admin listener must answer to the very end, so its life is its own.
    let admin_life = http::Lifecycle::default();
    let operators_page = http::admin_router(admin, admin_config, life.clone());
    let servers = TaskTracker::new();
    servers.spawn(http::serve(callers, http::router(&edge), config.clone(), life.clone(), connections.clone()));
    servers.spawn(http::serve(operators, operators_page, config.clone(), admin_life.clone(), connections.clone()));

    stops.recv().await;
    info!(drain = ?config.drain, "stopping: new requests are turned away, running replies go on");
    life.drain();
    // Cancel-safe: both only wait.
    tokio::select! {
        _ = timeout(config.drain, life.idle()) => {}
        _ = stops.recv() => info!("stopping at once"),
    }
    life.cut();
    gateway.stop();
    let _ = timeout(LAST_BYTES, life.idle()).await;
    life.close();
    admin_life.close();
    stopping.cancel();
    for tasks in [&servers, &connections, &background] {
        tasks.close();
    }
    let all = async { tokio::join!(servers.wait(), connections.wait(), background.wait(), gateway.drained()) };
    let _ = timeout(LAST_BYTES, all).await;
    info!("stopped");
}
