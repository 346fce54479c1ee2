//! What a call costs that Weir cannot help, and one that it can: the same request straight to the simulator, as
//! a miss and as a hit, in turn, over one kept connection each. Prints medians and their ratios.
//!
//! `cargo bench --bench overhead`; needs `models/setup.sh`.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use weir::app;
use weir::config::{Loader, Overrides};
use weir::sim::{Sim, SimConfig};
use weir::telemetry::LevelHandle;

const ROUNDS: usize = 2_000;
/// Connections, model and caches are warm after these.
const WARM_UP: usize = 200;

type Connection = SendRequest<Full<Bytes>>;

async fn connect(to: SocketAddr) -> anyhow::Result<Connection> {
    let (sender, connection) = http1::handshake(TokioIo::new(TcpStream::connect(to).await?)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends one question of a task that uses every tier, and reads the answer to its end.
async fn ask(connection: &mut Connection, question: &str) -> anyhow::Result<Duration> {
    let messages = serde_json::json!([{"role": "user", "content": question}]);
    let body = serde_json::json!({"model": "m", "temperature": 0, "max_tokens": 16, "messages": messages});
    let request = http::Request::post("/v1/chat/completions")
        .header("host", "bench")
        .header("content-type", "application/json")
        .header("x-task-type", "qa")
        .body(Full::from(body.to_string()))?;
    #[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
    let began = Instant::now();
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    anyhow::ensure!(response.status() == 200, "{}", response.status());
    response.into_body().collect().await?;
    Ok(began.elapsed())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let sim = Sim::start(SimConfig::instant()).await?;
    let port_0 = || Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    let overrides = Overrides { upstream: Some(sim.url()), listen: port_0(), admin: port_0() };
    let (loader, initial) = Loader::start(None, overrides)?;
    let serving = app::start(loader, initial, LevelHandle::default()).await?;
    serving.house().embedder.loaded().await;
    let (mut direct, mut weir) = (connect(sim.addr).await?, connect(serving.callers()?).await?);
    let (_stop, stops) = mpsc::channel(1);
    tokio::spawn(serving.run(stops));

    let mut times: [Vec<Duration>; 3] = Default::default();
    for round in 0..ROUNDS + WARM_UP {
        // Near to each other, so that every tier has candidates and the guard has work.
        let question = format!("How many people lived in district {round} of the old town?");
        let taken =
            [ask(&mut direct, &question).await?, ask(&mut weir, &question).await?, ask(&mut weir, &question).await?];
        if round >= WARM_UP {
            times.iter_mut().zip(taken).for_each(|(all, time)| all.push(time));
        }
    }
    let [direct, miss, hit] = times.map(|mut all| median(&mut all));
    let ratio = |time: Duration| time.as_secs_f64() / direct.as_secs_f64();
    println!("median of {ROUNDS} calls with an upstream that answers at once");
    println!("direct  {direct:>10.1?}");
    println!("miss    {miss:>10.1?}  {:.2} x direct, {:.1?} added", ratio(miss), miss.saturating_sub(direct));
    println!("hit     {hit:>10.1?}  {:.2} x direct", ratio(hit));
    Ok(())
}
