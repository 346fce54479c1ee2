//! The upstream over HTTP.

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::TryStreamExt;
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::body::{self, Bounds, Counted};
use super::generation::{Generation, Workshop};
use super::resolve::Route;
use super::{Base, BoxError, Config, ConfigError, Forward, PassBody, Resolve, Scrubber, SystemResolver};
use super::{Upstream, UpstreamResponse, headers};
use crate::domain::{Head, UpstreamFailure, UpstreamRequest};

/// The upstream over HTTP/1.1, in plain text or TLS.
///
/// Works from the moment it is made; [`HttpUpstream::tend`] must run beside it for name changes to be noticed.
pub struct HttpUpstream {
    base: Base,
    config: Config,
    bearer: Option<HeaderValue>,
    resolver: Arc<dyn Resolve>,
    workshop: Workshop,
    generation: ArcSwap<Generation>,
}

/// Why there is no response head.
enum NoHead {
    /// No connection, so nothing was sent.
    Unconnected,
    Failed(UpstreamFailure),
}

// === impl HttpUpstream ===

impl HttpUpstream {
    /// Checks the configuration; nothing is connected or looked up yet.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// The same with another way to look names up.
    pub fn with_resolver(config: Config, resolver: Arc<dyn Resolve>) -> Result<Self, ConfigError> {
        config.check()?;
        let base = Base::parse(&config.url).map_err(|error| ConfigError::new("url", error.to_string()))?;
        let workshop = Workshop::new(&config, base.is_tls())?;
        let first = workshop.unresolved(Route::AskEachTime(Arc::clone(&resolver), base.port()));
        Ok(Self {
            bearer: bearer_of(&config)?,
            generation: ArcSwap::from_pointee(first),
            base,
            config,
            resolver,
            workshop,
        })
    }

    /// Keeps the connections young until `stop`: one task for the life of the process.
    pub async fn tend(&self, stop: CancellationToken) {
        // Cancel-safe: `refresh` changes state only in its last, synchronous step.
        let _ = stop
            .run_until_cancelled(async {
                loop {
                    self.refresh().await;
                    tokio::time::sleep(self.config.resolve_every).await;
                }
            })
            .await;
    }

    /// Looks the name up once; a new generation of connections takes over if the answer has changed or the
    /// present one is too old. A failing resolver changes nothing. Returns whether there is a new one.
    pub async fn refresh(&self) -> bool {
        let lookup = self.resolver.resolve(self.base.host(), self.base.port());
        let Ok(Ok(mut addresses)) = timeout(self.config.connect_timeout, lookup).await else { return false };
        addresses.sort_unstable();
        addresses.dedup();
        let present = self.generation.load();
        let is_old = present.born.elapsed() >= self.config.connection_max_age;
        if addresses.is_empty() || (addresses == present.addresses && !is_old) {
            return false;
        }
        self.generation.store(Arc::new(self.workshop.resolved(addresses)));
        true
    }

    /// One exchange up to the response head. A connection that fails is tried once more if looking the name
    /// up again brings other addresses; a request that may have been sent is never sent again.
    async fn inference(&self, request: &UpstreamRequest, by: Instant) -> Result<Response<Incoming>, NoHead> {
        match self.exchange(self.prepared(request)?, by).await {
            Err(NoHead::Unconnected) if self.refresh().await => self.exchange(self.prepared(request)?, by).await,
            other => other,
        }
    }

    async fn exchange(&self, request: Request<PassBody>, by: Instant) -> Result<Response<Incoming>, NoHead> {
        let generation = self.generation.load_full();
        let response = timeout_at(by, generation.lane().request(request));
        response.await.map_err(|_| UpstreamFailure::FirstByteTimeout)?.map_err(|error| NoHead::of(&error))
    }

    fn prepared(&self, request: &UpstreamRequest) -> Result<Request<PassBody>, UpstreamFailure> {
        let body = Full::new(request.body.clone()).map_err(|never| match never {}).boxed_unsync();
        let mut prepared = Request::new(body);
        *prepared.method_mut() = Method::try_from(request.method.as_str()).map_err(|_| UpstreamFailure::Garbled)?;
        *prepared.uri_mut() = self.base.join(&request.path_and_query).ok_or(UpstreamFailure::Garbled)?;
        *prepared.headers_mut() = headers::of_inference(&request.headers);
        self.sign(prepared.headers_mut());
        Ok(prepared)
    }

    fn sign(&self, headers: &mut HeaderMap) {
        if let Some(bearer) = &self.bearer {
            headers::replace_credential(headers, bearer);
        }
    }

