//! The open loop: every request leaves at its own time, whatever became of the earlier ones.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use indicatif::ProgressBar;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Book, Entry, Reply};

/// How much faster than its own pace a file is sent. Finite and above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace(f64);

/// Where to send it.
#[derive(Clone)]
pub struct Target {
    client: Client<HttpConnector, Full<Bytes>>,
    base: Arc<str>,
}

/// What became of one request. All times are counted from when it was to be sent.
#[derive(Clone, Debug)]
pub struct Sample {
    /// How it ended.
    pub reply: Reply,
    /// How much too late it left: the sender's fault, not the server's.
    pub lag: Duration,
    /// Until the first bytes of a stream; nothing for other answers.
    pub first_bytes: Option<Duration>,
    /// Until the last byte.
    pub latency: Duration,
}

/// More requests than this are not open at once. Reaching it shows as lag.
const MOST_OPEN: usize = 8_192;
/// A request that takes longer has failed.
const PATIENCE: Duration = Duration::from_mins(5);

// === impl Pace ===

impl Pace {
    /// The file's own.
    pub const OWN: Self = Self(1.0);

    /// `None` unless it is finite and above 0.
    #[must_use]
    pub fn new(times: f64) -> Option<Self> {
        (times.is_finite() && times > 0.0).then_some(Self(times))
    }

    /// How many times faster.
    #[must_use]
    pub fn times(self) -> f64 {
        self.0
    }

    /// A time of the file at this pace.
    #[must_use]
    pub fn scaled(self, time: Duration) -> Duration {
        time.div_f64(self.0)
    }
}

// === impl Target ===

impl Target {
    /// A server by its base URL (`http://…`).
    #[must_use]
    pub fn new(base: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(MOST_OPEN).build(connector);
        Self { client, base: base.trim_end_matches('/').into() }
    }

    /// A page of it, whole, or nothing.
    pub async fn get(&self, path: &str) -> Option<Bytes> {
        self.fetch(Request::get(format!("{}{path}", self.base)).body(Full::default()).ok()?).await
    }

    /// Posts a body, which may be empty; the reply, whole, or nothing.
    pub async fn post(&self, path: &str, body: Bytes) -> Option<Bytes> {
        self.fetch(Request::post(format!("{}{path}", self.base)).body(Full::new(body)).ok()?).await
    }

    async fn fetch(&self, request: Request<Full<Bytes>>) -> Option<Bytes> {
        let reply = self.client.request(request).await.ok().filter(|reply| reply.status().is_success())?;
        Some(reply.into_body().collect().await.ok()?.to_bytes())
    }
}

/// Sends all entries, which are in the order of time, and returns when the last is answered. The samples come
/// in the order in which the requests ended.
pub async fn send(entries: &[Entry], target: &Target, pace: Pace, book: &Arc<Book>, bar: &ProgressBar) -> Vec<Sample> {
    let open = Arc::new(Semaphore::new(MOST_OPEN));
    let mut running = JoinSet::new();
    let mut samples = Vec::with_capacity(entries.len());
    let start = Instant::now();
    for entry in entries {
        let due = start + pace.scaled(entry.at);
        tokio::time::sleep_until(due).await;
        // Never closed; without a permit the request would only be open beyond the bound.
        let permit = Arc::clone(&open).acquire_owned().await.ok();
        let (target, book, entry) = (target.clone(), Arc::clone(book), entry.clone());
        running.spawn(async move {
            let sample = one(&target, &book, &entry, due).await;
            drop(permit);
            sample
        });
        while let Some(ended) = running.try_join_next() {
            samples.extend(ended.ok());
            bar.inc(1);
        }
    }
    while let Some(ended) = running.join_next().await {
        samples.extend(ended.ok());
        bar.inc(1);
    }
    samples
}

async fn one(target: &Target, book: &Book, entry: &Entry, due: Instant) -> Sample {
    let lag = due.elapsed();
    let mut first_bytes = None;
    let reply = match tokio::time::timeout(PATIENCE, exchange(target, book, entry, due, &mut first_bytes)).await {
        Ok(reply) => reply,
        Err(_) => Reply::Failed("no answer in time".to_owned()),
    };
    Sample { reply, lag, first_bytes, latency: due.elapsed() }
}

async fn exchange(
    target: &Target,
    book: &Book,
    entry: &Entry,
    due: Instant,
    first_bytes: &mut Option<Duration>,
) -> Reply {
    let mut request = Request::post(format!("{}{}", target.base, entry.path));
    for (name, value) in &entry.headers {
        request = request.header(name, value);
    }
    let Ok(request) = request.body(Full::new(entry.body())) else {
        return Reply::Failed("not a valid request".to_owned());
    };
    let response = match target.client.request(request).await {
        Ok(response) => response,
        Err(error) => return Reply::Failed(format!("no response: {error}")),
    };
    let is_stream =
        response.headers().get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let (parts, body) = response.into_parts();
    match whole(Response::new(body), || {
        if is_stream {
            first_bytes.get_or_insert_with(|| due.elapsed());
        }
    })
    .await
    {
        Some(body) => Reply::read(&parts, &body, book, &entry.group),
        None => Reply::Failed("the answer was cut".to_owned()),
    }
}

/// The whole body; `None` if it broke off.
async fn whole(response: Response<impl Body<Data = Bytes> + Unpin>, mut on_bytes: impl FnMut()) -> Option<Vec<u8>> {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.ok()?.into_data() {
            on_bytes();
            bytes.extend_from_slice(&data);
        }
    }
    Some(bytes)
}
