//! The pages beside the inferences: models, health, load metrics, and the simulator's own controls.
//!
//! `GET /sim/stats`, `GET /sim/requests`, `POST /sim/reset`, `POST /sim/faults` with
//! `{"faults": ["500", "cut=3"], "times": 1}`, `DELETE /sim/faults`, `POST /sim/hold?after=N`,
//! `POST /sim/release`, `POST /sim/echo`.

use std::fmt::Write;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::{Reply, Shared, page};
use super::{Fault, wire};

const JSON: &str = "application/json";

/// What queues faults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultOrder {
    faults: Vec<String>,
    #[serde(default = "once")]
    times: usize,
}

fn once() -> usize {
    1
}

/// A page under `/sim`, or nothing if the path is another.
pub(super) fn own(shared: &Shared, parts: &Parts, body: &Bytes) -> Option<Reply> {
    let path = parts.uri.path().strip_prefix("/sim/")?;
    let done = || Ok(json!({"ok": true}));
    let answer = match (&parts.method, path) {
        (&Method::GET, "stats") => Ok(serde_json::to_value(shared.gpu.stats()).unwrap_or_default()),
        (&Method::GET, "requests") => Ok(requests(shared)),
        (&Method::POST, "reset") => {
            shared.reset();
            done()
        }
        (&Method::POST, "faults") => order(shared, body),
        (&Method::DELETE, "faults") => {
            shared.faults.clear();
            done()
        }
        (&Method::POST, "hold") => {
            let after = parts.uri.query().and_then(|query| query.strip_prefix("after=")?.parse().ok());
            shared.gpu.hold(Some(after.unwrap_or(0)));
            done()
        }
        (&Method::POST, "release") => {
            shared.gpu.hold(None);
            done()
        }
        _ => return Some(page(StatusCode::NOT_FOUND, JSON, wire::bytes_of(&wire::error(404, "no such control")))),
    };
    Some(match answer {
        Ok(value) => page(StatusCode::OK, JSON, wire::bytes_of(&value)),
        Err(message) => page(StatusCode::BAD_REQUEST, JSON, wire::bytes_of(&wire::error(400, &message))),
    })
}

fn order(shared: &Shared, body: &[u8]) -> Result<Value, String> {
    let order: FaultOrder = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let faults: Vec<Fault> = order
        .faults
        .iter()
        .map(|word| word.parse())
        .collect::<Result<_, super::UnknownFault>>()
        .map_err(|error| error.to_string())?;
    for _ in 0..order.times {
        shared.faults.extend(faults.iter().copied());
    }
    Ok(json!({"queued": faults.len() * order.times}))
}

fn requests(shared: &Shared) -> Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    shared
        .ledger
        .recorded()
        .iter()
        .map(|request| {
            let headers: Vec<Value> = request.headers.iter().map(|(name, value)| json!([name, text(value)])).collect();
            json!({
                "method": request.method, "path": request.path_and_query, "headers": headers,
                "body": text(&request.body), "blake3": blake3::hash(&request.body).to_hex().as_str(),
            })
        })
        .collect()
}

/// A page that a real server has too; 404 for all others.
pub(super) fn public(shared: &Shared, path: &str) -> Reply {
    match path {
        "/v1/models" => {
            let models: Vec<Value> = shared
                .config
                .models
                .iter()
                .map(
                    |id| json!({"id": id, "object": "model", "created": 0, "owned_by": "sim", "max_model_len": 32_768}),
                )
                .collect();
            page(StatusCode::OK, JSON, wire::bytes_of(&json!({"object": "list", "data": models})))
        }
        "/health" => page(StatusCode::OK, JSON, Bytes::new()),
        "/version" => page(StatusCode::OK, JSON, wire::bytes_of(&json!({"version": env!("CARGO_PKG_VERSION")}))),
        "/metrics" => page(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", metrics(shared).into()),
        _ => page(StatusCode::NOT_FOUND, JSON, wire::bytes_of(&wire::error(404, "Not Found"))),
    }
}

/// The load under vLLM's names: the newer name of the cache use and the older one.
fn metrics(shared: &Shared) -> String {
    let stats = shared.gpu.stats();
    let model = shared.config.models.first().map_or("sim-model", String::as_str);
    let figures = [
        ("num_requests_running", "gauge", stats.running as f64),
        ("num_requests_waiting", "gauge", stats.waiting as f64),
        ("kv_cache_usage_perc", "gauge", stats.kv_use),
        ("gpu_cache_usage_perc", "gauge", stats.kv_use),
        ("prompt_tokens_total", "counter", stats.prompt_tokens as f64),
        ("generation_tokens_total", "counter", stats.generation_tokens as f64),
        ("request_success_total", "counter", stats.completed as f64),
    ];
    let mut page = String::new();
    for (name, kind, value) in figures {
        let _ = writeln!(page, "# HELP vllm:{name} Simulated.\n# TYPE vllm:{name} {kind}");
        let _ = writeln!(page, "vllm:{name}{{model_name={model:?}}} {value}");
    }
    page
}
