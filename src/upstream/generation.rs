//! One generation of connections: made for one answer of the resolver, replaced as a whole.
//!
//! A pool that lives for ever never notices a new backend behind a name, and never leaves an old one. So
//! the pool is not told of changes; it is replaced. Requests under way keep the old generation alive, and
//! its idle connections go with the last of them.
//!
//! Each address has a lane (a pool) of its own and requests take the lanes in turn, because a pool alone
//! would send everything over the connection that it used last. A lane whose own address does not answer
//! turns to the others, IPv4 and IPv6 in parallel after 300 ms (RFC 8305).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::crypto::ring;
use tokio::time::{Instant, timeout};
use tower::Service;

use super::resolve::Route;
use super::{BoxError, Config, ConfigError, PassBody};

/// More backends than this behind one name share lanes.
const MOST_LANES: usize = 16;
/// The other address family gets its chance after this time.
const HAPPY_EYEBALLS: Duration = Duration::from_millis(300);
/// Dead peers are noticed even when no byte is due.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);

type Connector = HttpsConnector<HttpConnector<Route>>;

/// A pool of connections to one address.
pub(super) type Lane = Client<Dial, PassBody>;

/// The connections of one answer of the resolver.
pub(super) struct Generation {
    /// Sorted; empty while the name has not been looked up.
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) born: Instant,
    lanes: Vec<Lane>,
    next: AtomicUsize,
}

/// What every generation is made from.
pub(super) struct Workshop {
    config: Config,
    tls: Arc<ClientConfig>,
}

/// Connects, TLS included, within the connect time-out.
#[derive(Clone)]
pub(super) struct Dial {
    connector: Connector,
    within: Duration,
}

// === impl Workshop ===

impl Workshop {
    /// Reads the system's root certificates if they will be needed.
    pub(super) fn new(config: &Config, is_tls: bool) -> Result<Self, ConfigError> {
        let builder = ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(|_| ConfigError::no_roots())?;
        let tls = if is_tls {
            builder.with_native_roots().map_err(|_| ConfigError::no_roots())?.with_no_client_auth()
        } else {
            builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
        };
        Ok(Self { config: config.clone(), tls: Arc::new(tls) })
    }

    /// A generation that has not looked the name up: each new connection does.
    pub(super) fn unresolved(&self, ask: Route) -> Generation {
        Generation::new(Vec::new(), vec![self.lane(ask)])
    }

    /// A generation for these addresses (sorted, none twice).
    pub(super) fn resolved(&self, addresses: Vec<SocketAddr>) -> Generation {
        let lanes = (0..addresses.len().min(MOST_LANES))
            .map(|first| {
                let mut turned = addresses.clone();
                turned.rotate_left(first);
                self.lane(Route::Known(turned))
            })
            .collect();
        Generation::new(addresses, lanes)
    }

    fn lane(&self, route: Route) -> Lane {
        let mut tcp = HttpConnector::new_with_resolver(route);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(TCP_KEEPALIVE));
        tcp.set_connect_timeout(Some(self.config.connect_timeout));
        tcp.set_happy_eyeballs_timeout(Some(HAPPY_EYEBALLS));
        let connector = Connector::from((tcp, Arc::clone(&self.tls)));
        Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(self.config.pool_idle_timeout)
            .pool_max_idle_per_host(self.config.pool_max_idle)
            .build(Dial { connector, within: self.config.connect_timeout })
    }
}

// === impl Generation ===

impl Generation {
    fn new(addresses: Vec<SocketAddr>, lanes: Vec<Lane>) -> Self {
        Self { addresses, born: Instant::now(), lanes, next: AtomicUsize::new(0) }
    }

    /// The lane whose turn it is.
    pub(super) fn lane(&self) -> &Lane {
        &self.lanes[self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len()]
    }
}

// === impl Dial ===

impl Service<Uri> for Dial {
    type Response = <Connector as Service<Uri>>::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connecting = self.connector.call(to);
        let within = self.within;
        Box::pin(async move {
            timeout(within, connecting).await.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        })
    }
}
