//! The real program as a child process in front of the simulator, and what callers and operators do with it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use weir::sim::{Sim, SimConfig, SimHandle};

use super::reading::{Events, Metrics, Reply, complete};

/// The operators' token.
pub const TOKEN: &str = "operators-only";
/// The callers' credential.
pub const KEY: &str = "sk-of-the-caller";

/// What a request carries.
pub type Sent = UnsyncBoxBody<Bytes, Infallible>;

/// How to start the program.
pub struct Setting {
    /// Sections of the configuration beside `[admin]` and `[upstream]`.
    pub config: String,
    /// Keys of `[upstream]` beside its URL.
    pub upstream: String,
    /// Whether the embedding model is loaded. Most promises have nothing to do with it.
    pub model: bool,
    /// `WEIR_LOG`.
    pub log: &'static str,
    /// `--listen`; without it the file says where.
    pub listen: Option<&'static str>,
    /// The configuration file, if it is not the gateway's own.
    pub file: Option<PathBuf>,
}

/// A running gateway. Dropping it kills the process.
pub struct Gateway {
    pub callers: SocketAddr,
    pub operators: SocketAddr,
    pub file: PathBuf,
    child: Child,
    log: Arc<Mutex<String>>,
    client: Client<HttpConnector, Sent>,
    _folder: TempDir,
    /// Lives as long as what stands before it.
    sim: Option<SimHandle>,
}

/// Everything here happens soon or never; a test that waits so long has failed.
pub async fn in_time<T>(waited_for: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), waited_for).await.expect("it did not happen")
}

/// Looks again and again until what is looked at is there.
pub async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    in_time(async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            // Looking costs the gateway a request; looking faster would not make it happen sooner.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
}

/// A chat with one question.
pub fn ask(question: &str) -> Value {
    json!({"model": "m", "temperature": 0, "messages": [{"role": "user", "content": question}]})
}

/// The same, streamed.
pub fn ask_streaming(question: &str) -> Value {
    let mut body = ask(question);
    body["stream"] = json!(true);
    body
}

/// A simulator that answers at once.
pub async fn instant() -> SimHandle {
    Sim::start(SimConfig::instant()).await.unwrap()
}

/// The lint that Prometheus comes with.
pub async fn promtool_accepts(page: &str) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool is missing: run ./test.sh");
    let mut input = promtool.stdin.take().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut input, page.as_bytes()).await.unwrap();
    drop(input);
    let output = promtool.wait_with_output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

// === impl Setting ===

impl Default for Setting {
    fn default() -> Self {
        Self {
            config: String::new(),
            upstream: String::new(),
            model: false,
            log: "info",
            listen: Some("127.0.0.1:0"),
            file: None,
        }
    }
}

impl Setting {
    /// The defaults with these sections.
    pub fn with(config: &str) -> Self {
        Self { config: config.to_owned(), ..Self::default() }
    }

    /// The text of the file.
    pub fn text(&self, upstream: &str) -> String {
        let model = if self.model { "" } else { "[embedder]\nenabled = false\n" };
        let Self { config, upstream: more, .. } = self;
        format!("[admin]\ntoken = \"{TOKEN}\"\n[upstream]\nurl = \"{upstream}\"\n{more}\n{model}{config}\n")
    }
}

// === impl Gateway ===

impl Gateway {
    /// Starts the program in front of the simulator and waits until it is ready.
    pub async fn before(sim: &SimHandle, setting: Setting) -> Self {
        let mut gateway = Self::start(&sim.url(), setting).await;
        gateway.sim = Some(sim.clone());
        gateway
    }

