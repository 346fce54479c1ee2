//! The store and its lookups.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use dashmap::DashMap;
use moka::Expiry;
use moka::sync::Cache;
use tokio::time::Instant;

use super::scope_index::ScopeIndex;
use super::{Config, Entry, Freshness, Hit, Lookup, Purge};
use crate::domain::{Answer, EntryId, Match, ScopeId, Score};
use crate::matching::{Features, MatchPolicy, Matcher, Verdict};
use crate::text::Fingerprint;
use crate::vector;

/// Embeddings that are searched within half a millisecond (`benches/vector.rs`).
const QUICKLY_SEARCHED: usize = 5_000;

type Key = (ScopeId, Fingerprint);

/// Complete answers by Scope. All methods are cheap to call from any task, except those that say otherwise.
pub struct ResultCache {
    config: Config,
    matcher: Arc<Matcher>,
    entries: Cache<Key, Arc<Entry>>,
    indexes: Arc<Indexes>,
    last_id: AtomicU64,
}

/// The indexes of all Scopes. A Scope's index exists exactly while it has entries.
struct Indexes {
    by_scope: DashMap<ScopeId, RwLock<ScopeIndex>>,
    bytes: AtomicU64,
    vectors: vector::Config,
}

/// Lets moka free an entry's memory when its time is over.
struct EntryLifetime;

// === impl ResultCache ===

impl ResultCache {
    /// An empty cache. `vectors` says when a Scope's vector index changes its kind.
    #[must_use]
    pub fn new(config: Config, vectors: vector::Config, matcher: Arc<Matcher>) -> Self {
        let indexes = Arc::new(Indexes { by_scope: DashMap::new(), bytes: AtomicU64::new(0), vectors });
        let forgetful = Arc::clone(&indexes);
        // One weigher bounds both: an entry weighs its bytes, but never less than its share by number.
        let share = config.max_bytes.div_ceil(config.max_entries).max(1);
        let entries = Cache::builder()
            .max_capacity(config.max_bytes)
            .weigher(move |_, entry: &Arc<Entry>| {
                let weight = (weight(entry) as u64).max(share);
                u32::try_from(weight).unwrap_or(u32::MAX)
            })
            .expire_after(EntryLifetime)
            .eviction_listener(move |_, entry, _| forgetful.remove(&entry))
            .build();
        Self { config, matcher, entries, indexes, last_id: AtomicU64::new(0) }
    }

    /// Entries and bytes held now, for the metrics.
    #[must_use]
    pub fn size(&self) -> (u64, u64) {
        self.entries.run_pending_tasks();
        (self.entries.entry_count(), self.indexes.bytes.load(Ordering::Relaxed))
    }

    /// Whether the Scope holds anything that a similar question could find.
    #[must_use]
    pub fn has_candidates(&self, scope: &ScopeId) -> bool {
        self.indexes.by_scope.contains_key(scope)
    }

    /// Whether an embedding of the question might find anything in the Scope that the guard would accept.
    #[must_use]
    pub fn may_mean_the_same(&self, scope: &ScopeId, question: &Features) -> bool {
        self.indexes.by_scope.get(scope).is_some_and(|index| {
            let index = read(&index);
            index.vectors() > 0 && index.has_reading(question)
        })
    }

    /// Whether [`ResultCache::semantic`] takes more than half a millisecond in this Scope.
    #[must_use]
    pub fn searches_slowly(&self, scope: &ScopeId) -> bool {
        self.indexes.by_scope.get(scope).is_some_and(|index| read(&index).vectors() > QUICKLY_SEARCHED)
    }

    /// Whether [`ResultCache::put`] and [`ResultCache::embedded`] take milliseconds in this Scope.
    #[must_use]
    pub fn writes_slowly(&self, scope: &ScopeId) -> bool {
        self.indexes.by_scope.get(scope).is_some_and(|index| read(&index).is_graph())
    }

    /// The answer to an equal question: equal fingerprint, confirmed against the whole normalised text.
    #[must_use]
    pub fn exact(&self, scope: &ScopeId, question: &Features, wanted: Freshness) -> Option<Hit> {
        let entry = self.entries.get(&(*scope, question.fingerprint()))?;
        let same = entry.question.normal() == question.normal() && entry.is_fresh(wanted);
        same.then_some(Hit { entry, found: Match::EXACT })
    }

    /// The answer to a question of the same canonical form, or of similar words.
    #[must_use]
    pub fn similar(&self, scope: &ScopeId, question: &Features, policy: &MatchPolicy, wanted: Freshness) -> Lookup {
        self.look(scope, question, policy, wanted, |index, most| {
            let mut candidates = if policy.canonical { index.by_form(question, most) } else { Vec::new() };
            if let Some(least) = policy.lexical {
                candidates.extend(index.by_words(question, least, most));
            }
            candidates
        })
    }

    /// The answer to a question of similar meaning. The question must have its embedding by now. See
    /// [`ResultCache::searches_slowly`].
    #[must_use]
    pub fn semantic(&self, scope: &ScopeId, question: &Features, least: Score, wanted: Freshness) -> Lookup {
        let policy = MatchPolicy { canonical: false, lexical: None, semantic: Some(least) };
        self.look(scope, question, &policy, wanted, |index, most| index.by_meaning(question, least, most))
    }

