//! What a node has in memory for the account; follows `flow/deliver/endpoint` field by field, without its limits of size.

use super::config::{Delivery, Mutation};
use super::database::Database;
use super::values::{Due, Load, Outcome, Settlement};

/// Where an event is; everything but `Out` is "taken".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Out,
    Fresh(u8),
    Late(u8),
    InFlight(u8),
    Unwritten(Settlement),
    Writing(Settlement),
}

/// The job that stores results; one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Settling {
    No,
    Sent,
    /// Committed, with the released events as bits; or refused because another node delivers.
    Answered(Option<u16>),
    /// The node gets an error, whether it was committed or not.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    pub cursor: u8,
    pub known: u8,
    pub must_read: bool,
    pub has_changed: bool,
    pub version: Option<u8>,
    pub late_at: Option<Due>,
    pub places: Vec<Place>,
    pub loading: Option<Load>,
    pub settling: Settling,
    /// Results are being written again, since it is not known whether they were.
    pub is_repeating: bool,
}

impl Endpoint {
    pub fn new(count: usize) -> Self {
        Self {
            cursor: 0,
            known: 0,
            must_read: true,
            has_changed: false,
            version: None,
            late_at: Some(Due::Now),
            places: vec![Place::Out; count],
            loading: None,
            settling: Settling::No,
            is_repeating: false,
        }
    }

    pub fn in_flight(&self) -> usize {
        let places = self.places.iter();
        places.filter(|it| matches!(it, Place::InFlight(_))).count()
    }

    /// The next event to attempt, if there is room: first attempts by position, then retries.
    pub fn next(&self, model: &Delivery, database: &Database) -> Option<usize> {
        let position = |event: &usize| database.events[*event].position;
        let places = || self.places.iter().enumerate();
        let fresh = places().filter(|(_, it)| matches!(it, Place::Fresh(_)));
        let late = places().filter(|(_, it)| matches!(it, Place::Late(_)));
        let first = fresh.map(|(event, _)| event).min_by_key(position);
        let next = first.or_else(|| late.map(|(event, _)| event).min_by_key(position));
        next.filter(|_| self.in_flight() < model.width)
    }

    fn is_behind(&self) -> bool {
        self.must_read || self.cursor < self.known
    }

    fn is_idle(&self) -> bool {
        self.places.iter().all(|it| *it == Place::Out)
            && self.loading.is_none()
            && self.settling == Settling::No
            && !self.is_behind()
            && self.late_at.is_none()
    }

    fn push_fresh(&mut self, event: usize, attempts: u8) {
        if self.places[event] == Place::Out {
            self.places[event] = Place::Fresh(attempts);
        }
    }

    fn rewind_to(&mut self, position: u8) {
        self.cursor = self.cursor.min(position);
        self.must_read = true;
        self.has_changed |= self.loading.is_some();
    }

    pub fn reload(&mut self) {
        self.late_at = Some(Due::Now);
        self.rewind_to(0);
    }

    /// A commit of this process hands over an event that is due, or none if it is held.
    pub fn handed(&mut self, last: u8, version: u8, due: Option<usize>) {
        if self.version.is_some_and(|known| known != version) {
            self.reload();
        }
        if last <= self.cursor {
            return;
        }
        let follows = last - 1 == self.cursor && self.version == Some(version);
        self.known = self.known.max(last);
        if !follows {
            return;
        }
        if let Some(event) = due {
            self.push_fresh(event, 0);
        }
        self.cursor = last;
    }

    pub fn has_grown(&mut self, last: u8) {
        self.known = self.known.max(last);
    }

    /// Compares with what the periodic scan has read.
    pub fn compare(&mut self, last: u8, version: u8, retry_at: Option<Due>) {
        if self.version.is_some_and(|known| known != version) {
            self.reload();
        }
        self.known = self.known.max(last);
        if self.is_idle() {
            self.rewind_to(0);
            self.late_at = retry_at;
        }
    }

    /// Whether a read is due, and whether it includes retries.
    pub fn wants_load(&self) -> Option<bool> {
        let with_late = self.late_at == Some(Due::Now);
        (self.loading.is_none() && (self.is_behind() || with_late)).then_some(with_late)
    }

    pub fn start_loading(&mut self, load: Load) {
        self.has_changed = false;
        self.must_read = false;
        self.loading = Some(load);
    }

    pub fn not_loaded(&mut self) {
        self.loading = None;
        self.must_read = true;
    }

    pub fn loaded(&mut self, model: &Delivery, load: &Load) {
        if load.after > 0 && self.version != Some(load.version) {
            self.reload();
            self.has_changed = true;
        }
        self.version = Some(load.version);
        self.known = self.known.max(load.last_position);
        for event in 0..self.places.len() {
            let bit = 1 << event;
            if load.settled_meanwhile & bit != 0 {
                continue;
            }
            if load.fresh & bit != 0 {
                self.push_fresh(event, load.attempts[event]);
            }
            if load.late & bit != 0 && self.places[event] == Place::Out {
                self.places[event] = Place::Late(load.attempts[event]);
            }
        }
        if !std::mem::take(&mut self.has_changed) {
            self.cursor = self.cursor.max(load.last_position);
            if load.with_late {
                let planned = load
                    .late_meanwhile
                    .filter(|_| !model.has(Mutation::RetryTimeReplaced));
                self.late_at = load.next_late.into_iter().chain(planned).min();
            }
        }
    }

    /// The results that are to be stored now.
    pub fn start_settling(&mut self) {
        self.settling = Settling::Sent;
        for place in &mut self.places {
            if let Place::Unwritten(settlement) = *place {
                *place = Place::Writing(settlement);
            }
        }
    }

    pub fn wants_settling(&self) -> bool {
        let mut places = self.places.iter();
        self.settling == Settling::No && places.any(|it| matches!(it, Place::Unwritten(_)))
    }

    pub fn not_settled(&mut self) {
        self.settling = Settling::No;
        self.is_repeating = true;
        for place in &mut self.places {
            if let Place::Writing(settlement) = *place {
                *place = Place::Unwritten(settlement);
            }
        }
    }

    /// Results have been stored; `released` are bits, with the attempts in the database.
    pub fn settled(&mut self, model: &Delivery, released: u16, attempts: &[u8]) {
        self.settling = Settling::No;
        for event in 0..self.places.len() {
            let Place::Writing(settlement) = self.places[event] else {
                continue;
            };
            self.places[event] = Place::Out;
            let due = match settlement.outcome {
                Outcome::Accepted => None,
                Outcome::Refused if model.is_refused_forever(event) => Some(Due::Later),
                Outcome::Refused => Some(Due::Now),
            };
            self.late_at = self.late_at.into_iter().chain(due).min();
            if let Some(load) = &mut self.loading {
                load.settled_meanwhile |= 1 << event;
                load.late_meanwhile = load.late_meanwhile.into_iter().chain(due).min();
            }
        }
        if std::mem::take(&mut self.is_repeating) && !model.has(Mutation::ReleaseForgotten) {
            // An earlier commit of the same results may have released events.
            self.rewind_to(0);
        }
        for (event, attempts) in attempts.iter().enumerate() {
            if released & (1 << event) != 0 {
                self.push_fresh(event, *attempts);
            }
        }
    }
}
