//! Delivery of one account's events by one of several nodes: ownership, settlements, held events and manual sends.

mod config;
mod database;
mod effects;
mod endpoint;
mod fair;
mod normal;
mod state;
mod steps;
mod values;

pub use config::{Delivery, Mutation};
pub use state::State;
pub use steps::Step;

use crate::cluster::Cluster;
use database::Database;
use stateright::{Model, Property};

pub const ONLY_ITS_OWNER_SETTLES: &str = "an event is settled only by its owner";
pub const NOTHING_OVERTAKES: &str = "nothing overtakes a predecessor that failed less than twice";
pub const ALL_IS_DELIVERED: &str = "every pending event is delivered once the world is healthy";
pub const CAN_DELIVER_ALL: &str = "all events can be delivered";
pub const CAN_TAKE_OVER: &str = "another node can take over";

impl Model for Delivery {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut database = Database::new(self.orders * self.events_per_order);
        if self.has_backlog {
            for sequence in 0..self.events_per_order {
                for order in 0..self.orders {
                    database.write(self, order * self.events_per_order + sequence);
                }
            }
        }
        vec![State {
            cluster: Cluster::new(self.nodes, self.faults),
            database,
            endpoints: vec![None; usize::from(self.nodes)],
            manual: None,
            refusals_left: self.refusals,
            manual_left: self.manual_sends,
            has_overtaken: false,
            are_orders_alike: self.orders == 2 && !self.last_order_is_refused,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        self.collect_steps(state, actions);
        if self.is_walked {
            actions.retain(|step| self.next_state(state, *step).is_some());
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut next = last.clone();
        self.take(&mut next, step);
        next.normalize();
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![
            Property::always(ONLY_ITS_OWNER_SETTLES, |_, state: &State| {
                !state.database.was_settled_by_another
            }),
            Property::always(NOTHING_OVERTAKES, |_, state: &State| !state.has_overtaken),
            Property::always(ALL_IS_DELIVERED, |model: &Self, state: &State| {
                model.delivers_when_healthy(state)
            }),
        ];
        if self.mutation.is_none() {
            all.extend([
                Property::sometimes(CAN_DELIVER_ALL, |model: &Self, state: &State| {
                    let events = state.database.events.iter().enumerate();
                    let mut wanted = events.filter(|(event, _)| !model.is_refused_forever(*event));
                    wanted.all(|(_, event)| event.is_delivered)
                }),
                Property::sometimes(CAN_TAKE_OVER, |_, state: &State| {
                    let mut nodes = state.cluster.nodes.iter().zip(&state.endpoints);
                    let owner = state.database.owner;
                    nodes.any(|(node, endpoint)| endpoint.is_some() && owner.is_some_and(|it| it != node.id))
                }),
            ]);
        }
        all
    }
}