    /// Collects candidates under the Scope's read lock and compares them outside it.
    fn look(
        &self,
        scope: &ScopeId,
        question: &Features,
        policy: &MatchPolicy,
        wanted: Freshness,
        propose: impl FnOnce(&ScopeIndex, usize) -> Vec<Arc<Entry>>,
    ) -> Lookup {
        let candidates = match self.indexes.by_scope.get(scope) {
            Some(index) => propose(&read(&index), self.config.candidates),
            None => return Lookup::default(),
        };
        let mut lookup = Lookup::default();
        for entry in candidates.into_iter().filter(|entry| entry.is_fresh(wanted)) {
            match self.matcher.compare(policy, question, &entry.question) {
                Verdict::Same(found) => {
                    lookup.hit = Some(Hit { entry, found });
                    break;
                }
                Verdict::Vetoed { reason, .. } => lookup.vetoes.push(reason),
                Verdict::Different => {}
            }
        }
        lookup
    }

    /// Stores an answer; an older one to the equal question is replaced. `found_by` says which tiers will look
    /// for it, so that an entry for equal questions only pays for no index. With a vector index beyond its flat
    /// size this takes milliseconds: call it off the workers.
    pub fn put(
        &self,
        scope: ScopeId,
        question: &Arc<Features>,
        answer: Arc<Answer>,
        found_by: &MatchPolicy,
        ttl: Duration,
        now: Instant,
    ) -> Arc<Entry> {
        let id = EntryId(self.last_id.fetch_add(1, Ordering::Relaxed) + 1);
        let (question, found_by) = (Arc::clone(question), *found_by);
        let entry = Arc::new(Entry { id, scope, question, answer, found_by, stored_at: now, ttl });
        // Into the index first: if moka turns the entry away at once, its listener takes it out again.
        self.indexes.insert(&entry);
        self.entries.insert((scope, entry.question.fingerprint()), Arc::clone(&entry));
        entry
    }

    /// Makes an entry findable by meaning, once its question has an embedding. May take milliseconds.
    pub fn embedded(&self, entry: &Entry) {
        if let Some(index) = self.indexes.by_scope.get(&entry.scope) {
            write(&index).embedded(entry);
        }
    }

    /// Forgets at once; says how many entries.
    pub fn purge(&self, what: Purge) -> usize {
        let doomed = self.indexes.select(what);
        for entry in &doomed {
            let key = (entry.scope, entry.question.fingerprint());
            // A newer answer under the same key is not what was asked to go.
            if self.entries.get(&key).is_some_and(|held| held.id == entry.id) {
                self.entries.invalidate(&key);
            }
            self.indexes.remove(entry);
        }
        doomed.len()
    }
}

fn weight(entry: &Entry) -> usize {
    // The question is held as text, normalised text, canonical form and term vector.
    entry.answer.weight() + 8 * entry.question.text().len() + 1024
}

// === impl Indexes ===

impl Indexes {
    fn insert(&self, entry: &Arc<Entry>) {
        // The map's own lock is held on purpose: an index that has just become empty is removed under it.
        let index = self.by_scope.entry(entry.scope).or_insert_with(|| RwLock::new(ScopeIndex::new(self.vectors)));
        write(&index).insert(entry);
        self.bytes.fetch_add(weight(entry) as u64, Ordering::Relaxed);
    }

    /// Forgets an entry; one that is forgotten already is no error.
    fn remove(&self, entry: &Entry) {
        self.by_scope.remove_if_mut(&entry.scope, |_, index| {
            let index = index.get_mut().unwrap_or_else(PoisonError::into_inner);
            if index.remove(entry) {
                self.bytes.fetch_sub(weight(entry) as u64, Ordering::Relaxed);
            }
            index.is_empty()
        });
    }

    fn select(&self, what: Purge) -> Vec<Arc<Entry>> {
        let wanted = |entry: &Arc<Entry>| match what {
            Purge::Entry(id) => entry.id == id,
            Purge::Question(fingerprint) => entry.question.fingerprint() == fingerprint,
            Purge::Scope(scope) => entry.scope == scope,
            Purge::All => true,
        };
        let of_scope = |index: &RwLock<ScopeIndex>| read(index).all();
        let entries: Vec<_> = match what {
            Purge::Scope(scope) => {
                self.by_scope.get(&scope).map(|index| of_scope(&index)).into_iter().flatten().collect()
            }
            _ => self.by_scope.iter().flat_map(|index| of_scope(&index)).collect(),
        };
        entries.into_iter().filter(wanted).collect()
    }
}

// A panic inside an index leaves at worst a candidate too many or too few, and candidates decide nothing.

fn read(index: &RwLock<ScopeIndex>) -> RwLockReadGuard<'_, ScopeIndex> {
    index.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(index: &RwLock<ScopeIndex>) -> RwLockWriteGuard<'_, ScopeIndex> {
    index.write().unwrap_or_else(PoisonError::into_inner)
}

// === impl EntryLifetime ===

impl Expiry<Key, Arc<Entry>> for EntryLifetime {
    fn expire_after_create(&self, _: &Key, entry: &Arc<Entry>, _: std::time::Instant) -> Option<Duration> {
        Some(entry.ttl)
    }

    fn expire_after_update(
        &self,
        _: &Key,
        entry: &Arc<Entry>,
        _: std::time::Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(entry.ttl)
    }
}
