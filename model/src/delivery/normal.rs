//! The normal form of a state: what no longer matters is removed, so that fewer states have to be visited.

use super::endpoint::{Endpoint, Place, Settling};
use super::state::State;
use super::values::{Due, Load};

impl Load {
    fn mentions(&self, event: usize) -> bool {
        (self.fresh | self.late) & (1 << event) != 0
    }
}

impl Endpoint {
    /// Removes what has no effect any more.
    fn forget(&mut self) {
        match &mut self.loading {
            // The next read shows the last position.
            None if self.must_read => self.known = self.cursor,
            None => self.known = self.known.max(self.cursor),
            Some(load) => {
                let unread: Vec<usize> = (0..self.places.len()).filter(|it| !load.mentions(*it)).collect();
                unread.into_iter().for_each(|event| load.attempts[event] = 0);
            }
        }
    }
}

impl State {
    /// Numbers that are only compared get small again, and delivered events lose their past.
    pub(super) fn normalize(&mut self) {
        for endpoint in self.endpoints.iter_mut().flatten() {
            endpoint.forget();
        }
        for event in 0..self.database.events.len() {
            self.rank_attempts(event);
            let row = &mut self.database.events[event];
            if row.is_delivered {
                row.position = 1;
                row.failures = 0;
                row.real_failures = 0;
                row.due = Due::Now;
            }
        }
        self.rename_versions();
        self.rank_positions();
    }

    /// Subtracts the smallest number of attempts that is mentioned.
    fn rank_attempts(&mut self, event: usize) {
        let mut least = u8::MAX;
        self.visit_attempts(event, |attempts| least = least.min(*attempts));
        self.visit_attempts(event, |attempts| *attempts -= least);
    }

    fn visit_attempts(&mut self, event: usize, mut visit: impl FnMut(&mut u8)) {
        visit(&mut self.database.events[event].attempts);
        if let Some((_, attempts)) = self.manual.as_mut().filter(|(manual, _)| *manual == event) {
            visit(attempts);
        }
        for endpoint in self.endpoints.iter_mut().flatten() {
            match &mut endpoint.places[event] {
                Place::Out => {}
                Place::Fresh(attempts) | Place::Late(attempts) | Place::InFlight(attempts) => visit(attempts),
                Place::Unwritten(settlement) | Place::Writing(settlement) => visit(&mut settlement.attempts),
            }
            if let Some(load) = endpoint.loading.as_mut().filter(|it| it.mentions(event)) {
                visit(&mut load.attempts[event]);
            }
        }
    }

    /// The version in the database becomes 0, and others follow.
    fn rename_versions(&mut self) {
        let mut known = vec![std::mem::take(&mut self.database.version)];
        let mut rename = |version: &mut u8| {
            let at = known.iter().position(|it| it == version).unwrap_or_else(|| {
                known.push(*version);
                known.len() - 1
            });
            *version = u8::try_from(at).unwrap_or(u8::MAX);
        };
        for endpoint in self.endpoints.iter_mut().flatten() {
            endpoint.version.iter_mut().for_each(&mut rename);
            endpoint
                .loading
                .iter_mut()
                .for_each(|load| rename(&mut load.version));
        }
    }

    /// Keeps the order of positions, without gaps.
    fn rank_positions(&mut self) {
        let mut used = 1_u32;
        self.visit_positions(|position| used |= 1 << *position);
        self.visit_positions(|position| {
            *position = u8::try_from((used & ((1 << *position) - 1)).count_ones()).unwrap_or(0);
        });
    }

    fn visit_positions(&mut self, mut visit: impl FnMut(&mut u8)) {
        visit(&mut self.database.last_position);
        let events = self.database.events.iter_mut();
        events
            .filter(|row| row.is_pending())
            .for_each(|row| visit(&mut row.position));
        for endpoint in self.endpoints.iter_mut().flatten() {
            visit(&mut endpoint.cursor);
            visit(&mut endpoint.known);
            if let Some(load) = &mut endpoint.loading {
                visit(&mut load.after);
                visit(&mut load.last_position);
            }
        }
    }

    /// Exchanges the first and the second half of the events: two orders that differ only in their names.
    pub(super) fn swap_orders(&mut self) {
        let half = self.database.events.len() / 2;
        let swap_bits =
            |bits: &mut u16| *bits = (*bits >> half) | ((*bits << half) & ((1 << (2 * half)) - 1));
        self.database.events.rotate_left(half);
        if let Some((event, _)) = &mut self.manual {
            *event = (*event + half) % (2 * half);
        }
        for endpoint in self.endpoints.iter_mut().flatten() {
            endpoint.places.rotate_left(half);
            if let Settling::Answered(Some(released)) = &mut endpoint.settling {
                swap_bits(released);
            }
            if let Some(load) = &mut endpoint.loading {
                load.attempts.rotate_left(half);
                swap_bits(&mut load.fresh);
                swap_bits(&mut load.late);
                swap_bits(&mut load.settled_meanwhile);
            }
        }
    }
}
