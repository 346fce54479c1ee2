//! A configuration that changes while the gateway runs.
//!
//! Once a second the files are read and compared with what was seen last. Contents are compared, not inodes or
//! times, so it does not matter whether a file was edited, copied over, renamed over or reached through a symlink
//! that was swapped, and there is no watch that could be lost. A change is taken once: read until two readings
//! agree, built, checked, compared for keys that only a restart can change, and handed to `apply`, which swaps
//! it in as a whole. Whatever fails, nothing has changed; the reason stands in the status, a metric and one log line.
//!
//! Thresholds sent by an operator take the same way. Both are done by the one task that owns the
//! [`Reloader`]; everybody else holds a [`ReloadHandle`].

mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::loader::{Loaded, Loader, Texts};
use super::overlay::{Layer, Staged};
use super::problem::{ConfigError, Problem};
use super::thresholds::Adjustment;
use super::{Config, diff};
use crate::meter::{self, Meter};
use crate::upstream::{Base, Resolve};

pub use status::{InForce, ReloadError, ReloadStatus};

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(1);
/// Between two readings of a file that changes; someone may be in the middle of writing it.
const SETTLE: Duration = Duration::from_millis(100);
/// A file that still changes after this many readings is left for the next time.
const READINGS: usize = 5;
/// Longest wait for the name of a new upstream.
const RESOLVE: Duration = Duration::from_secs(1);
/// Adjustments that may wait for their turn.
const ORDERS: usize = 16;

/// Puts a checked configuration in force, as a whole or not at all; an error says why not.
pub type Apply = Box<dyn Fn(&Arc<Config>) -> Result<(), String> + Send + Sync>;

/// What a look at the files came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The files are as they were.
    Unchanged,
    /// The files changed, and these keys with them; none if only comments or secrets did.
    Applied(Vec<String>),
    /// The files changed and the former configuration stays.
    Refused(ConfigError),
}

/// Why an operator's thresholds were not taken. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum AdjustError {
    /// They cannot be.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
    /// They could not be kept, and keeping them was asked for.
    #[error("the overlay file cannot be written: {0}")]
    NotKept(#[from] std::io::Error),
    /// The gateway is stopping.
    #[error("the gateway is shutting down")]
    Stopped,
}

/// Looks at the files and takes what changes.
pub struct Reloader {
    loader: Arc<Loader>,
    /// What was read last, good or bad: it is not taken twice.
    seen: Result<Texts, ConfigError>,
    /// The texts of the configuration in force.
    good: Texts,
    live: Layer,
    apply: Apply,
    resolver: Arc<dyn Resolve>,
    meter: Meter,
    orders: mpsc::Receiver<Order>,
    report: watch::Sender<Arc<InForce>>,
}

/// What is in force, and a way to adjust it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ReloadHandle {
    orders: mpsc::Sender<Order>,
    report: watch::Receiver<Arc<InForce>>,
}

#[derive(Debug)]
struct Order {
    adjustment: Adjustment,
    reply: oneshot::Sender<Result<(), AdjustError>>,
}

// === impl Reloader ===

impl Reloader {
    /// Takes over from a start with `initial` in force. `resolver` is asked for the host of a new upstream.
    #[must_use]
    pub fn new(
        loader: Loader,
        initial: Loaded,
        apply: Apply,
        resolver: Arc<dyn Resolve>,
        meter: Meter,
    ) -> (Self, ReloadHandle) {
        let texts = loader.first_texts();
        let first = InForce::first(initial);
        meter.config_in_force(first.status.generation, &first.status.hash);
        let (report, reports) = watch::channel(Arc::new(first));
        let (sender, orders) = mpsc::channel(ORDERS);
        let reloader = Self {
            loader: Arc::new(loader),
            seen: Ok(texts.clone()),
            good: texts,
            live: Layer::default(),
            apply,
            resolver,
            meter,
            orders,
            report,
        };
        (reloader, ReloadHandle { orders: sender, report: reports })
    }

