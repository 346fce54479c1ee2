//! The listener for operators and probes.
//!
//! `/livez`, `/readyz` and `/metrics` answer anybody who can reach it. `/admin/*` asks for the configured
//! bearer token, and is closed where none is configured: a purge must not be an accident of the network.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AdminConfig, Lifecycle};

/// What operators may ask of the running process. Implemented where configuration and gateway meet.
pub trait AdminOps: Send + Sync + 'static {
    /// Why traffic should go elsewhere just now; empty if it should not. Draining is added by the listener.
    fn unready(&self) -> Vec<&'static str>;
    /// The page that Prometheus scrapes.
    fn metrics(&self) -> String;
    /// Forgets stored answers; how many.
    fn purge(&self, what: &Purge) -> Result<u64, AdminError>;
    /// The thresholds in force, by task.
    fn thresholds(&self) -> Value;
    /// Changes thresholds at once; the thresholds then in force. A bad value changes nothing.
    fn set_thresholds(&self, change: Value) -> BoxFuture<'_, Result<Value, AdminError>>;
    /// The configuration in force with secrets masked, its hash, and the last error.
    fn config(&self) -> Value;
}

/// Which stored answers to forget.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Purge {
    /// One, by the name that `X-Weir-Entry` shows.
    Entry(String),
    /// All of one exact key (the fingerprint, in hexadecimal).
    Key(String),
    /// All of one Scope, in hexadecimal.
    Scope(String),
    /// All.
    All(bool),
}

/// Why an operator's wish was not granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AdminError {
    /// The key that is wrong, if it is one.
    pub key: Option<String>,
    /// What is wrong and what is allowed.
    pub message: String,
}

#[derive(Clone)]
struct Admin {
    ops: Arc<dyn AdminOps>,
    config: Arc<AdminConfig>,
    life: Lifecycle,
}

/// The routes of the admin listener.
pub fn admin_router(ops: Arc<dyn AdminOps>, config: AdminConfig, life: Lifecycle) -> Router {
    let admin = Admin { ops, config: Arc::new(config), life };
    let guarded = Router::new()
        .route("/admin/purge", post(purge))
        .route("/admin/thresholds", get(thresholds).put(set_thresholds))
        .route("/admin/config", get(config_in_force))
        .route("/admin/{*unknown}", axum::routing::any(unknown))
        .layer(middleware::from_fn_with_state(admin.clone(), with_token));
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .merge(guarded)
        .fallback(unknown)
        .with_state(admin)
}

async fn readyz(State(admin): State<Admin>) -> Response {
    let mut reasons = admin.ops.unready();
    if admin.life.is_draining() {
        reasons.push("draining");
    }
    if reasons.is_empty() {
        return Json(json!({"ready": true})).into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"ready": false, "reasons": reasons}))).into_response()
}

async fn metrics(State(admin): State<Admin>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], admin.ops.metrics()).into_response()
}

async fn purge(State(admin): State<Admin>, body: Bytes) -> Response {
    let what = match serde_json::from_slice(&body) {
        Ok(Purge::All(false)) => return refused(&not_understood("`all` must be true")),
        Ok(what) => what,
        Err(error) => return refused(&not_understood(&error.to_string())),
    };
    match admin.ops.purge(&what) {
        Ok(count) => Json(json!({"purged": count})).into_response(),
        Err(error) => refused(&error),
    }
}

async fn thresholds(State(admin): State<Admin>) -> Json<Value> {
    Json(admin.ops.thresholds())
}

async fn set_thresholds(State(admin): State<Admin>, body: Bytes) -> Response {
    let change = match serde_json::from_slice(&body) {
        Ok(change) => change,
        Err(error) => return refused(&not_understood(&error.to_string())),
    };
    match admin.ops.set_thresholds(change).await {
        Ok(now) => Json(now).into_response(),
        Err(error) => refused(&error),
    }
}

async fn config_in_force(State(admin): State<Admin>) -> Json<Value> {
    Json(admin.ops.config())
}

async fn unknown() -> Response {
    let paths = ["/livez", "/readyz", "/metrics", "/admin/purge", "/admin/thresholds", "/admin/config"];
    let body = json!({"error": {"message": "no such admin path", "paths": paths}});
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

/// Lets only the holder of the configured token through.
async fn with_token(State(admin): State<Admin>, request: Request, next: Next) -> Response {
    if !admin.config.token.is_set() {
        let message = "the admin paths are closed: set admin.token in the configuration to open them";
        return (StatusCode::FORBIDDEN, Json(json!({"error": {"message": message}}))).into_response();
    }
    let given = request.headers().get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    if given.is_some_and(|given| admin.config.token.matches(given)) {
        return next.run(request).await;
    }
    let body = Json(json!({"error": {"message": "a valid admin token is required"}}));
    let challenge = [(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
    (StatusCode::UNAUTHORIZED, challenge, body).into_response()
}

fn not_understood(message: &str) -> AdminError {
    AdminError { key: None, message: format!("the body is not understood: {message}") }
}

fn refused(error: &AdminError) -> Response {
    let body = json!({"error": {"message": error.message, "param": error.key}});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}
