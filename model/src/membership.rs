//! Heartbeats, leases and the removal of silent nodes, with the durations of the code in seconds.
//!
//! One node is observed by another. The rest of the crate relies on one result: a node is removed only after its lease has ended.

use stateright::{Model, Property};

/// The durations of `flow/upkeep/membership.rs`.
pub const DEAD_AFTER: u8 = 9;
pub const OBSERVATION_GAP: u8 = 5;
pub const LEASE: u8 = 7;

/// A rule of the protocol that a test switches off, to show that the properties detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// The lease counts from the answer to a heartbeat, not from its beginning.
    LeaseFromAnswer,
    /// The lease is longer than the silence after which a node is dead.
    LongLease,
    /// A node that could not read the others' heartbeats for a while declares them dead at once.
    NoObservationGap,
    /// A node is removed although it has sent a heartbeat since it was read.
    NoCounterCheck,
    /// A node that was removed continues under its old id.
    SameIdAfterRemoval,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Membership {
    pub mutation: Option<Mutation>,
}

/// A heartbeat under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Beat {
    pub age: u8,
    pub is_committed: bool,
    /// It found its row; known after the commit.
    pub found_row: bool,
}

/// All ages are in seconds, and stop growing where they no longer matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The observed node: the rest of its lease, and its heartbeat under way.
    pub lease_left: u8,
    pub beat: Option<Beat>,
    pub has_row: bool,
    pub is_database_up: bool,
    /// How long the database has been down, and how long ago the last outage ended that was longer than the observation gap.
    pub down: u8,
    pub since_outage: u8,
    /// The observer: since when it has seen the same counter, and when it observed last.
    pub seen: Option<u8>,
    pub observed: Option<u8>,
    /// The counter has grown since the observer saw it.
    pub has_grown: bool,
    /// The observer has decided to remove the node: whether the counter has grown since it read it.
    pub removing: Option<bool>,
    /// How long ago the last outage was when it decided so.
    pub decided: Option<u8>,
    /// Since the last committed heartbeat.
    pub since_beat: u8,
    /// At the removal: the rest of the lease, and the silence.
    pub removed_with: Option<(u8, u8)>,
    /// The node holds a valid lease under an id that was removed.
    pub is_ghost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Second,
    BeginBeat,
    CommitBeat,
    EndBeat,
    LoseBeat,
    Observe,
    Remove,
    DatabaseFails,
    DatabaseReturns,
}

pub const LEASE_ENDS_FIRST: &str = "a node is removed only after its lease has ended";
pub const SILENT_FIRST: &str = "a node is removed only after nine seconds without a heartbeat";
pub const NOT_AFTER_AN_OUTAGE: &str = "a node is not declared dead for the time of an outage";
pub const NEW_ID: &str = "a removed node has no lease under its old id";
pub const CAN_BE_REMOVED: &str = "a silent node can be removed";

impl Membership {
    #[must_use]
    pub fn with(mutation: Mutation) -> Self {
        Self {
            mutation: Some(mutation),
        }
    }

