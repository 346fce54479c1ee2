//! One GET, bounded in size. The probe bounds its time.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::LoadError;

/// A metrics page is some hundred kilobytes at most.
const MAX_PAGE: usize = 4 << 20;

/// Fetches a page.
pub trait Fetch: Send + Sync + 'static {
    /// The body of a successful GET.
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, LoadError>>;
}

/// Fetches over HTTP and, where this machine has root certificates, HTTPS. A client of its own and not the
/// upstream's, so that a probe never takes a connection from a call.
#[derive(Debug)]
pub struct HttpFetch(Transport);

#[derive(Debug)]
enum Transport {
    Tls(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>),
    Plain(Client<HttpConnector, Empty<Bytes>>),
}

// === impl HttpFetch ===

impl Default for HttpFetch {
    fn default() -> Self {
        Self::new()
    }
}

impl HttpFetch {
    /// Opens no connection yet.
    #[must_use]
    pub fn new() -> Self {
        let builder = Client::builder(TokioExecutor::new());
        Self(match HttpsConnectorBuilder::new().with_native_roots() {
            Ok(tls) => Transport::Tls(builder.build(tls.https_or_http().enable_http1().build())),
            Err(error) => {
                tracing::debug!(%error, "no root certificates: metrics pages are read over plain http only");
                Transport::Plain(builder.build_http())
            }
        })
    }

    async fn fetch(&self, url: &str) -> Result<Bytes, LoadError> {
        let uri = url.parse().map_err(|_| LoadError::Unreachable)?;
        let response = match &self.0 {
            Transport::Tls(client) => client.get(uri).await,
            Transport::Plain(client) => client.get(uri).await,
        }
        .map_err(|_| LoadError::Unreachable)?;
        if !response.status().is_success() {
            return Err(LoadError::Status(response.status().as_u16()));
        }
        match Limited::new(response.into_body(), MAX_PAGE).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(LoadError::TooLarge(MAX_PAGE)),
            Err(_) => Err(LoadError::Unreachable),
        }
    }
}

impl Fetch for HttpFetch {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, LoadError>> {
        Box::pin(self.fetch(url))
    }
}
