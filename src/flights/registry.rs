//! All flights, by Scope.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dashmap::DashMap;

use super::Config;
use super::flight::{Flight, Pilot, Seat};
use crate::domain::{FlightId, Match, ScopeId, SharedBy, Tier};
use crate::matching::Features;

/// How many flights of one Scope are compared with a new question, newest first. A Scope with more open
/// questions at once is one where a match is unlikely, and the comparison runs under the Scope's lock.
const MOST_COMPARED: usize = 256;

/// Open and running flights, by Scope.
#[derive(Debug, Default)]
pub struct Flights {
    by_scope: DashMap<ScopeId, Vec<Arc<Flight>>>,
    last_id: AtomicU64,
}

/// What came of [`Flights::join_or_open`].
#[derive(Debug)]
pub enum Boarding {
    /// Another's flight answers the same question.
    Joined {
        /// The place on it.
        seat: Seat,
        /// Window or late join.
        by: SharedBy,
        /// How the questions were found to be the same.
        found: Match,
    },
    /// A flight of its own: somebody must fly it.
    Opened {
        /// The place on it.
        seat: Seat,
        /// For the task that flies it.
        pilot: Pilot,
    },
}

// === impl Flights ===

impl Flights {
    /// Whether the Scope has a flight whose question is like that, among those that would be compared.
    #[must_use]
    pub fn any(&self, scope: &ScopeId, like: impl FnMut(&Features) -> bool) -> bool {
        let Some(flights) = self.by_scope.get(scope) else { return false };
        flights.iter().rev().take(MOST_COMPARED).map(|flight| &*flight.question).any(like)
    }

    /// Flights that are listed now, landed ones within their linger included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_scope.iter().map(|flights| flights.len()).sum()
    }

    /// Whether no flight is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_scope.is_empty()
    }

    /// Takes a seat on a flight of the Scope whose question `same` accepts, or opens one. One short lock:
    /// of any number of equal calls at once, exactly one opens.
    pub fn join_or_open(
        &self,
        scope: ScopeId,
        question: &Arc<Features>,
        config: &Arc<Config>,
        same: impl Fn(&Features) -> Option<Match>,
    ) -> Boarding {
        let mut flights = self.by_scope.entry(scope).or_default();
        if let Some((seat, by, found)) = board(&flights, same) {
            return Boarding::Joined { seat, by, found };
        }
        let flight = self.new_flight(scope, question, config);
        flights.push(Arc::clone(&flight));
        Boarding::Opened { seat: flight.first_seat(), pilot: Pilot { flight } }
    }

    /// Opens a flight that nobody can find, for a call that must not share.
    pub fn open_alone(&self, scope: ScopeId, question: &Arc<Features>, config: &Arc<Config>) -> Boarding {
        let flight = self.new_flight(scope, question, config);
        Boarding::Opened { seat: flight.first_seat(), pilot: Pilot { flight } }
    }

    fn new_flight(&self, scope: ScopeId, question: &Arc<Features>, config: &Arc<Config>) -> Arc<Flight> {
        let id = FlightId(self.last_id.fetch_add(1, Ordering::Relaxed) + 1);
        Arc::new(Flight::new(id, scope, Arc::clone(question), Arc::clone(config)))
    }

    /// Takes a flight off the list, after its linger. Those who sit on it keep their seats.
    pub fn remove(&self, pilot: &Pilot) {
        self.by_scope.remove_if_mut(&pilot.flight.scope, |_, flights| {
            flights.retain(|flight| flight.id != pilot.flight.id);
            flights.is_empty()
        });
    }
}

/// The best flight that can be boarded: an equal question first, then the newest similar one.
fn board(flights: &[Arc<Flight>], same: impl Fn(&Features) -> Option<Match>) -> Option<(Seat, SharedBy, Match)> {
    let mut similar = Vec::new();
    for flight in flights.iter().rev().take(MOST_COMPARED) {
        match same(&flight.question) {
            Some(found) if found.tier == Tier::Exact => {
                if let Some((seat, by)) = flight.try_join(found) {
                    return Some((seat, by, found));
                }
            }
            Some(found) => similar.push((flight, found)),
            None => {}
        }
    }
    similar.into_iter().find_map(|(flight, found)| {
        let (seat, by) = flight.try_join(found)?;
        Some((seat, by, found))
    })
}
