//! A gateway over a scripted upstream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tokio::time::sleep;

use crate::cache::{self, ResultCache};
use crate::domain::{
    CacheDirectives, Call, Form, Head, Outcome, Refusal, ReplyMode, Route, ScopeId, Sharing, TaskName, Tenant,
    UpstreamFailure, UpstreamRequest,
};
use crate::embed::{EmbedError, Embedder};
use crate::flights;
use crate::gateway::{Engines, Gateway, Live, PassBody, Policies, Reply, Served};
use crate::limit::{self, GpuGate};
use crate::matching::Matcher;
use crate::meter::Meter;
use crate::text::Lexicon;
use crate::upstream::{Forward, StreamUsage, Upstream, UpstreamResponse};
use crate::vector::{self, Embedding};

/// What the upstream does with one call.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A complete chat completion with a text of its own, after that time.
    Answer(Duration),
    /// The same with another `finish_reason` (JSON text, so that `null` can be said).
    Finish(&'static str),
    /// These events, one every 10 ms, then a clean end.
    Events(Vec<&'static str>),
    /// These events, then the connection breaks.
    CutAfter(Vec<&'static str>),
    /// An error status.
    Status(u16),
    /// No response head, ever; the client gives up after that time.
    Silent(Duration),
    /// No connection.
    Refuse,
    /// The code in front of the upstream panics.
    Panic,
}

/// An upstream that follows a script and counts.
pub(super) struct Script {
    acts: Mutex<VecDeque<Act>>,
    otherwise: Act,
    calls: AtomicU32,
    last_body: Mutex<Bytes>,
}

/// An embedder without a model.
struct NoEmbedder;

/// A gateway and its upstream.
pub(super) struct World {
    pub(super) gateway: Arc<Gateway>,
    pub(super) upstream: Arc<Script>,
}

/// What a caller got, read to its end.
#[derive(Debug)]
pub(super) struct Got {
    pub(super) source: crate::domain::Source,
    pub(super) status: u16,
    pub(super) text: String,
}

static LEXICON: LazyLock<Arc<Lexicon>> = LazyLock::new(|| Arc::new(Lexicon::load()));

pub(super) const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A deterministic question of task qa at temperature 0.
pub(super) fn ask(question: &str) -> Call {
    let body =
        serde_json::json!({"model": "m-chat", "temperature": 0, "messages": [{"role": "user", "content": question}]});
    let request = UpstreamRequest {
        method: "POST".into(),
        path_and_query: "/v1/chat/completions".into(),
        headers: Vec::new(),
        body: Bytes::from(body.to_string()),
    };
    Call {
        route: Route::Chat,
        task: TaskName::new("qa"),
        tenant: Tenant::ANONYMOUS,
        scope: ScopeId([1; 32]),
        question: Arc::from(question),
        sharing: Sharing::ByMeaning,
        mode: ReplyMode::Whole,
        max_tokens: None,
        cache: CacheDirectives::default(),
        patience: None,
        request: Arc::new(request),
    }
}

// === impl World ===

impl World {
    /// Out-of-the-box policies, except for what `change` does to the window.
    pub(super) fn new(otherwise: Act, change: impl FnOnce(&mut flights::Config)) -> Self {
        Self::build(otherwise, change, limit::Config::default())
    }

    /// The same with another gate.
    pub(super) fn with_admission(otherwise: Act, admission: limit::Config) -> Self {
        Self::build(otherwise, |_| {}, admission)
    }

    fn build(otherwise: Act, change: impl FnOnce(&mut flights::Config), admission: limit::Config) -> Self {
        let mut window = flights::Config::default();
        change(&mut window);
        let policies = Policies::new(&Arc::new(window), &std::collections::BTreeMap::new()).unwrap();
        let upstream = Arc::new(Script {
            acts: Mutex::default(),
            otherwise,
            calls: AtomicU32::new(0),
            last_body: Mutex::default(),
        });
        let matcher = Arc::new(Matcher::new(Arc::clone(&LEXICON)));
        let cache = ResultCache::new(cache::Config::default(), vector::Config::default(), Arc::clone(&matcher));
        let meter = Meter::new();
        let engines = Engines {
            matcher,
            embedder: Arc::new(NoEmbedder),
            cache: Arc::new(cache),
            gate: GpuGate::new(admission, meter.clone()),
            meter,
        };
        let live = Live {
            policies,
            upstream: Arc::clone(&upstream) as Arc<dyn Upstream>,
            forward: Arc::clone(&upstream) as Arc<dyn Forward>,
            stream_usage: StreamUsage::Ask,
        };
        Self { gateway: Gateway::new(live, engines), upstream }
    }

    /// The next calls do this, in order.
    pub(super) fn script(&self, acts: impl IntoIterator<Item = Act>) {
        self.upstream.acts.lock().unwrap().extend(acts);
    }

    pub(super) fn calls(&self) -> u32 {
        self.upstream.calls.load(Ordering::SeqCst)
    }

    /// The body of the newest request that reached the upstream.
    pub(super) fn last_body(&self) -> String {
        String::from_utf8(self.upstream.last_body.lock().unwrap().to_vec()).unwrap()
    }

    pub(super) fn answer(&self, call: Call) -> impl Future<Output = Result<Served, Refusal>> + use<> {
        let gateway = Arc::clone(&self.gateway);
        async move { gateway.answer(call).await }
    }

    /// Asks and reads the reply to its end.
    pub(super) fn get(&self, call: Call) -> impl Future<Output = Result<Got, Refusal>> + use<> {
        let answer = self.answer(call);
        async move { read(answer.await?).await }
    }

    /// Asks in a task of its own, as a caller with a connection of its own would.
    pub(super) fn caller(&self, call: Call) -> tokio::task::JoinHandle<Result<Got, Refusal>> {
        tokio::spawn(self.get(call))
    }

    /// The value of a metric line that begins with `series`; 0 if there is none.
    pub(super) fn metric(&self, series: &str) -> f64 {
        let page = self.gateway.meter().render();
        let line = page.lines().find(|line| line.strip_prefix(series).is_some_and(|rest| rest.starts_with(' ')));
        line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    /// Sums all series of a metric.
    pub(super) fn total(&self, name: &str) -> f64 {
        let page = self.gateway.meter().render();
        let lines =
            page.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    }
}

/// Reads a reply to its end, as the HTTP edge would, and closes its record.
pub(super) async fn read(served: Served) -> Result<Got, Refusal> {
    let Served { source, reply, record, .. } = served;
    let (status, text) = match reply {
        Reply::Stored(answer) => (answer.head.status, answer.parts.concat()),
        Reply::Live { head, mut seat } => {
            let mut body = Vec::new();
            while let Some(part) = seat.next().await {
                match part {
                    Ok(part) => body.extend_from_slice(&part),
                    Err(refusal) => {
                        record.refuse(&refusal);
                        return Err(refusal);
                    }
                }
            }
            (head.status, body)
        }
    };
    record.finish(if status < 400 { Outcome::Ok } else { Outcome::UpstreamError });
    Ok(Got { source, status, text: String::from_utf8(text).unwrap() })
}

// === impl Script ===

impl Upstream for Script {
    fn send(&self, request: Arc<UpstreamRequest>) -> BoxFuture<'_, Result<UpstreamResponse, UpstreamFailure>> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        *self.last_body.lock().unwrap() = request.body.clone();
        let act = self.acts.lock().unwrap().pop_front().unwrap_or_else(|| self.otherwise.clone());
        Box::pin(async move {
            match act {
                Act::Answer(after) => {
                    sleep(after).await;
                    Ok(completion(number, "\"stop\""))
                }
                Act::Finish(reason) => Ok(completion(number, reason)),
                Act::Events(events) => Ok(events_response(events, None)),
                Act::CutAfter(events) => Ok(events_response(events, Some(UpstreamFailure::Cut))),
                Act::Status(status) => Ok(document(status, r#"{"error":{"message":"busy"}}"#.to_owned())),
                Act::Silent(patience) => {
                    sleep(patience).await;
                    Err(UpstreamFailure::FirstByteTimeout)
                }
                Act::Refuse => Err(UpstreamFailure::Unreachable),
                Act::Panic => panic!("a fault injected by the test"),
            }
        })
    }
}

/// Nothing passes through in these tests.
impl Forward for Script {
    fn forward(
        &self,
        _: ::http::Request<PassBody>,
    ) -> BoxFuture<'_, Result<::http::Response<PassBody>, UpstreamFailure>> {
        Box::pin(async { Err(UpstreamFailure::Unreachable) })
    }
}

/// A chat completion of 100 tokens whose text is different on every call.
fn completion(number: u32, finish: &str) -> UpstreamResponse {
    let text = format!(
        r#"{{"id":"c{number}","object":"chat.completion","model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"answer {number}"}},"finish_reason":{finish}}}],"usage":{{"prompt_tokens":40,"completion_tokens":60,"total_tokens":100}}}}"#
    );
    document(200, text)
}

fn document(status: u16, text: String) -> UpstreamResponse {
    let headers = vec![("content-type".to_owned(), Bytes::from_static(b"application/json"))];
    let head = Head { status, headers, form: Form::Whole };
    UpstreamResponse { head, body: stream::iter([Ok(Bytes::from(text))]).boxed() }
}

fn events_response(events: Vec<&'static str>, end: Option<UpstreamFailure>) -> UpstreamResponse {
    let headers = vec![("content-type".to_owned(), Bytes::from_static(b"text/event-stream"))];
    let head = Head { status: 200, headers, form: Form::Stream };
    let parts = events.into_iter().map(|data| Ok(Bytes::from(format!("data: {data}\n\n")))).chain(end.map(Err));
    let body = stream::iter(parts.collect::<Vec<_>>()).then(|part| async {
        sleep(ms(10)).await;
        part
    });
    UpstreamResponse { head, body: body.boxed() }
}

// === impl NoEmbedder ===

impl Embedder for NoEmbedder {
    fn embed<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Embedding, EmbedError>> {
        Box::pin(async { Err(EmbedError::Unavailable) })
    }
}
