//! One account's receiver: what waits for it here, what is under way to it, and how much that may be at once.
//!
//! Nothing in here waits or speaks to anybody. What is due enters memory once: by being handed over at its commit, or by
//! being read from the database, and stays *taken* until its result is written there. The rest of a backlog stays in the
//! database: `cursor` is the place up to which everything fresh has been taken, `known` the last place that there is.

mod pace;

use self::pace::Flying;
pub use self::pace::SLOW_AFTER;
use garson_core::id::EventId;
use garson_core::time::Timestamp;
use garson_store::tables::deliveries::{Delivery, Settlement};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::attempt::Target;

/// Fresh deliveries in memory: for a receiver that answers, and for one that does not.
pub const ROOM: usize = 256;
pub const NARROW_ROOM: usize = 16;
/// Retries in memory.
pub const LATE_ROOM: usize = 32;
/// Results that wait to be written; nothing new is begun above that.
const MAX_UNWRITTEN: usize = 512;
/// A receiver is narrowed after so many failures in a row.
const PATIENCE: u32 = 3;
/// The pause between attempts at a receiver that keeps failing.
const REST: Duration = Duration::from_millis(100);
/// How long an address is good without having been looked at.
const TARGET_AGE: Duration = Duration::from_secs(1);

/// First attempts and retries go side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    Fresh,
    Late,
}

/// What is known of an account's address.
#[derive(Clone, Debug, Default)]
pub enum Address {
    #[default]
    Unknown,
    /// There is none: what is due is skipped.
    Nowhere,
    At(Arc<Target>),
}

#[derive(Debug)]
pub struct Endpoint {
    cursor: i64,
    known: i64,
    /// Something is to be read, whatever these say.
    must_read: bool,
    version: Option<i64>,
    fresh: VecDeque<Delivery>,
    late: VecDeque<Delivery>,
    /// Everything that is in memory: waiting, under way, or with a result that is not written yet.
    taken: HashSet<EventId>,
    flying: HashMap<EventId, Flying>,
    most: usize,
    /// How many attempts may be under way that are not slow yet.
    width: usize,
    /// How long an attempt may take at most, and how long this receiver usually needs.
    deadline: Duration,
    usual: Option<Duration>,
    /// When it last took something.
    answered_at: Option<Instant>,
    /// Failures since it last took something.
    failures: u32,
    last_lane: Lane,
    rests_until: Option<Instant>,
    /// When the next retry is due that is not in memory.
    late_at: Option<Timestamp>,
    address: Address,
    /// The last address that was known, if any was: what is remembered of a receiver is about that one.
    last_url: Option<Option<String>>,
    checked_at: Instant,
    /// The database is being read; and whether something has changed since that began.
    is_loading: bool,
    has_changed: bool,
    /// What was settled since then: it may be read once more as it was before.
    settled_meanwhile: HashSet<EventId>,
    unwritten: Vec<Settlement>,
    is_settling: bool,
    is_crowded: bool,
    pub idle_since: Instant,
    /// No retry lies further ahead than it may by the clock of this process.
    pub is_dated: bool,
}

/// What was read from the database.
pub struct Load {
    /// After which place, and how many at most.
    pub after: i64,
    pub limit: usize,
    pub fresh: Vec<Delivery>,
    pub late: Vec<Delivery>,
    pub late_limit: usize,
    pub next_late: Option<Timestamp>,
    pub now: Timestamp,
    pub last_place: i64,
    pub version: i64,
    pub address: Address,
}

/// What is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub after: i64,
    pub limit: usize,
    pub late_limit: usize,
}

