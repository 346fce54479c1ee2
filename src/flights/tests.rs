//! The promises of flights, one by one. No clock is involved: every wait is on an event.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use futures_util::FutureExt;

use super::*;
use crate::domain::{
    Answer, Form, Head, Landing, Match, Refusal, ScopeId, Score, SharedBy, Tier, UpstreamFailure, Usage,
};
use crate::matching::{Features, Matcher};
use crate::text::Lexicon;

const SCOPE: ScopeId = ScopeId([7; 32]);

fn question() -> Arc<Features> {
    static MATCHER: LazyLock<Matcher> = LazyLock::new(|| Matcher::new(Arc::new(Lexicon::load())));
    Arc::new(MATCHER.features("how many moons has Mars?"))
}

/// What the matcher would say of any other question.
const EQUAL: Option<Match> = Some(Match::EXACT);
const SIMILAR: Option<Match> = Some(Match { tier: Tier::Lexical, score: Score::ONE });
const DIFFERENT: Option<Match> = None;

fn config(change: impl FnOnce(&mut Config)) -> Arc<Config> {
    let mut config = Config::default();
    change(&mut config);
    Arc::new(config)
}

fn open(flights: &Flights, config: &Arc<Config>) -> (Seat, Pilot) {
    match flights.join_or_open(SCOPE, &question(), config, |_| EQUAL) {
        Boarding::Opened { seat, pilot } => (seat, pilot),
        Boarding::Joined { .. } => panic!("joined where a flight should open"),
    }
}

fn join(flights: &Flights, config: &Arc<Config>, same: Option<Match>) -> Option<(Seat, SharedBy)> {
    match flights.join_or_open(SCOPE, &question(), config, |_| same) {
        Boarding::Joined { seat, by, .. } => Some((seat, by)),
        Boarding::Opened { .. } => None,
    }
}

fn head() -> Head {
    Head { status: 200, headers: Vec::new(), form: Form::Stream }
}

fn answered() -> Landing {
    Landing::Answered(Arc::new(Answer { head: head(), parts: Vec::new(), usage: Usage::default() }))
}

async fn read_all(mut seat: Seat) -> Result<Vec<Bytes>, Refusal> {
    seat.head().await?;
    let mut all = Vec::new();
    while let Some(event) = seat.next().await {
        all.push(event?);
    }
    Ok(all)
}

#[tokio::test]
async fn a_joiner_gets_the_whole_stream_from_its_first_event() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (first, pilot) = open(&flights, &config);
    pilot.depart();
    pilot.head(head());
    pilot.push(Bytes::from_static(b"one"));
    let (late, by) = join(&flights, &config, EQUAL).unwrap();
    assert_eq!(by, SharedBy::LateJoin);
    pilot.push(Bytes::from_static(b"two"));
    pilot.land(answered());
    assert_eq!(read_all(first).await.unwrap(), read_all(late).await.unwrap());
}

#[tokio::test]
async fn the_window_takes_ten_similar_callers_and_identical_ones_join_beyond() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (_first, pilot) = open(&flights, &config);
    let seats: Vec<_> = (0..9).map(|_| join(&flights, &config, SIMILAR).unwrap()).collect();
    assert!(seats.iter().all(|(_, by)| *by == SharedBy::Window));
    assert!(pilot.full().now_or_never().is_some(), "ten callers are a full window");
    assert_eq!(join(&flights, &config, EQUAL).unwrap().1, SharedBy::LateJoin);
    assert!(join(&flights, &config, SIMILAR).is_none(), "an eleventh similar caller opens a flight of its own");
}

#[tokio::test]
async fn with_late_join_off_a_full_window_is_closed_to_everybody() {
    let (flights, config) = (Flights::default(), config(|config| config.late_join = LateJoin::Off));
    let (_first, _pilot) = open(&flights, &config);
    let _seats: Vec<_> = (0..9).map(|_| join(&flights, &config, EQUAL).unwrap()).collect();
    assert!(join(&flights, &config, EQUAL).is_none());
}