    /// The same in front of any URL.
    pub async fn start(upstream: &str, setting: Setting) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        if setting.model {
            assert!(root.join("models/use-multilingual-3/model.onnx").exists(), "no model: run models/setup.sh");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = setting.file.clone().unwrap_or_else(|| folder.path().join("weir.toml"));
        if setting.file.is_none() {
            std::fs::write(&file, setting.text(upstream)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.current_dir(root).env("WEIR_LOG", setting.log).arg("serve");
        command.args(["--admin", "127.0.0.1:0", "--config"]).arg(&file);
        if let Some(listen) = setting.listen {
            command.args(["--listen", listen]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let log = keep(child.stderr.take().unwrap());
        let Some((callers, operators)) = in_time(addresses(child.stdout.take().unwrap())).await else {
            let _ = child.wait().await;
            panic!("the program did not start: {}", log.lock().unwrap());
        };
        let client = Client::builder(TokioExecutor::new()).build_http();
        let gateway = Self { callers, operators, file, child, log, client, _folder: folder, sim: None };
        until(async || gateway.ready().await.is_success().then_some(())).await;
        gateway
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    // --- callers

    pub async fn send(&self, request: Request<Sent>) -> Response<Incoming> {
        self.client.request(request).await.unwrap()
    }

    /// Sends a body; the head of the reply.
    pub async fn begin(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response<Incoming> {
        let mut request = Request::post(format!("http://{}{path}", self.callers));
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", format!("Bearer {KEY}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::new(body.into()).boxed_unsync()).unwrap()).await
    }

    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
        complete(self.begin(path, headers, body).await).await
    }

    pub async fn chat(&self, body: &Value) -> Reply {
        self.post("/v1/chat/completions", &[], body.to_string()).await
    }

    pub async fn chat_with(&self, headers: &[(&str, &str)], body: &Value) -> Reply {
        self.post("/v1/chat/completions", headers, body.to_string()).await
    }

    pub async fn stream(&self, question: &str) -> Events {
        let reply = self.begin("/v1/chat/completions", &[], ask_streaming(question).to_string()).await;
        assert_eq!(reply.status(), StatusCode::OK);
        Events::of(reply)
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.fetch(&format!("http://{}{path}", self.callers)).await
    }

    /// Any page, whoever serves it.
    pub async fn fetch(&self, url: &str) -> Reply {
        let request = Request::get(url);
        complete(self.send(request.body(Full::default().boxed_unsync()).unwrap()).await).await
    }

    /// Whether a stored answer would be served. Asking changes nothing.
    pub async fn stored(&self, headers: &[(&str, &str)], body: &Value) -> Option<Reply> {
        let headers = [headers, &[("cache-control", "only-if-cached")]].concat();
        let reply = self.chat_with(&headers, body).await;
        assert!(reply.status == StatusCode::OK || reply.code() == "not_cached", "{reply:?}");
        reply.status.is_success().then_some(reply)
    }

    // --- operators

    pub async fn admin(&self, method: Method, path: &str, body: &Value) -> Reply {
        let request = Request::builder().method(method).uri(format!("http://{}{path}", self.operators));
        let request = request.header("authorization", format!("Bearer {TOKEN}"));
        let body = if body.is_null() { Full::default() } else { Full::from(body.to_string()) };
        complete(self.send(request.body(body.boxed_unsync()).unwrap()).await).await
    }

    pub async fn ready(&self) -> StatusCode {
        self.admin(Method::GET, "/readyz", &Value::Null).await.status
    }

    pub async fn metrics(&self) -> Metrics {
        Metrics(self.admin(Method::GET, "/metrics", &Value::Null).await.text())
    }

    /// The page of `/admin/config`.
    pub async fn in_force(&self) -> Value {
        self.admin(Method::GET, "/admin/config", &Value::Null).await.json()
    }

    /// Waits until the sum of some series has a value.
    pub async fn until_metric(&self, name: &str, labels: &[(&str, &str)], value: f64) {
        until(async || (self.metrics().await.sum(name, labels) == value).then_some(())).await;
    }

    /// Waits until nothing is under way any more, by every gauge that counts it.
    pub async fn until_quiet(&self) {
        for gauge in ["weir_calls_in_flight", "weir_waiters", "weir_flights_running", "weir_admission_queue"] {
            self.until_metric(gauge, &[], 0.0).await;
        }
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub async fn until_logged(&self, text: &str) {
        until(async || self.log().contains(text).then_some(())).await;
    }

    /// SIGTERM.
    pub async fn terminate(&self) {
        let sent = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status().await.unwrap();
        assert!(sent.success());
    }

    /// The exit code, once it has ended by itself.
    pub async fn ended(&mut self) -> Option<i32> {
        in_time(self.child.wait()).await.unwrap().code()
    }
}

/// The addresses that the program prints. `None` if it ends before.
async fn addresses(stdout: ChildStdout) -> Option<(SocketAddr, SocketAddr)> {
    let mut lines = BufReader::new(stdout).lines();
    let mut callers = None;
    while let Some(line) = lines.next_line().await.unwrap() {
        let address = || line.split("http://").nth(1)?.trim_end_matches("/metrics").parse().ok();
        if line.contains("callers") {
            callers = address();
        } else if line.contains("operators") {
            // Whatever it says later must find a reader.
            let addresses = Some((callers?, address()?));
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return addresses;
        }
    }
    None
}

fn keep(mut stderr: ChildStderr) -> Arc<Mutex<String>> {
    let log = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&log);
    tokio::spawn(async move {
        let mut pending = Vec::new();
        while let Ok(count) = stderr.read_buf(&mut pending).await {
            let whole = pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            kept.lock().unwrap().push_str(&String::from_utf8_lossy(&pending[..whole]));
            pending.drain(..whole);
            if count == 0 {
                return;
            }
        }
    });
    log
}
