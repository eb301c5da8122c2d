//! The size of the world, and the rules that a test can switch off.

/// A rule of the protocol that a test switches off, to show that the properties detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A settlement is written without checking who delivers for the account.
    NoFence,
    /// A settlement is written without checking whether it was written before.
    NoAttemptsCheck,
    /// Nothing raises the account's `deliver_version`.
    NoVersion,
    /// An event waits only for the one directly before it.
    DirectPredecessorOnly,
    /// The end of a read replaces the time of a retry that was planned during the read.
    RetryTimeReplaced,
    /// After a settlement had to be written twice, events that the first commit has released are not searched.
    ReleaseForgotten,
}

/// The size of the world.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    pub nodes: u8,
    pub orders: usize,
    pub events_per_order: usize,
    /// Attempts that a node has in flight at once.
    pub width: usize,
    /// All events are written at the beginning, alternately for the orders; otherwise at any time.
    pub has_backlog: bool,
    /// New events are committed by all nodes, not only by the first that runs.
    pub all_nodes_write: bool,
    /// Crashes, pauses, losses of the database, lost messages, and commits whose outcome the node does not learn.
    pub faults: u8,
    /// Attempts that the receiver refuses.
    pub refusals: u8,
    pub manual_sends: u8,
    /// The receiver always refuses the events of the last order, and their retries lie far ahead.
    pub last_order_is_refused: bool,
    /// Only steps that change something are listed: random walks need that.
    pub is_walked: bool,
    pub mutation: Option<Mutation>,
}

impl Delivery {
    /// One account on two nodes.
    #[must_use]
    pub fn small(orders: usize, events_per_order: usize) -> Self {
        Self {
            nodes: 2,
            orders,
            events_per_order,
            width: 1,
            has_backlog: false,
            all_nodes_write: true,
            faults: 1,
            refusals: 1,
            manual_sends: 0,
            last_order_is_refused: false,
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

    pub(crate) fn order_of(&self, event: usize) -> usize {
        event / self.events_per_order
    }

    /// The earlier events of the same order.
    pub(crate) fn before(&self, event: usize) -> std::ops::Range<usize> {
        self.order_of(event) * self.events_per_order..event
    }

    pub(crate) fn is_refused_forever(&self, event: usize) -> bool {
        self.last_order_is_refused && self.order_of(event) + 1 == self.orders
    }
}
