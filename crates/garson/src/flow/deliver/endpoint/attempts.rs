//! Attempts start and end, and their results are stored.

use super::address::{Address, AttemptKind};
use super::in_flight::InFlight;
use super::state::{Endpoint, NARROW_ROOM, earliest};
use crate::flow::deliver::target::Target;
use garson_core::id::EventId;
use garson_core::time::Timestamp;
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Results that wait to be stored; above that nothing new is started.
const MAX_UNWRITTEN: usize = 512;
/// The same for the size of the answers in them.
const MAX_UNWRITTEN_BYTES: usize = 1024 * 1024;
/// The pause between attempts at a troubled receiver.
const TROUBLED_PAUSE: Duration = Duration::from_millis(100);

impl Endpoint {
    /// The next delivery that may be attempted, and its target; no target means that it is skipped.
    pub fn next(&mut self, now: Instant) -> Option<(Delivery, AttemptKind, Option<Arc<Target>>)> {
        let address = match &self.address {
            _ if !self.knows_address(now) => return None,
            Address::Unknown => return None,
            Address::None => None,
            Address::At(target) => Some(Arc::clone(target)),
        };
        if self.in_flight() >= self.most
            || self.unwritten.len() >= MAX_UNWRITTEN
            || self.unwritten_bytes >= MAX_UNWRITTEN_BYTES
        {
            return None;
        }
        if self.paused_until.is_some_and(|until| until > now) {
            return None;
        }
        let kind = self.next_kind(now)?;
        let delivery = match kind {
            AttemptKind::First => self.fresh.pop_front(),
            AttemptKind::Retry => self.late.pop_front(),
        }?;
        self.last_kind = kind;
        let attempt = InFlight {
            kind,
            began: now,
            target: address.clone(),
            is_cancelled: false,
        };
        self.in_flight.insert(delivery.id, attempt);
        Some((delivery, kind, address))
    }

    /// Puts back a delivery whose attempt did not get a slot.
    pub fn put_back(&mut self, delivery: Delivery, kind: AttemptKind) {
        self.in_flight.remove(&delivery.id);
        match kind {
            AttemptKind::First => self.fresh.push_front(delivery),
            AttemptKind::Retry => self.late.push_front(delivery),
        }
    }

    /// An attempt has ended; `is_accepted` says whether the receiver accepted it, if a request was made.
    pub fn ended(
        &mut self,
        id: EventId,
        is_accepted: Option<bool>,
        settlement: Option<Settlement>,
        now: Instant,
    ) {
        let attempt = self.in_flight.remove(&id);
        self.unwritten_bytes += settlement.as_ref().map_or(0, answer_size);
        self.unwritten.extend(settlement);
        if self.is_of_another_address(attempt.as_ref()) {
            return;
        }
        match is_accepted {
            None => {}
            Some(true) => {
                self.failures = 0;
                self.answered_at = Some(now);
                self.paused_until = None;
                self.width = (self.width * 2).min(self.most);
                if let Some(attempt) = attempt {
                    let needed = now.duration_since(attempt.began);
                    self.usual_time = Some(
                        self.usual_time
                            .map_or(needed, |usual_time| (usual_time * 3 + needed) / 4),
                    );
                }
            }
            // It has accepted another delivery since this one started: it is available.
            Some(false) if attempt.is_some_and(|it| self.answered_at.is_some_and(|at| at > it.began)) => {}
            Some(false) => {
                self.failures = self.failures.saturating_add(1);
                if self.is_troubled() {
                    self.width = 1;
                    self.paused_until = Some(now + TROUBLED_PAUSE);
                    self.shed();
                }
            }
        }
    }

    /// Removes deliveries of a troubled receiver from memory; they wait in the database.
    pub(super) fn shed(&mut self) {
        let kept = NARROW_ROOM.min(self.fresh.len());
        for delivery in self.fresh.split_off(kept) {
            self.taken.remove(&delivery.id);
            self.rewind_to(delivery.position - 1);
        }
    }

    /// Results to store, if there are any and none are being stored.
    pub fn start_settling(&mut self) -> Option<Vec<Settlement>> {
        if self.is_settling || self.unwritten.is_empty() {
            return None;
        }
        self.is_settling = true;
        self.unwritten_bytes = 0;
        Some(std::mem::take(&mut self.unwritten))
    }

    /// Results have been stored.
    pub fn settled(&mut self, settlements: &[Settlement]) {
        self.is_settling = false;
        for settlement in settlements {
            self.taken.remove(&settlement.id);
            if self.is_loading {
                self.settled_meanwhile.insert(settlement.id);
            }
            if let Outcome::Retry { due_at, .. } = settlement.outcome {
                self.late_at = earliest(self.late_at, Some(due_at));
                if self.is_loading {
                    self.late_meanwhile = earliest(self.late_meanwhile, Some(due_at));
                }
            }
        }
        if std::mem::take(&mut self.has_unknown_commit) {
            // If the first commit released events, this one did not return them.
            self.rewind_to(0);
        }
    }

    /// Results could not be stored: they are kept for the next try.
    pub fn not_settled(&mut self, mut settlements: Vec<Settlement>) {
        self.is_settling = false;
        self.has_unknown_commit = true;
        settlements.append(&mut self.unwritten);
        self.unwritten = settlements;
        self.unwritten_bytes = self.unwritten.iter().map(answer_size).sum();
    }

    /// Removes a delivery whose attempt ended without a result, so that it is read again.
    pub fn forget(&mut self, delivery: EventId, place: i64) {
        self.taken.remove(&delivery);
        self.late_at = Some(Timestamp::from_millis(0));
        self.rewind_to(place - 1);
    }
}

/// The size of the answer that a result stores.
fn answer_size(settlement: &Settlement) -> usize {
    let attempt = settlement.attempt.as_ref();
    attempt.and_then(|it| it.response.as_ref()).map_or(0, String::len)
}
