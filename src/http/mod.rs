//! The edge: sockets in front, the gateway behind.
//!
//! Handlers only decode, call and encode. The inference surfaces become [`Call`](crate::domain::Call)s and go to
//! [`Gateway::answer`]; every other path, and every other method on the same paths, goes to
//! [`Gateway::forward`] untouched. Nothing that a caller wrote gets into a response header or a log line.
//!
//! The admin listener is a server of its own on a port of its own, so that no path of the upstream can be
//! hidden by ours and no proxy in front of callers reaches it by accident.

mod admin;
mod body;
mod config;
pub mod decode;
mod inference;
mod lifecycle;
mod pass;
pub mod render;
mod reply;
mod server;

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{any, post};

use crate::domain::{Refusal, Route};
use crate::gateway::Gateway;

pub use admin::{AdminError, AdminOps, Purge, admin_router};
pub use config::{AdminConfig, Config, ConfigError};
pub use decode::DecodeRules;
use render::Lang;

pub use lifecycle::{Lifecycle, Underway};
pub use server::serve;

/// What every handler needs.
pub struct Edge {
    /// Answers.
    pub gateway: Arc<Gateway>,
    /// How calls are read; a reload swaps it.
    pub rules: ArcSwap<DecodeRules>,
    /// Bounds of requests.
    pub config: Config,
    /// Whether anything new may begin.
    pub life: Lifecycle,
}

/// The routes of the callers' listener.
pub fn router(edge: &Arc<Edge>) -> Router {
    let surface = |route: Route| {
        let edge = Arc::clone(edge);
        post(move |request: Request| inference::handle(edge, route, request))
    };
    let passing = Arc::clone(edge);
    let pass = move |request: Request| pass::handle(passing, request);
    let mut router = Router::new();
    for (path, route) in [
        ("/v1/chat/completions", Route::Chat),
        ("/v1/completions", Route::Completions),
        ("/v1/embeddings", Route::Embeddings),
        ("/api/ai/{task}", Route::Ai),
    ] {
        router = router.route(path, surface(route)).route(&format!("{path}/"), surface(route));
    }
    router.route("/v1/v1/{*rest}", any(doubled_version)).method_not_allowed_fallback(pass.clone()).fallback(pass)
}

/// A base URL that ends in `/v1`, given to a client that adds `/v1` itself.
async fn doubled_version(request: Request) -> Response {
    let refusal = Refusal::Invalid {
        field: Some(decode::PATH_FIELD.to_owned()),
        message: "the path begins with /v1/v1: leave /v1 out of the client's base URL, or out of its paths".to_owned(),
    };
    reply::refusal(&refusal, Lang::of(request.headers()))
}