impl Endpoint {
    /// A receiver of which nothing is known yet.
    #[must_use]
    pub fn new(most: usize, deadline: Duration, now: Instant) -> Self {
        Self {
            cursor: 0,
            known: 0,
            must_read: true,
            version: None,
            fresh: VecDeque::new(),
            late: VecDeque::new(),
            taken: HashSet::new(),
            flying: HashMap::new(),
            most,
            width: most,
            deadline,
            usual: None,
            answered_at: None,
            failures: 0,
            last_lane: Lane::Late,
            rests_until: None,
            late_at: Some(Timestamp::from_millis(0)),
            address: Address::Unknown,
            last_url: None,
            checked_at: now,
            is_loading: false,
            has_changed: false,
            settled_meanwhile: HashSet::new(),
            unwritten: Vec::new(),
            is_settling: false,
            is_crowded: false,
            idle_since: now,
            is_dated: false,
        }
    }

    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.failures >= PATIENCE
    }

    #[must_use]
    pub fn flying(&self) -> usize {
        self.flying.len()
    }

    #[must_use]
    pub fn queued(&self) -> usize {
        self.fresh.len() + self.late.len()
    }

    /// Is there nothing of it in memory that would be missed?
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.taken.is_empty()
            && !self.is_loading
            && !self.is_settling
            && !self.is_behind()
            && self.late_at.is_none()
    }

    /// When something is to be done without anybody saying so.
    #[must_use]
    pub fn late_at(&self) -> Option<Timestamp> {
        // While there are enough in memory, there is no hurry for more.
        self.late_at.filter(|_| self.late.len() < LATE_ROOM / 2)
    }

    /// Is there something fresh in the database that is not here?
    fn is_behind(&self) -> bool {
        self.must_read || self.cursor < self.known
    }

    fn room(&self) -> usize {
        match self.is_troubled() || self.is_crowded {
            true => NARROW_ROOM,
            false => ROOM,
        }
    }

    /// Takes what a commit of this process handed over.
    pub fn handed(&mut self, before: i64, last: i64, version: i64, deliveries: Vec<Delivery>, now: Instant) {
        if self.version.is_some_and(|known| known != version) {
            self.look_again();
        } else if matches!(self.address, Address::At(_)) {
            self.checked_at = now;
        }
        if last <= self.cursor {
            return;
        }
        let follows = before == self.cursor && self.version == Some(version);
        self.known = self.known.max(last);
        if !follows {
            // Somebody else has committed between, or not everything before it is here: it is read.
            return;
        }
        for delivery in deliveries {
            if self.fresh.len() >= self.room() {
                return;
            }
            self.cursor = delivery.position;
            self.push_fresh(delivery);
        }
        self.cursor = last;
    }

    /// Takes what had to wait for an earlier event of its order.
    pub fn released(&mut self, deliveries: Vec<Delivery>) {
        for delivery in deliveries {
            if self.fresh.len() < self.room() + ROOM {
                self.push_fresh(delivery);
            } else {
                self.rewind_to(delivery.position - 1);
            }
        }
    }

    fn push_fresh(&mut self, delivery: Delivery) {
        if self.taken.insert(delivery.id) {
            self.fresh.push_back(delivery);
        }
    }

    fn rewind_to(&mut self, place: i64) {
        self.cursor = self.cursor.min(place);
        self.must_read = true;
        self.has_changed |= self.is_loading;
    }

    /// Everything is read again: something is due that was not, or the address has changed.
    pub fn look_again(&mut self) {
        self.address = Address::Unknown;
        self.late_at = Some(Timestamp::from_millis(0));
        self.rewind_to(0);
    }

    /// Compares with what the database says.
    pub fn compare(&mut self, last_place: i64, version: i64, late_at: Option<Timestamp>) {
        if self.version.is_some_and(|known| known != version) {
            self.look_again();
        }
        self.known = self.known.max(last_place);
        if self.is_idle() {
            // There is something, and nothing here knows of it; or it has been settled since that was read.
            self.rewind_to(0);
            self.late_at = late_at;
        }
    }

    /// There is much in memory in all: no more than a little is to be kept for this one.
    pub fn set_crowded(&mut self, is_crowded: bool) {
        self.is_crowded = is_crowded;
    }

    /// Somebody else has committed up to a place.
    pub fn has_grown(&mut self, last_place: i64) {
        self.known = self.known.max(last_place);
    }

    /// What should be read now, if anything; it counts as being read from then on.
    pub fn start_loading(&mut self, now: Timestamp, instant: Instant) -> Option<Wanted> {
        if self.is_loading {
            return None;
        }
        let room = self.room();
        let wants_fresh = self.is_behind() && self.fresh.len() <= room / 2;
        let wants_late = self.late_at().is_some_and(|at| at <= now);
        let wants_address = self.queued() > 0 && !self.knows_address(instant);
        if !wants_fresh && !wants_late && !wants_address {
            return None;
        }
        self.is_loading = true;
        self.has_changed = false;
        self.must_read = false;
        let known = self.taken.len();
        Some(Wanted {
            after: self.cursor,
            limit: room.saturating_sub(self.fresh.len()) + known + 1,
            late_limit: if wants_late { LATE_ROOM + known } else { 0 },
        })
    }

    fn knows_address(&self, now: Instant) -> bool {
        !matches!(self.address, Address::Unknown) && now.duration_since(self.checked_at) < TARGET_AGE
    }

    /// Takes what was read.
    pub fn loaded(&mut self, load: Load, now: Instant) {
        self.is_loading = false;
        if load.after > 0 && self.version != Some(load.version) {
            // Something before the place that was read from may be due again, or go elsewhere.
            self.look_again();
            self.has_changed = true;
        }
        self.version = Some(load.version);
        self.known = self.known.max(load.last_place);
        let settled = std::mem::take(&mut self.settled_meanwhile);
        let is_full = load.fresh.len() >= load.limit;
        let mut reached = load.after;
        let mut has_room = true;
        for delivery in load.fresh {
            has_room = self.fresh.len() < self.room() || self.taken.contains(&delivery.id);
            if !has_room {
                break;
            }
            reached = delivery.position;
            if !settled.contains(&delivery.id) {
                self.push_fresh(delivery);
            }
        }
        if has_room && !is_full {
            reached = load.last_place;
        }
        let is_late_full = load.late.len() >= load.late_limit;
        for delivery in load.late {
            if !settled.contains(&delivery.id) && self.taken.insert(delivery.id) {
                self.late.push_back(delivery);
            }
        }
        // What has changed since it was read is read again.
        if !std::mem::take(&mut self.has_changed) {
            self.set_address(load.address);
            self.checked_at = now;
            self.cursor = self.cursor.max(reached);
            if load.late_limit > 0 {
                self.late_at = if is_late_full {
                    Some(load.now)
                } else {
                    load.next_late
                };
            }
        }
    }

    /// The database could not be read.
    pub fn not_loaded(&mut self) {
        self.is_loading = false;
        self.must_read = true;
        self.settled_meanwhile.clear();
    }

    /// The next delivery that may be begun, with what it is sent to.
    pub fn next(&mut self, now: Instant) -> Option<(Delivery, Lane, Option<Arc<Target>>)> {
        let address = match &self.address {
            _ if !self.knows_address(now) => return None,
            Address::Unknown => return None,
            Address::Nowhere => None,
            Address::At(target) => Some(Arc::clone(target)),
        };
        if self.flying() >= self.most || self.unwritten.len() >= MAX_UNWRITTEN {
            return None;
        }
        if self.rests_until.is_some_and(|until| until > now) {
            return None;
        }
        let lane = self.next_lane(now)?;
        let delivery = match lane {
            Lane::Fresh => self.fresh.pop_front(),
            Lane::Late => self.late.pop_front(),
        }?;
        self.last_lane = lane;
        let flying = Flying {
            lane,
            began: now,
            target: address.clone(),
            is_cancelled: false,
        };
        self.flying.insert(delivery.id, flying);
        Some((delivery, lane, address))
    }

    /// An attempt that was begun is not made after all.
    pub fn put_back(&mut self, delivery: Delivery, lane: Lane) {
        self.flying.remove(&delivery.id);
        match lane {
            Lane::Fresh => self.fresh.push_front(delivery),
            Lane::Late => self.late.push_front(delivery),
        }
    }

    /// An attempt has ended; `took` says whether the receiver has taken it, if it was asked at all.
    pub fn ended(&mut self, id: EventId, took: Option<bool>, settlement: Option<Settlement>, now: Instant) {
        let flown = self.flying.remove(&id);
        self.unwritten.extend(settlement);
        if self.is_of_another_address(flown.as_ref()) {
            return;
        }
        match took {
            None => {}
            Some(true) => {
                self.failures = 0;
                self.answered_at = Some(now);
                self.rests_until = None;
                self.width = (self.width * 2).min(self.most);
                if let Some(flown) = flown {
                    let needed = now.duration_since(flown.began);
                    self.usual = Some(self.usual.map_or(needed, |usual| (usual * 3 + needed) / 4));
                }
            }
            // It has taken another one since this one began: it is not away.
            Some(false) if flown.is_some_and(|it| self.answered_at.is_some_and(|at| at > it.began)) => {}
            Some(false) => {
                self.failures = self.failures.saturating_add(1);
                if self.is_troubled() {
                    self.width = 1;
                    self.rests_until = Some(now + REST);
                    self.shed();
                }
            }
        }
    }

    /// A receiver that does not answer keeps little in memory; the rest waits in the database.
    fn shed(&mut self) {
        let kept = NARROW_ROOM.min(self.fresh.len());
        for delivery in self.fresh.split_off(kept) {
            self.taken.remove(&delivery.id);
            self.rewind_to(delivery.position - 1);
        }
    }

    /// Results to be written, if there are any and none are being written.
    pub fn start_settling(&mut self) -> Option<Vec<Settlement>> {
        if self.is_settling || self.unwritten.is_empty() {
            return None;
        }
        self.is_settling = true;
        Some(std::mem::take(&mut self.unwritten))
    }

    /// Results have been written.
    pub fn settled(&mut self, settlements: &[Settlement]) {
        use garson_store::tables::deliveries::Outcome;
        self.is_settling = false;
        for settlement in settlements {
            self.taken.remove(&settlement.id);
            if self.is_loading {
                self.settled_meanwhile.insert(settlement.id);
            }
            if let Outcome::Retry { due_at, .. } = settlement.outcome {
                self.late_at = Some(self.late_at.map_or(due_at, |at| at.min(due_at)));
            }
        }
    }

    /// Results could not be written: they are kept for the next try.
    pub fn not_settled(&mut self, mut settlements: Vec<Settlement>) {
        self.is_settling = false;
        settlements.append(&mut self.unwritten);
        self.unwritten = settlements;
    }

    /// A delivery whose attempt ended without a result: it is read again.
    pub fn forget(&mut self, delivery: EventId, place: i64) {
        self.taken.remove(&delivery);
        self.late_at = Some(Timestamp::from_millis(0));
        self.rewind_to(place - 1);
    }

    /// Is something under way, or a result still to be written?
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.flying() > 0 || self.is_writing()
    }

    /// Are results still to be written?
    #[must_use]
    pub fn is_writing(&self) -> bool {
        self.is_settling || !self.unwritten.is_empty()
    }
}
