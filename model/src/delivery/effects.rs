//! What the steps do.

use super::config::{Delivery, Mutation};
use super::database::FAILURES_THAT_HOLD;
use super::endpoint::{Endpoint, Place, Settling};
use super::state::State;
use super::steps::Step;
use super::values::{Outcome, Settlement};
use crate::cluster::{Effect, Incident, Process};

impl Delivery {
    pub(super) fn take(&self, state: &mut State, step: Step) {
        match step {
            Step::Incident(incident) => state.incident(incident),
            Step::Write { node, event, is_told } => self.write(state, node, event, is_told),
            Step::Scan(node) => self.scan(state, node),
            Step::Answer { node, event, outcome } => self.answer(state, node, event, outcome),
            Step::ManualBegin(event) => {
                state.manual_left -= 1;
                state.manual = Some((event, state.database.events[event].attempts));
            }
            Step::ManualEnd { is_accepted, is_told } => self.manual_end(state, is_accepted, is_told),
            Step::Loaded(node)
            | Step::LoadLost(node)
            | Step::Commit(node)
            | Step::CommitUnknown(node)
            | Step::SettleFails(node)
            | Step::Settled(node) => {
                if let Some(endpoint) = state.endpoints[node].take() {
                    state.endpoints[node] = self.job(state, node, endpoint, step);
                }
            }
        }
        // The dispatcher handles a message, then starts all that can be started, before it takes the next one.
        match step {
            Step::Scan(node)
            | Step::Loaded(node)
            | Step::LoadLost(node)
            | Step::Answer { node, .. }
            | Step::SettleFails(node)
            | Step::Settled(node) => self.pump(state, node),
            Step::Write { is_told: true, .. } | Step::ManualEnd { is_told: true, .. } => {
                let owner = state.database.owner;
                let owner = state.cluster.nodes.iter().position(|it| Some(it.id) == owner);
                owner.into_iter().for_each(|node| self.pump(state, node));
            }
            _ => {}
        }
    }

    /// Starts everything that can be started now.
    fn pump(&self, state: &mut State, node: usize) {
        let it = state.cluster.nodes[node];
        if it.process != Process::Running {
            return;
        }
        let Some(mut endpoint) = state.endpoints[node].take() else {
            return;
        };
        if endpoint.wants_settling() {
            endpoint.start_settling();
        }
        if state.cluster.may_begin(node) {
            while let Some(event) = endpoint.next(self, &state.database) {
                self.begin(state, &mut endpoint, event);
            }
            if let Some(with_late) = endpoint.wants_load().filter(|_| it.has_database) {
                endpoint.start_loading(state.database.load(it.id, endpoint.cursor, with_late));
            }
        }
        state.endpoints[node] = Some(endpoint);
    }

    /// A step of a database job; returns the endpoint, unless another node delivers for the account.
    fn job(&self, state: &mut State, node: usize, mut endpoint: Endpoint, step: Step) -> Option<Endpoint> {
        let (id, database) = (state.cluster.nodes[node].id, &mut state.database);
        match step {
            Step::Loaded(_) => {
                let load = endpoint.loading.take().filter(|load| load.is_owner)?;
                endpoint.loaded(self, &load);
            }
            Step::LoadLost(_) => endpoint.not_loaded(),
            Step::Commit(_) | Step::CommitUnknown(_) => {
                let places = endpoint.places.iter_mut().enumerate();
                let mut settlements: Vec<(usize, &mut Settlement)> = places
                    .filter_map(|(event, place)| match place {
                        Place::Writing(settlement) => Some((event, settlement)),
                        _ => None,
                    })
                    .collect();
                let released = database.settle(self, id, &mut settlements);
                endpoint.settling = if step == Step::CommitUnknown(node) {
                    state.cluster.faults_left -= 1;
                    Settling::Lost
                } else {
                    Settling::Answered(released)
                };
            }
            Step::Settled(_) => match endpoint.settling {
                Settling::Answered(None) => return None,
                Settling::Answered(Some(released)) => {
                    let attempts: Vec<u8> = database.events.iter().map(|row| row.attempts).collect();
                    endpoint.settled(self, released, &attempts);
                }
                _ => endpoint.not_settled(),
            },
            _ => endpoint.not_settled(),
        }
        Some(endpoint)
    }

