//! The size of the world, its state and its steps, and the rules that a test can switch off.

/// A rule of the protocol that a test switches off, to show that the properties detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Finished attempts that began under an earlier id of the node keep their slots.
    NoDraining,
    /// No attempt is cancelled for a tenant that waits.
    NoPreemption,
    /// Slow first attempts stay in their slots, and only the tenant with the most loses one.
    SlowStays,
}

#[derive(Clone, Copy, Debug)]
pub struct SlotModel {
    /// All tenants but the last are stuck.
    pub tenants: u8,
    /// Events of each tenant.
    pub events: u8,
    /// Attempts that one tenant may have in flight.
    pub width: u8,
    /// Slots for first attempts, and for troubled receivers.
    pub slots: [u8; 2],
    /// How often the node joins again under a new id.
    pub rejoins: u8,
    /// Only steps that change something are listed: random walks need that.
    pub is_walked: bool,
    pub mutation: Option<Mutation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotKind {
    First,
    Troubled,
}

/// How long an attempt has run: it becomes slow after half a second, and hangs after a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Age {
    Young,
    Slow,
    Hanging,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attempt {
    pub tenant: u8,
    pub kind: SlotKind,
    pub age: Age,
    pub is_cancelled: bool,
    /// It has ended, which the dispatcher has not noticed yet.
    pub has_ended: bool,
    /// It began under an earlier id of the node.
    pub is_of_earlier_id: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Events that each tenant still has to deliver.
    pub pending: Vec<u8>,
    /// The oldest first.
    pub attempts: Vec<Attempt>,
    pub free: [u8; 2],
    pub waiting: Vec<u8>,
    pub rejoins_left: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A tenant's next attempt gets a slot, or the tenant waits for one.
    Begin(u8),
    Age(usize),
    /// The receiver answers, or the attempt ends because it was cancelled.
    End(usize),
    /// The dispatcher notices the end.
    Drain(usize),
    /// The dispatcher serves a tenant that waits for a slot.
    Serve,
    Rejoin,
}

impl SlotModel {
    /// Two stuck tenants and a healthy one on few slots.
    #[must_use]
    pub fn small() -> Self {
        Self {
            tenants: 3,
            events: 2,
            width: 2,
            slots: [2, 1],
            rejoins: 1,
            is_walked: false,
            mutation: None,
        }
    }

    #[must_use]
    pub fn with(self, mutation: Mutation) -> Self {
        Self {
            mutation: Some(mutation),
            ..self
        }
    }

    pub(crate) fn has(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    pub(crate) fn is_stuck(&self, tenant: u8) -> bool {
        tenant + 1 < self.tenants
    }
}