    /// Looks at the files and obeys the handles until told to stop.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Cancel-safe: cancellation is a state, not an event.
                () = stop.cancelled() => return,
                // Cancel-safe: a tick that was not taken is due the next time.
                _ = ticks.tick() => drop(self.poll_once().await),
                // Cancel-safe: `recv` loses nothing.
                Some(order) = self.orders.recv() => {
                    let outcome = self.adjust(order.adjustment).await;
                    // Whoever asked may be gone.
                    let _ = order.reply.send(outcome);
                }
            }
        }
    }

    /// Looks at the files once.
    pub async fn poll_once(&mut self) -> Event {
        let Some(read) = self.changed().await else { return Event::Unchanged };
        self.seen.clone_from(&read);
        let taken = match read {
            Ok(texts) => self.take(texts).await,
            Err(error) => Err(error),
        };
        match taken {
            Ok(changed) => Event::Applied(changed),
            Err(error) => {
                self.refused(&error);
                Event::Refused(error)
            }
        }
    }

    /// What the files hold, if it is not what was seen last and has stopped changing.
    async fn changed(&self) -> Option<Result<Texts, ConfigError>> {
        let mut last = self.read().await;
        if last == self.seen {
            return None;
        }
        for _ in 1..READINGS {
            sleep(SETTLE).await;
            let again = self.read().await;
            if again == last {
                return (last != self.seen).then_some(last);
            }
            last = again;
        }
        None
    }

    async fn take(&mut self, texts: Texts) -> Result<Vec<String>, ConfigError> {
        let loaded = self.loader.build(&texts, &self.live)?;
        self.find_upstream(&texts, &loaded.config).await?;
        let changed = self.put_in_force(&texts, loaded)?;
        self.good = texts;
        Ok(changed)
    }

    /// Refuses a new upstream whose host nobody knows. A running one is left alone: its name may be out of
    /// order for a moment, which must not keep an unrelated change away.
    async fn find_upstream(&self, texts: &Texts, config: &Config) -> Result<(), ConfigError> {
        let url = &config.upstream.url;
        let Ok(base) = Base::parse(url) else { return Ok(()) };
        if *url == self.report.borrow().loaded.config.upstream.url {
            return Ok(());
        }
        let refused = match timeout(RESOLVE, self.resolver.resolve(base.host(), base.port())).await {
            Ok(Ok(addresses)) if !addresses.is_empty() => return Ok(()),
            Ok(Ok(_)) => "no addresses".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no reply within {RESOLVE:?}"),
        };
        let problem = Problem::at("upstream.url", format!("unknown host {:?}: {refused}", base.host()));
        Err(self.loader.locate(texts, problem).into())
    }

    async fn read(&self) -> Result<Texts, ConfigError> {
        let loader = Arc::clone(&self.loader);
        let read = tokio::task::spawn_blocking(move || loader.read()).await;
        read.unwrap_or_else(|_| Err(Problem::at("", "the configuration could not be read").into()))
    }

    /// Applies what was built, unless only a restart can.
    fn put_in_force(&self, texts: &Texts, loaded: Loaded) -> Result<Vec<String>, ConfigError> {
        let former = self.report.borrow().clone();
        let changed = diff::changed(&former.loaded.config, &loaded.config);
        let fixed = diff::restart_only(&changed).into_iter();
        let reason = "is read at start only; the running gateway keeps the former value until it is restarted";
        ConfigError::from_all(fixed.map(|path| self.loader.locate(texts, Problem::at(path, reason))).collect())?;
        if loaded.config != former.loaded.config {
            (self.apply)(&Arc::new(loaded.config.clone())).map_err(|reason| Problem::at("", reason))?;
        }
        let now = former.followed_by(loaded);
        self.meter.config_in_force(now.status.generation, &now.status.hash);
        self.meter.config_reloaded(meter::Reload::Applied);
        tracing::info!(generation = now.status.generation, hash = now.status.hash, ?changed, "configuration applied");
        self.report.send_replace(Arc::new(now));
        Ok(changed)
    }

    fn refused(&self, error: &ConfigError) {
        self.meter.config_reloaded(meter::Reload::Refused);
        tracing::warn!(%error, "configuration refused; the former one stays in force");
        let former = self.report.borrow().clone();
        self.report.send_replace(Arc::new(former.after_refusal(error)));
    }

    /// Takes an operator's thresholds: everything is checked and, if they are to be kept, safely on the disk
    /// before anything changes.
    async fn adjust(&mut self, adjustment: Adjustment) -> Result<(), AdjustError> {
        if !adjustment.persist {
            let live = adjustment.over(&self.live);
            let loaded = self.loader.build(&self.good, &live)?;
            self.put_in_force(&self.good, loaded)?;
            self.live = live;
            return Ok(());
        }
        let live = adjustment.out_of(&self.live);
        let overlay = adjustment.over(&self.report.borrow().loaded.layers.overlay);
        let texts = Texts { overlay: Some(overlay.to_text()), ..self.good.clone() };
        let loaded = self.loader.build(&texts, &live)?;
        let staged = self.stage(&texts).await?;
        let former = self.report.borrow().loaded.clone();
        self.put_in_force(&texts, loaded)?;
        if let Err(error) = staged.commit() {
            self.put_in_force(&self.good, Loaded::clone(&former))?;
            return Err(error.into());
        }
        // The new overlay is what the next look will find; it has been taken already.
        if let Ok(seen) = &mut self.seen {
            seen.overlay.clone_from(&texts.overlay);
        }
        (self.good, self.live) = (texts, live);
        Ok(())
    }

    async fn stage(&self, texts: &Texts) -> Result<Staged, AdjustError> {
        let (path, text) = (self.loader.overlay_path().to_owned(), texts.overlay.clone().unwrap_or_default());
        let staged = tokio::task::spawn_blocking(move || Staged::write(&path, &text)).await;
        Ok(staged.map_err(|_| AdjustError::Stopped)??)
    }
}

// === impl ReloadHandle ===

impl ReloadHandle {
    /// What is in force, and how the last reload went.
    #[must_use]
    pub fn in_force(&self) -> Arc<InForce> {
        self.report.borrow().clone()
    }

    /// Applies thresholds sent as JSON (see [`Adjustment`]) and waits until they are in force.
    pub async fn adjust(&self, body: &[u8]) -> Result<Arc<InForce>, AdjustError> {
        let adjustment = Adjustment::from_json(body, &self.in_force().loaded.config)?;
        let (reply, outcome) = oneshot::channel();
        self.orders.send(Order { adjustment, reply }).await.map_err(|_| AdjustError::Stopped)?;
        outcome.await.map_err(|_| AdjustError::Stopped)??;
        Ok(self.in_force())
    }
}