    fn write(&self, state: &mut State, node: usize, event: usize, is_told: bool) {
        state.cluster.faults_left -= u8::from(!is_told);
        let (id, version) = (state.cluster.nodes[node].id, self.next_version(state));
        state.database.claim(&state.cluster, id, version);
        state.database.write(self, event);
        let owner = state.database.owner;
        let Some(at) = state.cluster.nodes.iter().position(|it| Some(it.id) == owner) else {
            return;
        };
        if !is_told || state.cluster.nodes[at].process == Process::Dead {
            return;
        }
        let count = state.database.events.len();
        let (last, version) = (state.database.last_position, state.database.version);
        let endpoint = state.endpoints[at].get_or_insert_with(|| Endpoint::new(count));
        if at == node {
            let due = Some(event).filter(|event| !state.database.events[*event].is_held);
            endpoint.handed(last, version, due);
        } else {
            endpoint.has_grown(last);
        }
    }

    fn scan(&self, state: &mut State, node: usize) {
        if !state.database.events.iter().any(|row| row.is_pending()) {
            return;
        }
        let (id, count) = (state.cluster.nodes[node].id, state.database.events.len());
        match state.database.owner_if_member(&state.cluster) {
            None => {
                let version = self.next_version(state);
                state.database.claim(&state.cluster, id, version);
                if state.database.owner == Some(id) {
                    state.endpoints[node]
                        .get_or_insert_with(|| Endpoint::new(count))
                        .reload();
                }
            }
            Some(owner) if owner == id => {
                let endpoint = state.endpoints[node].get_or_insert_with(|| Endpoint::new(count));
                let database = &state.database;
                endpoint.compare(database.last_position, database.version, database.retry_at());
            }
            Some(_) => state.endpoints[node] = None,
        }
    }

    fn begin(&self, state: &mut State, endpoint: &mut Endpoint, event: usize) {
        let mut before = state.database.events[self.before(event)].iter();
        state.has_overtaken |= before.any(|it| !it.was_accepted && it.real_failures < FAILURES_THAT_HOLD);
        if let Place::Fresh(attempts) | Place::Late(attempts) = endpoint.places[event] {
            endpoint.places[event] = Place::InFlight(attempts);
        }
    }

    fn answer(&self, state: &mut State, node: usize, event: usize, outcome: Outcome) {
        let row = &mut state.database.events[event];
        match outcome {
            Outcome::Accepted => row.was_accepted = true,
            Outcome::Refused => {
                row.real_failures = (row.real_failures + 1).min(FAILURES_THAT_HOLD);
                state.refusals_left -= u8::from(!self.is_refused_forever(event));
            }
        }
        if let Some(endpoint) = &mut state.endpoints[node]
            && let Place::InFlight(attempts) = endpoint.places[event]
        {
            let settlement = Settlement {
                attempts,
                outcome,
                is_stored: false,
            };
            endpoint.places[event] = Place::Unwritten(settlement);
        }
    }

    fn manual_end(&self, state: &mut State, is_accepted: bool, is_told: bool) {
        let Some((event, _)) = state.manual.take() else {
            return;
        };
        state.cluster.faults_left -= u8::from(!is_told);
        if !is_accepted {
            let row = &mut state.database.events[event];
            row.attempts = row.attempts.wrapping_add(1);
            return;
        }
        state.database.events[event].was_accepted = true;
        if state.database.settle_manual(self, event) == 0 {
            return;
        }
        state.database.version = self.next_version(state);
        let owner = state.database.owner_if_member(&state.cluster);
        let at = state.cluster.nodes.iter().position(|it| Some(it.id) == owner);
        if let Some(endpoint) = at.filter(|_| is_told).and_then(|at| state.endpoints[at].as_mut()) {
            endpoint.reload();
        }
    }

    /// A version that no node knows. Versions are only compared.
    fn next_version(&self, state: &State) -> u8 {
        if self.has(Mutation::NoVersion) {
            return state.database.version;
        }
        let endpoints = || state.endpoints.iter().flatten();
        let known = endpoints().filter_map(|it| it.version);
        let loading = endpoints().filter_map(|it| it.loading.as_ref().map(|load| load.version));
        let used: Vec<u8> = known.chain(loading).chain([state.database.version]).collect();
        (0..=u8::MAX).find(|version| !used.contains(version)).unwrap_or(0)
    }
}

impl State {
    fn incident(&mut self, incident: Incident) {
        let fresh = self.cluster.fresh_id(self.database.owner.into_iter());
        match self.cluster.apply(incident, fresh) {
            Effect::None => {}
            // After a re-join, what is still in flight under the old id is no longer recorded.
            Effect::Died(node) | Effect::Rejoined(node) => self.endpoints[node] = None,
        }
    }
}
