//! What happens when all faults have ended: every node gets its turns, and the receiver accepts.

use super::config::Delivery;
use super::endpoint::{Place, Settling};
use super::state::State;
use super::steps::Step;
use super::values::Outcome;

/// More rounds than any state needs.
const ROUNDS: usize = 60;

impl Delivery {
    /// Does everything that is pending get delivered from this state, once the world is healthy? Events that the receiver always
    /// refuses must not keep the others from it.
    pub(super) fn delivers_when_healthy(&self, state: &State) -> bool {
        if self.is_all_delivered(state) {
            return true;
        }
        let mut state = state.clone();
        state.cluster.heal();
        for _ in 0..ROUNDS {
            while let Some(incident) = state.cluster.healthy_incident() {
                self.take(&mut state, Step::Incident(incident));
            }
            for node in 0..state.cluster.nodes.len() {
                self.take_turn(&mut state, node);
            }
            if self.is_all_delivered(&state) {
                return true;
            }
        }
        false
    }

    fn is_all_delivered(&self, state: &State) -> bool {
        let mut events = state.database.events.iter().enumerate();
        events.all(|(event, row)| !row.is_pending() || self.is_refused_forever(event))
    }

    /// One turn of a node: it takes every kind of step that it can take.
    fn take_turn(&self, state: &mut State, node: usize) {
        if !state.cluster.nodes[node].can_query() {
            return;
        }
        self.take(state, Step::Scan(node));
        if state.endpoints[node]
            .as_ref()
            .is_some_and(|it| it.loading.is_some())
        {
            self.take(state, Step::Loaded(node));
        }
        for event in 0..state.database.events.len() {
            let Some(endpoint) = &state.endpoints[node] else {
                return;
            };
            if let Place::InFlight(_) = endpoint.places[event] {
                let outcome = if self.is_refused_forever(event) {
                    Outcome::Refused
                } else {
                    Outcome::Accepted
                };
                self.take(state, Step::Answer { node, event, outcome });
            }
        }
        if state.endpoints[node]
            .as_ref()
            .is_some_and(|it| it.settling == Settling::Sent)
        {
            self.take(state, Step::Commit(node));
        }
        if state.endpoints[node]
            .as_ref()
            .is_some_and(|it| it.settling != Settling::No)
        {
            self.take(state, Step::Settled(node));
        }
    }
}
