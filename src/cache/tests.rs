//! The promises of the result cache, on a paused clock.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, advance};

use super::*;
use crate::domain::{Answer, Form, Head, Score, Tier, Usage};
use crate::matching::{MatchPolicy, Matcher};
use crate::text::Lexicon;
use crate::vector::{self, Embedding};

const SCOPE: ScopeId = ScopeId([1; 32]);
const OTHER: ScopeId = ScopeId([2; 32]);
const TTL: Duration = Duration::from_mins(5);
const EVERY_TIER: MatchPolicy =
    MatchPolicy { canonical: true, lexical: Some(Score::ZERO), semantic: Some(Score::ZERO) };

static MATCHER: LazyLock<Arc<Matcher>> = LazyLock::new(|| Arc::new(Matcher::new(Arc::new(Lexicon::load()))));

fn cache() -> ResultCache {
    ResultCache::new(Config::default(), vector::Config::default(), Arc::clone(&MATCHER))
}

fn features(text: &str) -> Arc<Features> {
    Arc::new(MATCHER.features(text))
}

fn answer(text: &'static str) -> Arc<Answer> {
    let head = Head { status: 200, headers: Vec::new(), form: Form::Whole };
    Arc::new(Answer { head, parts: vec![Bytes::from_static(text.as_bytes())], usage: Usage::default() })
}

fn put(cache: &ResultCache, scope: ScopeId, question: &str) -> Arc<Entry> {
    cache.put(scope, &features(question), answer("an answer"), &EVERY_TIER, TTL, Instant::now())
}

fn now() -> Freshness {
    Freshness { now: Instant::now(), max_age: None }
}

fn similar(cache: &ResultCache, question: &str) -> Option<Hit> {
    cache.similar(&SCOPE, &features(question), &EVERY_TIER, now()).hit
}

