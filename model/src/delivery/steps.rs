//! The steps that nodes, receivers and staff take.

use super::config::Delivery;
use super::endpoint::{Endpoint, Place, Settling};
use super::state::State;
use super::values::Outcome;
use crate::cluster::{Incident, Node, Process};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Incident(Incident),
    /// A node commits an order's next event; the owner is told, or the message is lost.
    Write {
        node: usize,
        event: usize,
        is_told: bool,
    },
    /// The periodic query.
    Scan(usize),
    Loaded(usize),
    LoadLost(usize),
    Answer {
        node: usize,
        event: usize,
        outcome: Outcome,
    },
    Commit(usize),
    /// The commit succeeds, but the node gets an error.
    CommitUnknown(usize),
    SettleFails(usize),
    Settled(usize),
    ManualBegin(usize),
    ManualEnd {
        is_accepted: bool,
        is_told: bool,
    },
}

impl Delivery {
    pub(super) fn collect_steps(&self, state: &State, steps: &mut Vec<Step>) {
        steps.extend(state.cluster.incidents(false).into_iter().map(Step::Incident));
        let can_fail = state.cluster.faults_left > 0;
        for (node, it) in state.cluster.nodes.iter().enumerate() {
            if it.can_query() {
                if self.all_nodes_write || !state.cluster.nodes[..node].iter().any(Node::can_query) {
                    for event in self.next_events(state) {
                        steps.push(Step::Write {
                            node,
                            event,
                            is_told: true,
                        });
                        steps.extend(can_fail.then_some(Step::Write {
                            node,
                            event,
                            is_told: false,
                        }));
                    }
                }
                steps.push(Step::Scan(node));
            }
            if let Some(endpoint) = &state.endpoints[node] {
                self.collect_endpoint_steps(state, node, endpoint, steps);
            }
        }
        match state.manual {
            Some(_) => {
                steps.push(Step::ManualEnd {
                    is_accepted: true,
                    is_told: true,
                });
                steps.push(Step::ManualEnd {
                    is_accepted: false,
                    is_told: true,
                });
                steps.extend(can_fail.then_some(Step::ManualEnd {
                    is_accepted: true,
                    is_told: false,
                }));
            }
            None if state.manual_left > 0 => {
                let pending =
                    (0..state.database.events.len()).filter(|e| state.database.events[*e].is_pending());
                steps.extend(pending.map(Step::ManualBegin));
            }
            None => {}
        }
    }

    /// The first unwritten event of each order.
    fn next_events(&self, state: &State) -> impl Iterator<Item = usize> {
        let rows = &state.database.events;
        (0..self.orders).filter_map(move |order| {
            let mut events = order * self.events_per_order..(order + 1) * self.events_per_order;
            events.find(|event| rows[*event].position == 0)
        })
    }

    fn collect_endpoint_steps(&self, state: &State, node: usize, endpoint: &Endpoint, steps: &mut Vec<Step>) {
        let it = &state.cluster.nodes[node];
        // A request that is under way is executed while its process is paused.
        if endpoint.settling == Settling::Sent && it.has_database {
            steps.push(Step::Commit(node));
            if state.cluster.faults_left > 0 {
                steps.push(Step::CommitUnknown(node));
            }
        }
        if it.process != Process::Running {
            return;
        }
        if endpoint.settling == Settling::Sent && !it.has_database {
            steps.push(Step::SettleFails(node));
        }
        if matches!(endpoint.settling, Settling::Answered(_) | Settling::Lost) {
            steps.push(Step::Settled(node));
        }
        if endpoint.loading.is_some() {
            steps.push(if it.has_database {
                Step::Loaded(node)
            } else {
                Step::LoadLost(node)
            });
        }
        for (event, place) in endpoint.places.iter().enumerate() {
            if !matches!(place, Place::InFlight(_)) {
                continue;
            }
            let (accepts, refuses) = if self.is_refused_forever(event) {
                (false, true)
            } else {
                (true, state.refusals_left > 0)
            };
            let outcomes = [(accepts, Outcome::Accepted), (refuses, Outcome::Refused)];
            let possible = outcomes.into_iter().filter(|(is_possible, _)| *is_possible);
            steps.extend(possible.map(|(_, outcome)| Step::Answer { node, event, outcome }));
        }
    }
}
