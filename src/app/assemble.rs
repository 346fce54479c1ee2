//! From a checked configuration to a running gateway, and from the next one to the same gateway changed.
//!
//! What lives as long as the process (cache, flights, bucket level, tenant key, model) is made once here; what
//! a reload replaces goes through [`House::apply`], whole or not at all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cache::ResultCache;
use crate::config::Config;
use crate::embed::OnnxEmbedder;
use crate::gateway::{Engines, Gateway, Live, Policies};
use crate::http::decode::{SharingRules, TenantKey, TenantRules};
use crate::http::{DecodeRules, Edge, Lifecycle};
use crate::limit::GpuGate;
use crate::load::{self, LoadProbe};
use crate::matching::Matcher;
use crate::meter::Meter;
use crate::text::Lexicon;
use crate::upstream::{self, HttpUpstream};

/// The engines of the process, and how a configuration reaches them.
pub struct House {
    /// Answers calls.
    pub gateway: Arc<Gateway>,
    /// What callers meet.
    pub edge: Arc<Edge>,
    /// The embedding model.
    pub embedder: Arc<OnnxEmbedder>,
    gate: GpuGate,
    tenants: TenantKey,
    upstream: Mutex<Connection>,
    meter: Meter,
    background: TaskTracker,
    stopping: CancellationToken,
}

/// The upstream in force, attended until another takes its place or the process stops.
struct Connection {
    config: upstream::Config,
    client: Arc<HttpUpstream>,
    attended: CancellationToken,
}

/// What a configuration that passed its checks still cannot do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ApplyError(String);

// === impl House ===

impl House {
    /// Makes everything. Background work runs on `background` until `stopping`.
    pub fn build(
        config: &Config,
        meter: &Meter,
        background: TaskTracker,
        stopping: CancellationToken,
    ) -> Result<Self, ApplyError> {
        let matcher = Arc::new(Matcher::new(Arc::new(Lexicon::load())));
        let embedder = Arc::new(OnnxEmbedder::start(&config.embedder, meter.clone()));
        let gate = GpuGate::new(config.admission.clone(), meter.clone());
        let cache = ResultCache::new(config.cache.clone(), config.vectors, Arc::clone(&matcher));
        let engines = Engines {
            matcher,
            embedder: Arc::clone(&embedder) as _,
            cache: Arc::new(cache),
            gate: gate.clone(),
            meter: meter.clone(),
        };
        let tenants = TenantKey::random();
        let connection = Connection::open(&config.upstream, &stopping)?;
        let gateway = Gateway::new(live(config, &connection)?, engines);
        let edge = Arc::new(Edge {
            gateway: Arc::clone(&gateway),
            rules: ArcSwap::from_pointee(rules(config, &tenants)?),
            config: config.server.clone(),
            life: Lifecycle::default(),
        });
        let meter = meter.clone();
        let upstream = Mutex::new(connection);
        let house = Self { gateway, edge, embedder, gate, tenants, upstream, meter, background, stopping };
        house.attend(&house.connection(), config);
        Ok(house)
    }

    /// Puts another configuration in force. An error changes nothing.
    pub fn apply(&self, config: &Config) -> Result<(), ApplyError> {
        let mut current = self.connection();
        let other = (current.config != config.upstream)
            .then(|| Connection::open(&config.upstream, &self.stopping))
            .transpose()?;
        let rules = rules(config, &self.tenants)?;
        let live = live(config, other.as_ref().unwrap_or(&current))?;
        // Nothing can fail from here on.
        if let Some(other) = other {
            std::mem::replace(&mut *current, other).attended.cancel();
            self.attend(&current, config);
        }
        self.edge.rules.store(Arc::new(rules));
        self.gate.reconfigure(config.admission.clone());
        self.gateway.replace(live);
        Ok(())
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the background work that an upstream needs until another takes its place: keeping its
    /// connections young, and reading its load for the gate.
    fn attend(&self, connection: &Connection, config: &Config) {
        let until = connection.attended.clone();
        let (client, tended) = (Arc::clone(&connection.client), until.clone());
        self.background.spawn(async move { client.tend(tended).await });
        let sources = load::sources(&config.load, std::slice::from_ref(&config.upstream.url));
        let (probe, mut observed) = LoadProbe::new(sources, config.load.clone(), self.meter.clone());
        self.background.spawn(probe.run(until));
        let gate = self.gate.clone();
        self.background.spawn(async move {
            // Ends with the probe, which holds the sender.
            while observed.changed().await.is_ok() {
                gate.set_load(observed.borrow_and_update().load);
            }
        });
    }
}

// === impl Connection ===

impl Connection {
    fn open(config: &upstream::Config, stopping: &CancellationToken) -> Result<Self, ApplyError> {
        let client = HttpUpstream::new(config.clone()).map_err(|error| ApplyError(error.to_string()))?;
        Ok(Self { config: config.clone(), client: Arc::new(client), attended: stopping.child_token() })
    }
}

fn live(config: &Config, connection: &Connection) -> Result<Live, ApplyError> {
    Ok(Live {
        policies: policies(config)?,
        upstream: Arc::clone(&connection.client) as _,
        forward: Arc::clone(&connection.client) as _,
        stream_usage: config.upstream.stream_usage,
    })
}

fn policies(config: &Config) -> Result<Policies, ApplyError> {
    config.policies().map_err(|error| ApplyError(format!("tasks.{error}")))
}

fn rules(config: &Config, tenants: &TenantKey) -> Result<DecodeRules, ApplyError> {
    let detector = config.detector().map_err(|error| ApplyError(format!("rules: {error}")))?;
    let policies = policies(config)?;
    let sharing = policies.iter().map(|(name, policy)| (name.clone(), SharingRules::from(policy))).collect();
    let tenants = TenantRules::new(tenants.clone(), &config.tenants);
    Ok(DecodeRules { tasks: Arc::new(detector), sharing, tenants })
}
