//! From a host name to addresses.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;

/// Looks a name up. The system's resolver, or a script in tests.
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of `host`, IPv4 and IPv6, in the order in which they should be tried.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// `getaddrinfo`, on a thread of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

/// What one lane of connections dials.
#[derive(Clone)]
pub(super) enum Route {
    /// Not looked up yet: every connection asks.
    AskEachTime(Arc<dyn Resolve>, u16),
    /// These, the lane's own address first; the others are where it turns when its own does not answer.
    Known(Vec<SocketAddr>),
}

// === impl SystemResolver ===

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

// === impl Route ===

impl tower::Service<Name> for Route {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let route = self.clone();
        Box::pin(async move {
            match route {
                Self::AskEachTime(resolver, port) => Ok(resolver.resolve(name.as_str(), port).await?.into_iter()),
                Self::Known(addresses) => Ok(addresses.into_iter()),
            }
        })
    }
}
