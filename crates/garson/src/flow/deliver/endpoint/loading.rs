//! Deliveries come into memory: handed over by a commit, or read from the database.

use super::address::Address;
use super::state::{Endpoint, RETRY_ROOM, ROOM, earliest};
use garson_core::time::Timestamp;
use garson_store::tables::deliveries::Delivery;
use std::time::Instant;

/// Deliveries and address as read from the database.
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
    /// Changes when the bodies of deliveries have changed.
    pub erase_version: i64,
    pub address: Address,
}

/// What is to be read from the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub after: i64,
    pub limit: usize,
    pub late_limit: usize,
}

impl Endpoint {
    /// Takes deliveries that a commit of this process handed over.
    pub fn handed(&mut self, before: i64, last: i64, version: i64, deliveries: Vec<Delivery>, now: Instant) {
        if self.version.is_some_and(|known| known != version) {
            self.reload();
        } else if matches!(self.address, Address::At(_)) {
            self.checked_at = now;
        }
        if last <= self.cursor {
            return;
        }
        let follows = before == self.cursor && self.version == Some(version);
        self.known = self.known.max(last);
        if !follows {
            // Another process committed in between, or earlier deliveries are not in memory: they are read.
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

    /// Takes deliveries that waited for an earlier event of their order.
    pub fn released(&mut self, deliveries: Vec<Delivery>) {
        for delivery in deliveries {
            if self.fresh.len() < self.room() + ROOM {
                self.push_fresh(delivery);
            } else {
                self.rewind_to(delivery.position - 1);
            }
        }
    }

    /// Compares with the state in the database.
    pub fn compare(&mut self, last_place: i64, version: i64, late_at: Option<Timestamp>) {
        if self.version.is_some_and(|known| known != version) {
            self.reload();
        }
        self.known = self.known.max(last_place);
        if self.is_idle() {
            // There are deliveries that are not in memory; or they have been settled since the read.
            self.rewind_to(0);
            self.late_at = late_at;
        }
    }

    /// With much in memory in total, this endpoint keeps only a little.
    pub fn set_crowded(&mut self, is_crowded: bool) {
        self.is_crowded = is_crowded;
    }

    /// Another process has committed up to a place.
    pub fn has_grown(&mut self, last_place: i64) {
        self.known = self.known.max(last_place);
    }

    /// What must be read now, if anything; marks the endpoint as loading.
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
            late_limit: if wants_late { RETRY_ROOM + known } else { 0 },
        })
    }

    /// Takes the result of a read.
    pub fn loaded(&mut self, load: Load, now: Instant) {
        self.is_loading = false;
        if load.after > 0 && self.version != Some(load.version) {
            // Deliveries before the start of the read may be due again, or the address has changed.
            self.reload();
            self.has_changed = true;
        }
        if self
            .erase_version
            .replace(load.erase_version)
            .is_some_and(|it| it != load.erase_version)
        {
            self.drop_waiting();
        }
        self.version = Some(load.version);
        self.known = self.known.max(load.last_place);
        let settled = std::mem::take(&mut self.settled_meanwhile);
        let late_meanwhile = self.late_meanwhile.take();
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
        // If something changed during the read, it is read again.
        if !std::mem::take(&mut self.has_changed) {
            self.set_address(load.address);
            self.checked_at = now;
            self.cursor = self.cursor.max(reached);
            if load.late_limit > 0 {
                let next = if is_late_full {
                    Some(load.now)
                } else {
                    load.next_late
                };
                self.late_at = earliest(next, late_meanwhile);
            }
        }
    }

    /// The database could not be read.
    pub fn not_loaded(&mut self) {
        self.is_loading = false;
        self.must_read = true;
        self.settled_meanwhile.clear();
        self.late_meanwhile = None;
    }
}
