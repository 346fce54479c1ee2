//! A whole gateway in this process, started from a configuration file, in front of a simulator.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use weir::app::{self, Stop};
use weir::config::{Loader, Overrides};
use weir::sim::{Sim, SimConfig, SimHandle};
use weir::telemetry::LevelHandle;

/// The admin token of every test.
pub const TOKEN: &str = "operators-only";

/// A running gateway and its files.
pub struct Gateway {
    pub sim: SimHandle,
    folder: TempDir,
    callers: SocketAddr,
    operators: SocketAddr,
    stops: mpsc::Sender<Stop>,
    running: JoinHandle<()>,
}

// === impl Gateway ===

impl Gateway {
    /// Starts with `text` beside what every test needs.
    pub async fn start(text: &str) -> Self {
        let sim = Sim::start(SimConfig::instant()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(file_in(&folder), whole(text, &sim)).unwrap();
        Self::run(sim, folder).await
    }

    async fn run(sim: SimHandle, folder: TempDir) -> Self {
        let (loader, initial) = Loader::start(Some(&file_in(&folder)), Overrides::default()).unwrap();
        let serving = app::start(loader, initial, LevelHandle::default()).await.unwrap();
        let (callers, operators) = (serving.callers().unwrap(), serving.operators().unwrap());
        let (stops, stopped) = mpsc::channel(2);
        let running = tokio::spawn(serving.run(stopped));
        Self { sim, folder, callers, operators, stops, running }
    }

    /// What an OpenAI client takes as its base URL.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.callers)
    }

    /// Ends the gateway in good order.
    pub async fn stop(self) -> (SimHandle, TempDir) {
        self.stops.send(Stop).await.unwrap();
        in_time(self.running).await.unwrap();
        (self.sim, self.folder)
    }

    /// Stops, and starts again from the same files.
    pub async fn restart(self) -> Self {
        let (sim, folder) = self.stop().await;
        Self::run(sim, folder).await
    }

    /// Replaces what the test put into the file.
    pub fn write(&self, text: &str) {
        self.write_whole(&whole(text, &self.sim));
    }

    /// Replaces the file.
    pub fn write_whole(&self, text: &str) {
        fs::write(file_in(&self.folder), text).unwrap();
    }

    /// Starts a streamed call; its first event has arrived.
    pub async fn begin_stream(&self, question: &str) -> Incoming {
        let messages = json!([{"role": "user", "content": question}]);
        let body = json!({"model": "m", "temperature": 0, "stream": true, "messages": messages});
        let request = Request::post("/v1/chat/completions").header("content-type", "application/json");
        let response = exchange(self.callers, request, &body.to_string()).await;
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        assert!(body.frame().await.unwrap().unwrap().into_data().unwrap().starts_with(b"data: "));
        body
    }

    /// An admin page.
    pub async fn get(&self, path: &str) -> Value {
        self.admin(Method::GET, path, "").await.1
    }

    /// Sends an operator's wish.
    pub async fn put(&self, path: &str, wish: &Value) -> (u16, Value) {
        self.admin(Method::PUT, path, &wish.to_string()).await
    }

    /// How reloads went.
    pub async fn status(&self) -> Value {
        self.get("/admin/config").await["status"].take()
    }

    /// Waits until the reload status is as wished.
    pub async fn until(&self, wished: impl Fn(&Value) -> bool) -> Value {
        let reached = async {
            loop {
                let status = self.status().await;
                if wished(&status) {
                    return status;
                }
                // Every look is a connection; more of them would not make it happen sooner.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        in_time(reached).await
    }

    async fn admin(&self, method: Method, path: &str, body: &str) -> (u16, Value) {
        let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {TOKEN}"));
        let response = exchange(self.operators, request, body).await;
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap())
    }
}

fn file_in(folder: &TempDir) -> PathBuf {
    folder.path().join("weir.toml")
}

/// Listeners of its own, no model, and the simulator behind.
fn whole(text: &str, sim: &SimHandle) -> String {
    let url = sim.url();
    let server = if text.contains("[server]") { "" } else { "[server]\nlisten = \"127.0.0.1:0\"\n" };
    format!(
        "{text}{server}[admin]\nlisten = \"127.0.0.1:0\"\ntoken = \"{TOKEN}\"\n[upstream]\nurl = \"{url}\"\n\
         [embedder]\nenabled = false\n[load]\nsource = \"off\"\n"
    )
}

async fn exchange(to: SocketAddr, request: http::request::Builder, body: &str) -> Response<Incoming> {
    let stream = TcpStream::connect(to).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = request.header("host", "weir").body(Full::<Bytes>::from(body.to_owned())).unwrap();
    sender.send_request(request).await.unwrap()
}

/// What a test waits for happens soon or never.
async fn in_time<T>(waited_for: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), waited_for).await.expect("it did not happen")
}