    fn has(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    fn lease(&self) -> u8 {
        if self.has(Mutation::LongLease) {
            DEAD_AFTER + 2
        } else {
            LEASE
        }
    }

    fn observe(&self, state: &mut State) {
        let has_gap = state.observed.is_none_or(|age| age > OBSERVATION_GAP);
        if has_gap && !self.has(Mutation::NoObservationGap) {
            state.seen = None;
        }
        state.observed = Some(0);
        if !state.has_row {
            state.seen = None;
        } else if state.has_grown || state.seen.is_none() {
            state.seen = Some(0);
            state.has_grown = false;
        }
        if state.seen.is_some_and(|age| age >= DEAD_AFTER) {
            state.removing = Some(false);
            state.decided = Some(state.since_outage);
        }
    }

    fn end_beat(&self, state: &mut State, beat: Beat) {
        state.beat = None;
        if !beat.found_row && !self.has(Mutation::SameIdAfterRemoval) {
            // It joins again: another row, another id, and an observer that knows nothing of it.
            return;
        }
        let used = if self.has(Mutation::LeaseFromAnswer) {
            0
        } else {
            beat.age
        };
        state.lease_left = self.lease().saturating_sub(used);
        state.is_ghost |= !state.has_row && state.lease_left > 0 && !beat.found_row;
    }
}

impl Model for Membership {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            lease_left: self.lease(),
            beat: None,
            has_row: true,
            is_database_up: true,
            down: 0,
            since_outage: DEAD_AFTER,
            seen: None,
            observed: None,
            has_grown: false,
            removing: None,
            decided: None,
            since_beat: 0,
            removed_with: None,
            is_ghost: false,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        steps.push(Step::Second);
        match state.beat {
            None => steps.push(Step::BeginBeat),
            Some(beat) => {
                steps.push(if beat.is_committed {
                    Step::EndBeat
                } else {
                    Step::CommitBeat
                });
                steps.push(Step::LoseBeat);
            }
        }
        steps.push(if state.removing.is_some() {
            Step::Remove
        } else {
            Step::Observe
        });
        steps.push(if state.is_database_up {
            Step::DatabaseFails
        } else {
            Step::DatabaseReturns
        });
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut next = *last;
        let older = |age: &mut u8, most: u8| *age = (*age + 1).min(most);
        match step {
            Step::Second => {
                next.lease_left = next.lease_left.saturating_sub(1);
                older(&mut next.since_beat, DEAD_AFTER);
                older(&mut next.since_outage, DEAD_AFTER);
                if !last.is_database_up {
                    older(&mut next.down, OBSERVATION_GAP + 1);
                }
                next.beat
                    .iter_mut()
                    .for_each(|beat| older(&mut beat.age, DEAD_AFTER + 3));
                next.seen.iter_mut().for_each(|age| older(age, DEAD_AFTER));
                next.observed
                    .iter_mut()
                    .for_each(|age| older(age, OBSERVATION_GAP + 1));
            }
            Step::BeginBeat => {
                next.beat = Some(Beat {
                    age: 0,
                    is_committed: false,
                    found_row: false,
                });
            }
            Step::CommitBeat if last.is_database_up => {
                let beat = next.beat.as_mut()?;
                beat.is_committed = true;
                beat.found_row = next.has_row;
                if next.has_row {
                    next.since_beat = 0;
                    next.has_grown = true;
                    next.removing = next.removing.map(|_| true);
                }
            }
            Step::EndBeat => self.end_beat(&mut next, last.beat?),
            Step::LoseBeat => next.beat = None,
            Step::Observe if last.is_database_up => self.observe(&mut next),
            Step::Remove if last.is_database_up => {
                let has_grown = next.removing.take()?;
                if next.has_row && (!has_grown || self.has(Mutation::NoCounterCheck)) {
                    next.has_row = false;
                    next.seen = None;
                    next.removed_with = Some((next.lease_left, next.since_beat));
                }
            }
            Step::DatabaseFails => {
                next.is_database_up = false;
                next.down = 0;
            }
            Step::DatabaseReturns => {
                next.is_database_up = true;
                if last.down > OBSERVATION_GAP {
                    next.since_outage = 0;
                }
                next.down = 0;
            }
            Step::CommitBeat | Step::Observe | Step::Remove => return None,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(LEASE_ENDS_FIRST, |_, state: &State| {
                state.removed_with.is_none_or(|(lease_left, _)| lease_left == 0)
            }),
            Property::always(SILENT_FIRST, |_, state: &State| {
                state
                    .removed_with
                    .is_none_or(|(_, silence)| silence >= DEAD_AFTER)
            }),
            Property::always(NOT_AFTER_AN_OUTAGE, |_, state: &State| {
                state
                    .decided
                    .is_none_or(|since_outage| since_outage >= DEAD_AFTER)
            }),
            Property::always(NEW_ID, |_, state: &State| !state.is_ghost),
            Property::sometimes(CAN_BE_REMOVED, |_, state: &State| state.removed_with.is_some()),
        ]
    }
}
