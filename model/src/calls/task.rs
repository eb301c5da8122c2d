//! An attempt at a call, as it runs in a process.

use super::table::Row;
use crate::cluster::Id;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    Done,
    /// A client's question was not done and is not repeated.
    NotDone,
    /// The platform answered that it did not do it.
    Later,
    /// It may have been done.
    Unclear,
    /// Nothing was sent.
    HeldBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    Begun,
    /// It reads the order from the platform.
    Reading,
    /// It waits for a session, the rate limit or a slot; then it sends.
    Waiting,
    /// The request is under way: its number, and whether the platform does it.
    Sent {
        bit: u8,
        is_done: bool,
    },
    /// The platform answered that the step was done before; the order is read to confirm it.
    Confirming,
    Answered(Verdict),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Task {
    pub node: usize,
    pub call: usize,
    /// The call as it was leased.
    pub id: Id,
    pub attempts: u8,
    pub is_unclear: bool,
    pub lease: u8,
    /// The node's clock has passed the end of the lease.
    pub is_lease_over: bool,
    pub phase: Phase,
    /// Requests that the last read-back took into account, one bit each.
    pub seen: u8,
    /// A client waits for it.
    pub is_for_client: bool,
}

impl Task {
    pub fn new(node: usize, call: usize, row: Row, id: Id) -> Self {
        Self {
            node,
            call,
            id,
            attempts: row.attempts,
            is_unclear: row.is_unclear,
            lease: row.lease,
            is_lease_over: false,
            phase: Phase::Begun,
            seen: 0,
            is_for_client: false,
        }
    }
}