#[tokio::test(start_paused = true)]
async fn an_equal_question_finds_its_answer_in_its_own_scope_only() {
    let cache = cache();
    put(&cache, SCOPE, "How many moons does Mars have?");
    let question = features("  how many   moons does Mars have? ");
    assert_eq!(cache.exact(&SCOPE, &question, now()).unwrap().found.tier, Tier::Exact);
    assert!(cache.exact(&OTHER, &question, now()).is_none());
    assert!(cache.similar(&OTHER, &question, &EVERY_TIER, now()).hit.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_published_md5_collision_is_told_apart() {
    let pair = include_str!("../../tests/fixtures/md5_collision.tsv");
    let mut columns = pair.lines().nth(1).unwrap().split('\t');
    let (a, b) = (columns.next().unwrap(), columns.next().unwrap());
    assert_eq!(features(a).fingerprint(), features(b).fingerprint(), "the fixture must really collide");
    let cache = cache();
    put(&cache, SCOPE, a);
    assert!(cache.exact(&SCOPE, &features(b), now()).is_none());
    assert!(similar(&cache, b).is_none());
    assert!(cache.exact(&SCOPE, &features(a), now()).is_some());
}

#[tokio::test(start_paused = true)]
async fn the_same_words_with_politeness_are_found_by_their_canonical_form() {
    let cache = cache();
    put(&cache, SCOPE, "红烧肉怎么做？");
    assert_eq!(similar(&cache, "请问红烧肉怎么做").unwrap().found.tier, Tier::Canonical);
}

#[tokio::test(start_paused = true)]
async fn a_veto_is_reported_and_nothing_is_found() {
    let cache = cache();
    put(&cache, SCOPE, "从上海到成都的火车要多久？");
    let lookup = cache.similar(&SCOPE, &features("从成都到上海的火车要多久？"), &EVERY_TIER, now());
    assert!(lookup.hit.is_none());
    assert!(!lookup.vetoes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_entry_without_an_embedding_is_found_by_meaning_once_it_has_one() {
    let cache = cache();
    let entry = put(&cache, SCOPE, "红烧肉怎么做？");
    let vector = Embedding::new(&[1.0, 0.5, 0.0]).unwrap();
    let asked = features("红烧肉如何做？");
    asked.set_embedding(vector.clone());
    assert!(!cache.may_mean_the_same(&SCOPE, &asked));
    assert!(cache.semantic(&SCOPE, &asked, Score::ZERO, now()).hit.is_none());
    entry.question.set_embedding(vector);
    cache.embedded(&entry);
    assert!(cache.may_mean_the_same(&SCOPE, &asked));
    assert!(!cache.may_mean_the_same(&SCOPE, &features("How many moons does Mars have?")), "nothing reads like that");
    assert_eq!(cache.semantic(&SCOPE, &asked, Score::ZERO, now()).hit.unwrap().found.tier, Tier::Semantic);
}

#[tokio::test(start_paused = true)]
async fn an_expired_entry_is_not_served_by_any_index() {
    let cache = cache();
    put(&cache, SCOPE, "红烧肉怎么做？");
    advance(TTL).await;
    assert!(cache.exact(&SCOPE, &features("红烧肉怎么做？"), now()).is_none());
    assert!(similar(&cache, "请问红烧肉怎么做").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_newer_answer_replaces_the_older_one() {
    let cache = cache();
    let question = features("How many moons does Mars have?");
    cache.put(SCOPE, &question, answer("old"), &EVERY_TIER, TTL, Instant::now());
    let newer = cache.put(SCOPE, &question, answer("new"), &EVERY_TIER, TTL, Instant::now());
    assert_eq!(cache.size().0, 1);
    assert_eq!(cache.exact(&SCOPE, &question, now()).unwrap().entry.id, newer.id);
    assert_eq!(cache.purge(Purge::Scope(SCOPE)), 1, "the index holds the newer one only");
}

#[tokio::test(start_paused = true)]
async fn an_entry_for_equal_questions_only_is_in_no_index() {
    let cache = cache();
    let question = features("写一首关于秋天的诗");
    cache.put(SCOPE, &question, answer("a poem"), &MatchPolicy::EXACT_ONLY, TTL, Instant::now());
    assert!(cache.exact(&SCOPE, &question, now()).is_some());
    assert!(similar(&cache, "请写一首关于秋天的诗").is_none());
    assert_eq!(cache.purge(Purge::All), 1);
}

#[tokio::test(start_paused = true)]
async fn every_purge_forgets_what_it_names_and_nothing_else() {
    let cache = cache();
    let mars = put(&cache, SCOPE, "How many moons does Mars have?");
    put(&cache, SCOPE, "How old is the Moon?");
    put(&cache, OTHER, "How many moons does Mars have?");
    assert_eq!(cache.purge(Purge::Entry(mars.id)), 1);
    assert!(cache.exact(&SCOPE, &mars.question, now()).is_none());
    assert!(cache.exact(&OTHER, &mars.question, now()).is_some());
    assert_eq!(cache.purge(Purge::Question(mars.question.fingerprint())), 1);
    assert!(cache.exact(&OTHER, &mars.question, now()).is_none());
    assert_eq!(cache.purge(Purge::Scope(OTHER)), 0);
    assert_eq!(cache.purge(Purge::All), 1);
    assert_eq!(cache.size().0, 0);
    assert!(!cache.has_candidates(&SCOPE), "an empty Scope leaves nothing behind");
}

#[tokio::test(start_paused = true)]
async fn entries_and_bytes_are_bounded_and_indexes_forget_with_them() {
    let config = Config { max_entries: 100, max_bytes: 64 << 20, ..Config::default() };
    let cache = ResultCache::new(config, vector::Config::default(), Arc::clone(&MATCHER));
    for n in 0..1000 {
        put(&cache, SCOPE, &format!("What is the square of {n}?"));
    }
    assert!(cache.size().0 <= 100);
    assert!(cache.purge(Purge::Scope(SCOPE)) <= 100, "the index holds no more than the store");
}

#[test]
fn a_configuration_that_cannot_work_names_its_key() {
    let with = |change: fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config.check().unwrap_err().key
    };
    assert_eq!(with(|config| config.max_entries = 0), "max_entries");
    assert_eq!(with(|config| config.max_bytes = 1), "max_bytes");
    assert_eq!(with(|config| config.candidates = 0), "candidates");
    assert!(Config::default().check().is_ok());
}
