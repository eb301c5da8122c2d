//! Slots for attempts, shared by tenants: a tenant whose receivers never answer must not stop another's deliveries.
//!
//! Attempts of stuck tenants never end by themselves here, so that a waiting tenant is served only by the rules: each kind of
//! attempt has its own slots, a slow first attempt moves to the slots for troubled receivers, hanging ones are cancelled, and
//! finished ones give their slot back, also those that began under an earlier id of the node.

mod config;
mod dispatcher;

pub use config::{Mutation, SlotKind, SlotModel, State, Step};

use stateright::{Model, Property};

pub const OTHERS_ARE_SERVED: &str = "a tenant's stuck work never stops another's";
pub const SLOTS_ADD_UP: &str = "no slot is lost";
pub const CAN_BE_FULL: &str = "stuck tenants can hold all slots while another waits";

impl Model for SlotModel {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            pending: vec![self.events; usize::from(self.tenants)],
            attempts: Vec::new(),
            free: self.slots,
            waiting: Vec::new(),
            rejoins_left: self.rejoins,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        self.collect_steps(state, steps);
        if self.is_walked {
            steps.retain(|step| self.next_state(state, *step).is_some());
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut next = last.clone();
        self.take(&mut next, step);
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(OTHERS_ARE_SERVED, |model: &Self, state: &State| {
                model.serves_the_healthy(state)
            }),
            Property::always(SLOTS_ADD_UP, |model: &Self, state: &State| {
                let held = |kind| state.attempts.iter().filter(|it| it.kind == kind).count();
                let free = state.free.map(usize::from);
                let all = model.slots.map(usize::from);
                free[0] + held(SlotKind::First) == all[0] && free[1] + held(SlotKind::Troubled) == all[1]
            }),
            Property::sometimes(CAN_BE_FULL, |model: &Self, state: &State| {
                let mut held = state.attempts.iter();
                state.free == [0, 0]
                    && held.all(|it| model.is_stuck(it.tenant))
                    && state.waiting.contains(&(model.tenants - 1))
            }),
        ]
    }
}
