//! A whole gateway in this process, with real sockets on both sides, and a caller for it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use weir::app::{self, App, Stop};
use weir::cache::ResultCache;
use weir::domain::{Secret, TaskName};
use weir::embed::{EmbedError, Embedder};
use weir::gateway::{Engines, Gateway, Live, Policies};
use weir::http::decode::{SharingRules, TenantConfig, TenantKey, TenantRules};
use weir::http::{AdminConfig, AdminError, AdminOps, DecodeRules, Edge, Lifecycle, Purge};
use weir::limit::GpuGate;
use weir::matching::Matcher;
use weir::matching::detect::TaskDetector;
use weir::meter::Meter;
use weir::sim::{Sim, SimConfig, SimHandle};
use weir::text::Lexicon;
use weir::upstream::{self, HttpUpstream};
use weir::vector::Embedding;

/// The admin token of every test.
pub const TOKEN: &str = "operators-only";
/// The credential of every test that does not say otherwise.
pub const KEY: &str = "sk-of-the-caller";

/// The dictionaries take long to load and never change.
static MATCHER: LazyLock<Arc<Matcher>> = LazyLock::new(|| Arc::new(Matcher::new(Arc::new(Lexicon::load()))));

/// A running gateway.
pub struct Door {
    pub sim: SimHandle,
    pub meter: Meter,
    pub callers: SocketAddr,
    pub operators: SocketAddr,
    pub stops: mpsc::Sender<Stop>,
    running: JoinHandle<()>,
}

/// What can be set of it.
pub struct Setting {
    pub server: weir::http::Config,
    pub admin: AdminConfig,
    pub upstream: upstream::Config,
}

/// A complete reply.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

struct NoModel;

struct Operator {
    meter: Meter,
    gateway: Arc<Gateway>,
}

// === impl Door ===

impl Door {
    /// In front of a simulator that answers at once.
    pub async fn open() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut Setting)) -> Self {
        let sim = Sim::start(SimConfig::instant()).await.unwrap();
        let url = format!("{}/v1", sim.url());
        let mut setting = Setting {
            server: weir::http::Config { listen: (Ipv4Addr::LOCALHOST, 0).into(), ..weir::http::Config::default() },
            admin: AdminConfig { token: Secret::new(TOKEN), ..AdminConfig::default() },
            upstream: upstream::Config { url, ..upstream::Config::default() },
        };
        change(&mut setting);
        Self::build(sim, setting).await
    }

    async fn build(sim: SimHandle, setting: Setting) -> Self {
        let meter = Meter::new();
        let gateway = gateway(&setting, &meter);
        let edge = Edge {
            gateway: Arc::clone(&gateway),
            rules: ArcSwap::from_pointee(rules()),
            config: setting.server,
            life: Lifecycle::default(),
        };
        let callers = TcpListener::bind(edge.config.listen).await.unwrap();
        let operators = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (stops, stopped) = mpsc::channel(2);
        let (caller_side, operator_side) = (callers.local_addr().unwrap(), operators.local_addr().unwrap());
        let app = App {
            callers,
            operators,
            edge: Arc::new(edge),
            admin: Arc::new(Operator { meter: meter.clone(), gateway }),
            admin_config: setting.admin,
            background: TaskTracker::new(),
            stopping: CancellationToken::new(),
        };
        let running = tokio::spawn(app::run(app, stopped));
        Self { sim, meter, callers: caller_side, operators: operator_side, stops, running }
    }

    /// A connection whose bytes the test writes itself.
    pub async fn raw(&self) -> TcpStream {
        TcpStream::connect(self.callers).await.unwrap()
    }

    /// Sends bytes on a connection of their own; everything that comes back until it closes.
    pub async fn raw_exchange(&self, bytes: &str) -> String {
        let mut stream = self.raw().await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut all = Vec::new();
        // A reset behind the answer closes as well as an end does.
        let _ = in_time(stream.read_to_end(&mut all)).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    pub async fn chat(&self, body: &Value) -> Reply {
        self.post("/v1/chat/completions", &body.to_string()).await
    }

    pub async fn post(&self, path: &str, body: &str) -> Reply {
        complete(self.begin(path, body).await).await
    }

    /// Sends a call; its head, with the body still coming.
    pub async fn begin(&self, path: &str, body: &str) -> http::Response<Incoming> {
        let request = Request::post(path)
            .header("host", "weir")
            .header("authorization", format!("Bearer {KEY}"))
            .header("content-type", "application/json");
        self.send(request.body(Full::from(body.to_owned())).unwrap()).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        complete(self.send(Request::get(path).header("host", "weir").body(Full::default()).unwrap()).await).await
    }

    pub async fn send(&self, request: Request<Full<Bytes>>) -> http::Response<Incoming> {
        exchange(self.callers, request).await
    }

    pub async fn admin(&self, method: Method, path: &str, token: Option<&str>, body: Value) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", "weir");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = if body.is_null() { Full::default() } else { Full::from(body.to_string()) };
        complete(exchange(self.operators, request.body(body).unwrap()).await).await
    }

    pub async fn ready(&self) -> StatusCode {
        self.admin(Method::GET, "/readyz", None, Value::Null).await.status
    }

    /// Asks the process to stop.
    pub async fn stop(&self) {
        self.stops.send(Stop).await.unwrap();
    }

    /// Resolves when the process has ended by itself, in good order.
    pub async fn ended(&mut self) {
        in_time(&mut self.running).await.unwrap();
    }

    /// Waits until a series of the metrics page has that value.
    pub async fn until_metric(&self, series: &str, value: u64) {
        let reached = async {
            while self.metric(series) != value {
                tokio::task::yield_now().await;
            }
        };
        in_time(reached).await;
    }

    /// The count of one series of the metrics page; zero if it is not there.
    pub fn metric(&self, series: &str) -> u64 {
        let page = self.meter.render();
        let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ').map(str::to_owned));
        line.map_or(0, |value| value.parse().unwrap())
    }
}

