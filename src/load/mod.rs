//! What the inference servers say of their own load.
//!
//! A [`LoadProbe`] reads every backend's [`LoadSource`] once an interval and publishes one [`Load`](crate::domain::Load) for all
//! of them: idle = 1 - max(KV use, running/slots where slots are configured, 1 if anything waits), the mean
//! over the backends whose reading is fresh. GPU utilisation counts only where it is all there is: a busy
//! GPU says nothing about whether one more request fits into its batch.
//!
//! Invariant: the probe has an opinion or none, and never an effect. A source that is slow, gone or talks
//! nonsense makes the load *stale* and then *unknown*; nothing fails, nothing waits for it, and there is
//! one log line per change. What another part does with an unknown load is its own decision.
//!
//! Read by polling and not from response headers, because no inference server sends its queue there.

mod config;
mod fetch;
mod nvml;
mod page;
mod probe;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::domain::{GpuIdle, Score};

pub use config::{Config, ConfigError, SourceKind};
pub use fetch::{Fetch, HttpFetch};
pub use nvml::NvmlSource;
pub use page::{MetricsPage, metrics_urls};
pub use probe::{LoadProbe, Observation};

/// One backend at one moment. What it does not tell is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Requests in execution.
    pub running: u32,
    /// Requests that wait for execution.
    pub waiting: u32,
    /// Fraction of the key-value cache in use.
    pub kv_use: Option<f64>,
    /// Fraction of time in which the GPU did something, lately.
    pub gpu_use: Option<f64>,
}

/// Why there is no reading.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// No answer within the timeout.
    #[error("no answer in time")]
    Timeout,
    /// No connection, or it broke.
    #[error("cannot be reached")]
    Unreachable,
    /// An answer other than success.
    #[error("answered with status {0}")]
    Status(u16),
    /// More than a metrics page has.
    #[error("the page is larger than {0} bytes")]
    TooLarge(usize),
    /// Not a page of text.
    #[error("the page is not text")]
    NotText,
    /// A page without any metric that we know.
    #[error("the page has none of the known load metrics")]
    NoKnownMetrics,
    /// NVML cannot be used on this machine.
    #[error("NVML is not available: {0}")]
    NoNvml(String),
}

/// Something that knows the load of one backend.
pub trait LoadSource: Send + Sync + 'static {
    /// Reads it now. The probe bounds the time; dropping the future is safe.
    fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>>;
}

/// The first of several sources that answers: the metrics page, else NVML.
struct FirstOf(Vec<Arc<dyn LoadSource>>);

/// The sources that the configuration asks for, one per backend; none with `source = "off"`.
/// `upstreams` are the base URLs of the inference servers, whose metrics pages are found by themselves.
#[must_use]
pub fn sources(config: &Config, upstreams: &[String]) -> Vec<Arc<dyn LoadSource>> {
    let fetch: Arc<dyn Fetch> = Arc::new(HttpFetch::new());
    let page = |urls| -> Arc<dyn LoadSource> { Arc::new(MetricsPage::new(Arc::clone(&fetch), urls)) };
    let pages = || -> Vec<Arc<dyn LoadSource>> {
        match config.urls.as_slice() {
            [] => upstreams.iter().map(|upstream| page(metrics_urls(upstream))).collect(),
            urls => urls.iter().map(|url| page(vec![url.clone()])).collect(),
        }
    };
    match config.source {
        SourceKind::Off => Vec::new(),
        SourceKind::Metrics => pages(),
        SourceKind::Nvml => vec![Arc::new(NvmlSource::new())],
        // The GPUs of this machine are the backend's only if the backend runs here, and is the only one.
        SourceKind::Auto => match (upstreams, pages()) {
            ([upstream], mut pages) if pages.len() == 1 && page::is_local(upstream) => {
                pages.push(Arc::new(NvmlSource::new()));
                vec![Arc::new(FirstOf(pages))]
            }
            (_, pages) => pages,
        },
    }
}

// === impl Reading ===

impl Reading {
    /// The idle fraction; `slots` is how many requests the backend runs at once, if that is configured.
    #[must_use]
    pub fn idle(&self, slots: Option<u32>) -> GpuIdle {
        if self.waiting > 0 {
            return GpuIdle(Score::ZERO);
        }
        let slot_use = slots.map(|slots| f64::from(self.running) / f64::from(slots.max(1)));
        let busy = match (self.kv_use, slot_use) {
            (None, None) => self.gpu_use.unwrap_or(0.0),
            (kv, slots) => kv.unwrap_or(0.0).max(slots.unwrap_or(0.0)),
        };
        #[expect(clippy::cast_possible_truncation, reason = "a fraction needs no more than an f32")]
        let idle = 1.0 - busy as f32;
        GpuIdle(Score::clamped(idle))
    }
}

// === impl FirstOf ===

impl LoadSource for FirstOf {
    fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>> {
        Box::pin(async {
            let mut first_error = None;
            for source in &self.0 {
                match source.read().await {
                    Ok(reading) => return Ok(reading),
                    Err(error) => first_error = first_error.or(Some(error)),
                }
            }
            Err(first_error.unwrap_or(LoadError::NoKnownMetrics))
        })
    }
}