    /// Knows the keys that must not come back to a caller.
    fn scrubber(&self, caller: Vec<Vec<u8>>) -> Scrubber {
        let own = self.config.api_key.expose().as_bytes().to_vec();
        Scrubber::new(caller.into_iter().chain([own]))
    }

    async fn pass(&self, mut request: Request<PassBody>) -> Result<Response<PassBody>, UpstreamFailure> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = self.base.join(path).ok_or(UpstreamFailure::Garbled)?;
        *request.version_mut() = http::Version::HTTP_11;
        headers::strip_hop_by_hop(request.headers_mut());
        request.headers_mut().remove(HOST);
        let scrubber = self.scrubber(headers::credentials(request.headers()));
        self.sign(request.headers_mut());
        let mut frames = Arc::default();
        let request = request.map(|body| {
            let (body, counter) = Counted::new(body);
            frames = counter;
            body.boxed_unsync()
        });
        let generation = self.generation.load_full();
        let answering = generation.lane().request(request);
        let answer = body::while_progressing(self.config.first_byte_timeout, &frames, answering).await;
        let response = answer.map_err(|_| UpstreamFailure::FirstByteTimeout)?.map_err(|error| NoHead::of(&error))?;
        Ok(passed_back(response, scrubber))
    }
}

impl Upstream for HttpUpstream {
    fn send(&self, request: Arc<UpstreamRequest>) -> BoxFuture<'_, Result<UpstreamResponse, UpstreamFailure>> {
        Box::pin(async move {
            let first_by = Instant::now() + self.config.first_byte_timeout;
            let response = self.inference(&request, first_by).await?;
            let (parts, incoming) = response.into_parts();
            let mut head = headers::head_of(parts.status.as_u16(), &parts.headers);
            let bounds = Bounds { first_by, idle: self.config.idle_timeout, most: self.config.max_response };
            let mut body = body::chunks(incoming, bounds);
            if !head.is_success() {
                let scrubber = self.scrubber(headers::credentials(&headers::of_inference(&request.headers)));
                scrub_head(&mut head, &scrubber);
                body = body::scrubbed(body, scrubber);
            }
            Ok(UpstreamResponse { head, body })
        })
    }
}

impl Forward for HttpUpstream {
    fn forward(&self, request: Request<PassBody>) -> BoxFuture<'_, Result<Response<PassBody>, UpstreamFailure>> {
        Box::pin(self.pass(request))
    }
}

fn bearer_of(config: &Config) -> Result<Option<HeaderValue>, ConfigError> {
    if !config.api_key.is_set() {
        return Ok(None);
    }
    let mut value = HeaderValue::try_from(format!("Bearer {}", config.api_key.expose()))
        .map_err(|_| ConfigError::new("api_key", "cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

fn scrub_head(head: &mut Head, scrubber: &Scrubber) {
    for (_, value) in &mut head.headers {
        *value = Bytes::from(scrubber.scrub(value));
    }
}

/// The response as the caller sees it: untouched, except for keys in what is not a success.
fn passed_back(mut response: Response<Incoming>, mut scrubber: Scrubber) -> Response<PassBody> {
    headers::strip_hop_by_hop(response.headers_mut());
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if !is_error || response.status() == StatusCode::NOT_MODIFIED {
        return response.map(|body| body.map_err(BoxError::from).boxed_unsync());
    }
    for value in response.headers_mut().values_mut() {
        if let Ok(clean) = HeaderValue::from_bytes(&scrubber.scrub(value.as_bytes())) {
            *value = clean;
        }
    }
    response.headers_mut().remove(CONTENT_LENGTH);
    response.map(|incoming| {
        let data = incoming.into_data_stream().map_err(BoxError::from);
        let clean = body::scrubbed(Box::pin(data), std::mem::take(&mut scrubber));
        StreamBody::new(clean.map_ok(Frame::data)).boxed_unsync()
    })
}

// === impl NoHead ===

impl NoHead {
    fn of(error: &hyper_util::client::legacy::Error) -> Self {
        if error.is_connect() { Self::Unconnected } else { Self::Failed(body::failure_of(error)) }
    }
}

impl From<UpstreamFailure> for NoHead {
    fn from(failure: UpstreamFailure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NoHead> for UpstreamFailure {
    fn from(no_head: NoHead) -> Self {
        match no_head {
            NoHead::Unconnected => Self::Unreachable,
            NoHead::Failed(failure) => failure,
        }
    }
}
