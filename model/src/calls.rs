//! Platform calls of one order: leases, fencing of results, and the read-back before a repetition.

mod config;
mod fair;
mod leases;
mod sending;
mod state;
mod steps;
mod table;
mod task;

pub use config::{Calls, Mutation};
pub use state::State;
pub use steps::Step;

use crate::cluster::Cluster;
use stateright::{Model, Property};
use table::{Platform, Row};

pub const NO_BLIND_REPEAT: &str = "no call is repeated without a read-back";
pub const NO_DISTURBANCE: &str = "a result never changes a call that another attempt is making";
pub const ONE_AT_A_TIME: &str = "the calls of an order are made one at a time";
pub const ALL_CALLS_END: &str = "every call ends once the world is healthy";
pub const NEWEST_LEASE_WRITES: &str = "a result is written only under the newest lease";
pub const CAN_END: &str = "all calls can end";
pub const CAN_TAKE_OVER: &str = "another node can take over";

impl Model for Calls {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut state = State {
            cluster: Cluster::new(self.nodes, self.faults),
            rows: vec![Row::default(); self.calls],
            platform: vec![Platform::default(); self.calls],
            tasks: Vec::new(),
            trouble_left: self.trouble,
            held_back_left: self.held_back,
            was_repeated_blindly: false,
            was_disturbed: false,
            was_written_late: false,
            had_two_at_once: false,
        };
        if self.has_question {
            state.ask();
        }
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        self.collect_steps(state, actions);
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut next = last.clone();
        self.take(&mut next, step);
        next.tasks.sort_unstable();
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::always(NO_BLIND_REPEAT, |_, state: &State| !state.was_repeated_blindly),
            Property::always(NO_DISTURBANCE, |_, state: &State| !state.was_disturbed),
            Property::always(ONE_AT_A_TIME, |_, state: &State| !state.had_two_at_once),
            Property::always(ALL_CALLS_END, |model: &Self, state: &State| {
                model.with_supersede || model.ends_when_healthy(state)
            }),
        ];
        if self.checks_newest_lease {
            all.push(Property::always(NEWEST_LEASE_WRITES, |_, state: &State| {
                !state.was_written_late
            }));
        }
        if self.mutation.is_none() {
            all.extend([
                Property::sometimes(CAN_END, |_, state: &State| {
                    state.rows.iter().all(|row| !row.is_open)
                }),
                Property::sometimes(CAN_TAKE_OVER, |_, state: &State| {
                    state.tasks.iter().any(|task| task.is_unclear)
                }),
            ]);
        }
        all
    }
}
