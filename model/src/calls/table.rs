//! The table of calls, and what the platform knows.

use crate::cluster::Id;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row {
    pub is_open: bool,
    /// The node that holds the lease.
    pub node: Option<Id>,
    /// The holder's clock has passed the end of the lease.
    pub is_lease_over: bool,
    pub attempts: u8,
    pub is_unclear: bool,
    /// Tells leases apart, which the database does not.
    pub lease: u8,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            is_open: true,
            node: None,
            is_lease_over: false,
            attempts: 0,
            is_unclear: false,
            lease: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    pub is_done: bool,
    /// How often the call was sent, and which of these requests were not clearly refused, one bit each.
    pub sends: u8,
    pub unresolved: u8,
}