#[tokio::test]
async fn a_different_question_opens_its_own_flight() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (_first, _pilot) = open(&flights, &config);
    assert!(join(&flights, &config, DIFFERENT).is_none());
    assert_eq!(flights.len(), 2);
}

#[tokio::test]
async fn the_first_caller_may_leave_and_the_others_are_served() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (first, pilot) = open(&flights, &config);
    let (second, _) = join(&flights, &config, EQUAL).unwrap();
    drop(first);
    assert!(pilot.abandoned().now_or_never().is_none(), "somebody still waits");
    pilot.head(head());
    pilot.push(Bytes::from_static(b"one"));
    pilot.land(answered());
    assert_eq!(read_all(second).await.unwrap().len(), 1);
}

#[tokio::test]
async fn when_the_last_caller_leaves_the_inference_is_abandoned_and_cannot_be_joined() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (first, pilot) = open(&flights, &config);
    drop(first);
    assert!(pilot.abandoned().now_or_never().is_some());
    assert!(join(&flights, &config, EQUAL).is_none());
}

#[tokio::test]
async fn by_setting_an_abandoned_inference_is_finished_for_the_cache() {
    let (flights, config) = (Flights::default(), config(|config| config.abandoned = Abandoned::Finish));
    let (first, pilot) = open(&flights, &config);
    drop(first);
    assert!(pilot.abandoned().now_or_never().is_none());
    assert!(join(&flights, &config, EQUAL).is_some());
}

#[tokio::test]
async fn a_failure_is_told_to_all_and_joined_by_nobody() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (first, pilot) = open(&flights, &config);
    let (second, _) = join(&flights, &config, EQUAL).unwrap();
    pilot.land(Landing::Failed(UpstreamFailure::Unreachable));
    pilot.land(answered());
    let told = Err(Refusal::Upstream(UpstreamFailure::Unreachable));
    assert_eq!(read_all(first).await, told);
    assert_eq!(read_all(second).await, told);
    assert!(join(&flights, &config, EQUAL).is_none());
}

#[tokio::test]
async fn a_reader_behind_the_cap_is_told_and_a_trimmed_flight_is_not_joined() {
    let (flights, config) = (Flights::default(), config(|config| config.max_log_bytes = 64 << 10));
    let (first, pilot) = open(&flights, &config);
    pilot.depart();
    pilot.head(head());
    pilot.push(Bytes::from(vec![b'x'; 40 << 10]));
    pilot.push(Bytes::from(vec![b'y'; 40 << 10]));
    assert!(join(&flights, &config, EQUAL).is_none());
    assert_eq!(read_all(first).await, Err(Refusal::SlowReader));
}

#[tokio::test]
async fn waiters_are_bounded() {
    let (flights, config) = (Flights::default(), config(|config| config.max_waiters = 12));
    let (_first, _pilot) = open(&flights, &config);
    let seats: Vec<_> = (0..11).map(|_| join(&flights, &config, EQUAL).unwrap()).collect();
    assert!(join(&flights, &config, EQUAL).is_none());
    drop(seats);
}

#[tokio::test]
async fn a_removed_flight_keeps_its_seats_and_frees_its_scope() {
    let (flights, config) = (Flights::default(), config(|_| {}));
    let (first, pilot) = open(&flights, &config);
    flights.remove(&pilot);
    assert!(!flights.any(&SCOPE, |_| true) && flights.is_empty());
    pilot.head(head());
    pilot.land(answered());
    assert!(read_all(first).await.is_ok());
}

#[test]
fn a_configuration_that_cannot_work_names_its_key() {
    assert_eq!(config(|config| config.max_callers = 0).check().unwrap_err().key, "max_callers");
    assert_eq!(config(|config| config.max_waiters = 3).check().unwrap_err().key, "max_waiters");
    assert_eq!(config(|config| config.length = Duration::from_mins(1)).check().unwrap_err().key, "length");
    assert_eq!(config(|config| config.max_log_bytes = 1).check().unwrap_err().key, "max_log_bytes");
    assert!(Config::default().check().is_ok());
}
