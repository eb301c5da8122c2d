//! The state of an endpoint.

use super::address::{Address, AttemptKind};
use super::in_flight::InFlight;
use garson_core::id::EventId;
use garson_core::time::Timestamp;
use garson_store::tables::deliveries::{Delivery, Settlement};
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

/// Fresh deliveries in memory: for a receiver that answers, and for one that does not.
pub const ROOM: usize = 256;
pub const NARROW_ROOM: usize = 16;
/// Retries in memory.
pub const RETRY_ROOM: usize = 32;
/// A receiver is troubled after this many failures in a row.
const MAX_FAILURES: u32 = 3;
/// How long an address is used before it is read again.
const ADDRESS_AGE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Endpoint {
    pub(super) cursor: i64,
    pub(super) known: i64,
    /// The database must be read, whatever `cursor` and `known` say.
    pub(super) must_read: bool,
    pub(super) version: Option<i64>,
    pub(super) erase_version: Option<i64>,
    pub(super) fresh: VecDeque<Delivery>,
    pub(super) late: VecDeque<Delivery>,
    /// Everything in memory: waiting, in flight, or with a result that is not stored yet.
    pub(super) taken: HashSet<EventId>,
    pub(super) in_flight: HashMap<EventId, InFlight>,
    pub(super) most: usize,
    /// How many attempts may be in flight that are not slow.
    pub(super) width: usize,
    /// How long an attempt may take at most, and how long this receiver usually takes.
    pub(super) deadline: Duration,
    pub(super) usual_time: Option<Duration>,
    /// When it last accepted a delivery.
    pub(super) answered_at: Option<Instant>,
    /// Failures since it last accepted a delivery.
    pub(super) failures: u32,
    pub(super) last_kind: AttemptKind,
    pub(super) paused_until: Option<Instant>,
    /// When the next retry is due that is not in memory.
    pub(super) late_at: Option<Timestamp>,
    pub(super) address: Address,
    /// The last known address, if any: failures and times are those of this receiver.
    pub(super) last_url: Option<Option<String>>,
    pub(super) checked_at: Instant,
    /// Is the database being read, and has something changed since then?
    pub(super) is_loading: bool,
    pub(super) has_changed: bool,
    /// Settled since then: the read may still return it as it was before.
    pub(super) settled_meanwhile: HashSet<EventId>,
    /// The first retry that was planned since then: the read may not have seen it.
    pub(super) late_meanwhile: Option<Timestamp>,
    pub(super) unwritten: Vec<Settlement>,
    /// The size of the answers in them.
    pub(super) unwritten_bytes: usize,
    pub(super) is_settling: bool,
    /// Results could not be stored, as far as is known: a commit may have released events that nobody was told of.
    pub(super) has_unknown_commit: bool,
    pub(super) is_crowded: bool,
    pub idle_since: Instant,
    /// Retries that a fast clock planned have been brought forward.
    pub retries_checked: bool,
}

/// The earlier of two times, if there are any.
pub(super) fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

impl Endpoint {
    #[must_use]
    pub fn new(most: usize, deadline: Duration, now: Instant) -> Self {
        Self {
            cursor: 0,
            known: 0,
            must_read: true,
            version: None,
            erase_version: None,
            fresh: VecDeque::new(),
            late: VecDeque::new(),
            taken: HashSet::new(),
            in_flight: HashMap::new(),
            most,
            width: most,
            deadline,
            usual_time: None,
            answered_at: None,
            failures: 0,
            last_kind: AttemptKind::Retry,
            paused_until: None,
            late_at: Some(Timestamp::from_millis(0)),
            address: Address::Unknown,
            last_url: None,
            checked_at: now,
            is_loading: false,
            has_changed: false,
            settled_meanwhile: HashSet::new(),
            late_meanwhile: None,
            unwritten: Vec::new(),
            unwritten_bytes: 0,
            is_settling: false,
            has_unknown_commit: false,
            is_crowded: false,
            idle_since: now,
            retries_checked: false,
        }
    }

    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.failures >= MAX_FAILURES
    }

    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    #[must_use]
    pub fn queued(&self) -> usize {
        self.fresh.len() + self.late.len()
    }

    /// Can it be removed from memory without a loss?
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.taken.is_empty()
            && !self.is_loading
            && !self.is_settling
            && !self.is_behind()
            && self.late_at.is_none()
    }

    /// When the next retry must be read.
    #[must_use]
    pub fn late_at(&self) -> Option<Timestamp> {
        // While there are enough in memory, no more are read.
        self.late_at.filter(|_| self.late.len() < RETRY_ROOM / 2)
    }

    /// Does the database have fresh deliveries that are not in memory?
    pub(super) fn is_behind(&self) -> bool {
        self.must_read || self.cursor < self.known
    }

    pub(super) fn room(&self) -> usize {
        if self.is_troubled() || self.is_crowded {
            NARROW_ROOM
        } else {
            ROOM
        }
    }

    pub(super) fn knows_address(&self, now: Instant) -> bool {
        !matches!(self.address, Address::Unknown) && now.duration_since(self.checked_at) < ADDRESS_AGE
    }

    pub(super) fn push_fresh(&mut self, delivery: Delivery) {
        if self.taken.insert(delivery.id) {
            self.fresh.push_back(delivery);
        }
    }

    pub(super) fn rewind_to(&mut self, place: i64) {
        self.cursor = self.cursor.min(place);
        self.must_read = true;
        self.has_changed |= self.is_loading;
    }

    /// Drops what waits in memory, so that it is read again: personal data was erased from bodies.
    pub(super) fn drop_waiting(&mut self) {
        for waiting in self.fresh.drain(..).chain(self.late.drain(..)) {
            self.taken.remove(&waiting.id);
        }
        self.rewind_to(0);
        self.late_at = Some(Timestamp::from_millis(0));
    }

    /// Reads everything again: a delivery became due, or the address has changed.
    pub fn reload(&mut self) {
        self.address = Address::Unknown;
        self.late_at = Some(Timestamp::from_millis(0));
        self.rewind_to(0);
    }

    /// Is an attempt in flight, or a result not stored yet?
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.in_flight() > 0 || self.is_writing()
    }

    /// Are there results that are not stored yet?
    #[must_use]
    pub fn is_writing(&self) -> bool {
        self.is_settling || !self.unwritten.is_empty()
    }
}
