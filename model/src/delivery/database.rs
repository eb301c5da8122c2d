//! The tables: the account with its owner and version, and its events.

use super::config::{Delivery, Mutation};
use super::values::{Due, Load, Outcome, Settlement};
use crate::cluster::{Cluster, Id};

/// An event is held back while a predecessor has failed less often than this.
pub const FAILURES_THAT_HOLD: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    /// Its position in the account's list; 0 before it is written.
    pub position: u8,
    pub is_delivered: bool,
    pub is_held: bool,
    pub failures: u8,
    pub due: Due,
    /// Only compared, like a version.
    pub attempts: u8,
    /// What really happened at the receiver, whatever the database says.
    pub was_accepted: bool,
    pub real_failures: u8,
}

impl Event {
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.position > 0 && !self.is_delivered
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Database {
    pub owner: Option<Id>,
    pub version: u8,
    pub last_position: u8,
    pub events: Vec<Event>,
    /// A settlement was written by a node that did not own the account.
    pub was_settled_by_another: bool,
}

impl Database {
    pub fn new(count: usize) -> Self {
        let unwritten = Event {
            position: 0,
            is_delivered: false,
            is_held: false,
            failures: 0,
            due: Due::Now,
            attempts: 0,
            was_accepted: false,
            real_failures: 0,
        };
        Self {
            owner: None,
            version: 0,
            last_position: 0,
            events: vec![unwritten; count],
            was_settled_by_another: false,
        }
    }

    pub fn owner_if_member(&self, cluster: &Cluster) -> Option<Id> {
        self.owner.filter(|id| cluster.is_member(*id))
    }

    /// Makes a node the owner unless a member is; as `reserve_positions` and `claim_account` do.
    pub fn claim(&mut self, cluster: &Cluster, id: Id, version: u8) {
        if self.owner_if_member(cluster).is_none() {
            self.owner = cluster.is_member(id).then_some(id);
            if self.owner.is_some() {
                self.version = version;
            }
        }
    }

    /// Writes an event, held if it has to wait.
    pub fn write(&mut self, model: &Delivery, event: usize) {
        self.last_position += 1;
        let is_held = self.has_to_wait(model, event);
        let row = &mut self.events[event];
        row.position = self.last_position;
        row.is_held = is_held;
    }

    fn has_to_wait(&self, model: &Delivery, event: usize) -> bool {
        let mut before = model.before(event);
        if model.has(Mutation::DirectPredecessorOnly) {
            before.start = before.start.max(event.saturating_sub(1));
        }
        self.events[before]
            .iter()
            .any(|it| it.is_pending() && it.failures < FAILURES_THAT_HOLD)
    }

    /// Releases held events whose predecessors no longer hold them back; returns them as bits.
    fn release(&mut self, model: &Delivery) -> u16 {
        let held = (0..self.events.len()).filter(|e| self.events[*e].is_held && self.events[*e].is_pending());
        let free: Vec<usize> = held.filter(|e| !self.has_to_wait(model, *e)).collect();
        let mut released = 0;
        for event in free {
            self.events[event].is_held = false;
            released |= 1 << event;
        }
        released
    }

    /// The settlements of a node; none if it does not deliver for the account.
    pub fn settle(
        &mut self,
        model: &Delivery,
        id: Id,
        settlements: &mut [(usize, &mut Settlement)],
    ) -> Option<u16> {
        let is_owner = self.owner == Some(id);
        if !is_owner && !model.has(Mutation::NoFence) {
            return None;
        }
        self.was_settled_by_another |= !is_owner;
        for (event, settlement) in settlements {
            self.write_one(model, *event, settlement);
        }
        Some(self.release(model))
    }

    /// A manual send that the receiver accepted; needs no owner.
    pub fn settle_manual(&mut self, model: &Delivery, event: usize) -> u16 {
        let row = &mut self.events[event];
        row.is_delivered = true;
        row.is_held = false;
        row.attempts = row.attempts.wrapping_add(1);
        self.release(model)
    }

    fn write_one(&mut self, model: &Delivery, event: usize, settlement: &mut Settlement) {
        let row = &mut self.events[event];
        let is_known = row.attempts != settlement.attempts && settlement.is_stored;
        if is_known && !model.has(Mutation::NoAttemptsCheck) {
            return;
        }
        settlement.is_stored = true;
        row.attempts = row.attempts.wrapping_add(1);
        match settlement.outcome {
            Outcome::Accepted => {
                row.is_delivered = true;
                row.is_held = false;
            }
            Outcome::Refused => {
                row.is_held = false;
                if row.is_pending() {
                    row.failures = (row.failures + 1).min(FAILURES_THAT_HOLD);
                    row.due = if model.is_refused_forever(event) {
                        Due::Later
                    } else {
                        Due::Now
                    };
                }
            }
        }
    }

    /// What a node reads; `after` is its cursor.
    pub fn load(&self, id: Id, after: u8, with_late: bool) -> Load {
        let select = |wanted: &dyn Fn(&Event) -> bool| {
            let rows = self
                .events
                .iter()
                .enumerate()
                .filter(|(_, row)| row.is_pending() && wanted(row));
            rows.fold(0, |bits, (event, _)| bits | (1 << event))
        };
        let is_due = |row: &Event| row.failures > 0 && row.due == Due::Now;
        let is_later = |row: &Event| row.failures > 0 && row.due == Due::Later;
        Load {
            is_owner: self.owner == Some(id),
            after,
            fresh: select(&|row| row.position > after && row.failures == 0 && !row.is_held),
            late: if with_late { select(&is_due) } else { 0 },
            with_late,
            next_late: (with_late && select(&is_later) != 0).then_some(Due::Later),
            attempts: self.events.iter().map(|row| row.attempts).collect(),
            last_position: self.last_position,
            version: self.version,
            settled_meanwhile: 0,
            late_meanwhile: None,
        }
    }

    /// When the first retry is due.
    pub fn retry_at(&self) -> Option<Due> {
        let failed = self
            .events
            .iter()
            .filter(|row| row.is_pending() && row.failures > 0);
        failed.map(|row| row.due).min()
    }
}
