//! What can happen to an order.

use super::names::{CANCELLED, CREATED, MOVED, UPDATED};
use crate::order::{Actor, Cancellation, ContentChange, Status};

/// Something that happened to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// 1, 2, 3 … within the order.
    pub sequence: i64,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    Created {
        status: Status,
    },
    Moved {
        from: Status,
        to: Status,
        by: Actor,
    },
    Cancelled {
        status: Status,
        cancellation: Cancellation,
    },
    /// A later version of the content; only for accounts that have opted in.
    Updated {
        revision: i64,
        changes: Vec<ContentChange>,
    },
}

impl EventKind {
    /// The value of `olay`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => CREATED,
            Self::Moved { .. } => MOVED,
            Self::Cancelled { .. } => CANCELLED,
            Self::Updated { .. } => UPDATED,
        }
    }
}