async fn exchange(to: SocketAddr, request: Request<Full<Bytes>>) -> http::Response<Incoming> {
    let stream = TcpStream::connect(to).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender.send_request(request).await.unwrap()
}

pub async fn complete(response: http::Response<Incoming>) -> Reply {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    Reply { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

/// An upstream that says exactly these bytes to every request; its base URL.
pub async fn canned(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // Every request of the tests fits into one read.
            let _ = stream.read(&mut [0; 16384]).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

/// The next piece of a body as text; empty at its end.
pub async fn piece(body: &mut Incoming) -> String {
    match body.frame().await {
        Some(frame) => String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap(),
        None => String::new(),
    }
}

pub fn ask(question: &str) -> Value {
    json!({"model": "m", "temperature": 0, "messages": [{"role": "user", "content": question}]})
}

pub fn ask_streaming(question: &str) -> Value {
    let mut body = ask(question);
    body["stream"] = json!(true);
    body
}

fn gateway(setting: &Setting, meter: &Meter) -> Arc<Gateway> {
    let upstream = Arc::new(HttpUpstream::new(setting.upstream.clone()).unwrap());
    let matcher = Arc::clone(&MATCHER);
    let cache = ResultCache::new(weir::cache::Config::default(), weir::vector::Config::default(), Arc::clone(&matcher));
    let live = Live {
        policies: Policies::default(),
        upstream: Arc::clone(&upstream) as _,
        forward: upstream,
        stream_usage: setting.upstream.stream_usage,
    };
    let engines = Engines {
        matcher,
        embedder: Arc::new(NoModel),
        cache: Arc::new(cache),
        gate: GpuGate::new(weir::limit::Config::default(), meter.clone()),
        meter: meter.clone(),
    };
    Gateway::new(live, engines)
}

fn rules() -> DecodeRules {
    let policies = Policies::default();
    let names: Vec<TaskName> = policies.iter().map(|(name, _)| name.clone()).collect();
    let tasks = TaskDetector::new(&names, Vec::new(), &BTreeMap::new()).unwrap();
    let sharing = policies.iter().map(|(name, policy)| (name.clone(), SharingRules::from(policy))).collect();
    DecodeRules {
        tasks: Arc::new(tasks),
        sharing,
        tenants: TenantRules::new(TenantKey::random(), &TenantConfig::default()),
    }
}

/// Everything here happens at once or never; a test that waits so long has failed.
pub async fn in_time<T>(waited_for: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), waited_for).await.expect("it did not happen")
}

pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

// === impl NoModel ===

impl Embedder for NoModel {
    fn embed<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Embedding, EmbedError>> {
        Box::pin(std::future::ready(Err(EmbedError::Unavailable)))
    }
}

// === impl Operator ===

impl AdminOps for Operator {
    fn unready(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn metrics(&self) -> String {
        self.meter.render()
    }

    fn purge(&self, what: &Purge) -> Result<u64, AdminError> {
        match what {
            Purge::All(_) => Ok(self.gateway.cache().purge(weir::cache::Purge::All) as u64),
            other => Err(AdminError { key: None, message: format!("{other:?}") }),
        }
    }

    fn thresholds(&self) -> Value {
        json!({"tasks": {}})
    }

    fn set_thresholds(&self, change: Value) -> BoxFuture<'_, Result<Value, AdminError>> {
        let key = change.as_object().and_then(|change| change.keys().next().cloned());
        let outcome = match key.as_deref() {
            Some("qa") => Ok(change),
            _ => Err(AdminError { key, message: "no such task".to_owned() }),
        };
        Box::pin(std::future::ready(outcome))
    }

    fn config(&self) -> Value {
        json!({"hash": "0"})
    }
}
