//! Metrics pages in the Prometheus text format, and what the known inference servers call their load.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;

use super::{Fetch, LoadError, LoadSource, Reading};

/// The names of one kind of inference server. A `:` also stands for the `_` that relays make of it.
struct Dialect {
    running: &'static str,
    waiting: &'static str,
    /// Fractions of 1; the first that is there counts.
    kv_use: &'static [&'static str],
}

const DIALECTS: [Dialect; 5] = [
    // vLLM; the older name of the cache use stays for a while beside the newer one.
    Dialect {
        running: "vllm:num_requests_running",
        waiting: "vllm:num_requests_waiting",
        kv_use: &["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"],
    },
    // SGLang
    Dialect { running: "sglang:num_running_reqs", waiting: "sglang:num_queue_reqs", kv_use: &["sglang:token_usage"] },
    // Text Generation Inference
    Dialect { running: "tgi_batch_current_size", waiting: "tgi_queue_size", kv_use: &[] },
    // llama.cpp; newer servers no longer tell the cache use.
    Dialect {
        running: "llamacpp:requests_processing",
        waiting: "llamacpp:requests_deferred",
        kv_use: &["llamacpp:kv_cache_usage_ratio"],
    },
    // LMDeploy
    Dialect {
        running: "lmdeploy:num_requests_running",
        waiting: "lmdeploy:num_requests_waiting",
        kv_use: &["lmdeploy:gpu_cache_usage_perc"],
    },
];

/// The metrics page of one backend.
pub struct MetricsPage {
    fetch: Arc<dyn Fetch>,
    urls: Vec<String>,
    /// The one that answered last; asked first next time.
    found: AtomicUsize,
}

/// Where the metrics page of an OpenAI-style base URL may be: beside its `/v1`, then at the root of the host.
#[must_use]
pub fn metrics_urls(base_url: &str) -> Vec<String> {
    let base = base_url.trim_end_matches('/');
    let beside = base.strip_suffix("/v1").unwrap_or(base).trim_end_matches('/');
    let host_start = beside.find("://").map_or(0, |at| at + 3);
    let root = beside[host_start..].find('/').map_or(beside, |at| &beside[..host_start + at]);
    let mut urls = vec![format!("{beside}/metrics")];
    if root != beside {
        urls.push(format!("{root}/metrics"));
    }
    urls
}

/// Whether a base URL names this machine.
pub(super) fn is_local(base_url: &str) -> bool {
    let Ok(uri) = base_url.parse::<http::Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

// === impl MetricsPage ===

impl MetricsPage {
    /// The page at the first of `urls` that has one.
    #[must_use]
    pub fn new(fetch: Arc<dyn Fetch>, urls: Vec<String>) -> Self {
        Self { fetch, urls, found: AtomicUsize::new(0) }
    }

    async fn read_at(&self, url: &str) -> Result<Reading, LoadError> {
        let page = self.fetch.get(url).await?;
        read_page(std::str::from_utf8(&page).map_err(|_| LoadError::NotText)?)
    }
}

impl LoadSource for MetricsPage {
    fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>> {
        Box::pin(async {
            let first = self.found.load(Ordering::Relaxed);
            let mut outcome = Err(LoadError::NoKnownMetrics);
            for at in (0..self.urls.len()).map(|step| (first + step) % self.urls.len()) {
                outcome = self.read_at(&self.urls[at]).await;
                if outcome.is_ok() {
                    self.found.store(at, Ordering::Relaxed);
                    break;
                }
            }
            outcome
        })
    }
}

/// The load on a page, in the first dialect that it speaks. Series of one name are added up (requests) or
/// averaged (fractions); numbers that are not finite count for nothing.
pub(super) fn read_page(page: &str) -> Result<Reading, LoadError> {
    DIALECTS.iter().find_map(|dialect| dialect.read(page)).ok_or(LoadError::NoKnownMetrics)
}

// === impl Dialect ===

impl Dialect {
    fn read(&self, page: &str) -> Option<Reading> {
        let (running, waiting) = (sum(page, self.running), sum(page, self.waiting));
        if running.is_none() && waiting.is_none() {
            return None;
        }
        let kv_use = self.kv_use.iter().find_map(|name| mean(page, name)).map(|share| share.clamp(0.0, 1.0));
        Some(Reading {
            running: count(running.unwrap_or(0.0)),
            waiting: count(waiting.unwrap_or(0.0)),
            kv_use,
            gpu_use: None,
        })
    }
}

fn values<'a>(page: &'a str, name: &'a str) -> impl Iterator<Item = f64> + 'a {
    page.lines().filter_map(sample).filter(move |(found, _)| same_name(found, name)).map(|(_, value)| value)
}

fn sum(page: &str, name: &str) -> Option<f64> {
    values(page, name).filter(|value| value.is_finite()).reduce(|a, b| a + b)
}

fn mean(page: &str, name: &str) -> Option<f64> {
    let (mut total, mut count) = (0.0, 0_u32);
    for value in values(page, name).filter(|value| value.is_finite()) {
        total += value;
        count += 1;
    }
    (count > 0).then(|| total / f64::from(count))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate, which is meant")]
fn count(value: f64) -> u32 {
    value.round() as u32
}

fn same_name(found: &str, name: &str) -> bool {
    found.len() == name.len() && found.bytes().zip(name.bytes()).all(|(a, b)| a == b || (a, b) == (b'_', b':'))
}

/// Name and value of one line; `None` for comments and for what is not a sample. A page with one bad line is
/// still a page.
pub(super) fn sample(line: &str) -> Option<(&str, f64)> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let name_end = line.find(|c: char| c == '{' || c.is_ascii_whitespace())?;
    let (name, rest) = line.split_at(name_end);
    let rest = if rest.starts_with('{') { after_labels(rest)? } else { rest };
    let mut words = rest.split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    // A time stamp may follow, and nothing else.
    match (words.next().map(str::parse::<f64>), words.next()) {
        (None | Some(Ok(_)), None) => Some((name, value)),
        _ => None,
    }
}

/// What follows the label set; values may hold `}` and escaped quotes.
fn after_labels(text: &str) -> Option<&str> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}
