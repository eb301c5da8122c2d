//! A call as its row has it, and the lease under which a node runs it.

use crate::StoreError;
use crate::tables::json::from_json;
use crate::tables::row::columns;
use garson_core::id::{AccountId, CallId, IntegrationId, NodeId, OrderId};
use garson_core::order::{Actor, CallArgument, CallKind};
use garson_core::time::Timestamp;
use std::time::Duration;

/// A call to run now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCall {
    pub id: CallId,
    pub account_id: AccountId,
    pub order_id: OrderId,
    pub integration_id: IntegrationId,
    pub kind: CallKind,
    pub argument: CallArgument,
    /// Attempts so far, including this one.
    pub attempts: i64,
    /// An earlier attempt may have succeeded.
    pub is_unclear: bool,
    /// Since when the platform has answered that it is too early for this call.
    pub not_yet_since: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The node that holds its lease.
    pub node: Option<NodeId>,
    /// The end of its lease, by the clock of that node.
    pub leased_until: i64,
}

columns! {
    pub(crate) const COLUMNS = "" of calls {
        id, account_id, order_id, integration_id, kind: String, argument: Option<String>, attempts, unclear, created_at,
        not_yet_since, node, leased_until,
    }
    fn due_call() -> DueCall {
        let argument = match argument {
            Some(json) => from_json("argument of a call", &json)?,
            None => CallArgument::by(Actor::Account),
        };
        Ok(DueCall {
            id,
            account_id,
            order_id,
            integration_id,
            kind: CallKind::named(&kind).ok_or_else(|| StoreError::corrupt("a call of an unknown kind"))?,
            argument,
            attempts,
            is_unclear: unclear,
            not_yet_since,
            created_at,
            node,
            leased_until,
        })
    }
}

/// A node that runs calls, and its monotonic clock. Only the node itself compares the clock with the ends of its leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    pub node: NodeId,
    pub clock_ms: i64,
    /// The earliest end of a lease whose call the node knows to be in flight. A process that was suspended for longer than a
    /// lease must not treat the calls that it continues as lost.
    pub in_flight_until: Option<i64>,
}

impl LeaseHolder {
    /// For queries by something that holds no leases.
    #[must_use]
    pub fn none() -> Self {
        Self {
            node: NodeId(uuid::Uuid::nil()),
            clock_ms: 0,
            in_flight_until: None,
        }
    }

    /// A lease of this length from now.
    #[must_use]
    pub fn lease(self, time: Duration) -> Lease {
        Lease {
            node: self.node,
            until: self
                .clock_ms
                .saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
        }
    }

    /// The node's own leases that ended up to this time belong to calls that it has lost.
    pub(crate) fn lost_up_to(self) -> i64 {
        self.in_flight_until
            .map_or(self.clock_ms, |end| self.clock_ms.min(end.saturating_sub(1)))
    }
}

/// Which node runs a call, and until when by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    pub node: NodeId,
    pub until: i64,
}

/// The condition for a running call: its node is a member and has not lost it. `?1` is the querying node, `?2` its
/// [`LeaseHolder::lost_up_to`].
pub(crate) fn is_running(table: &str) -> String {
    format!(
        "({table}.node IN (SELECT id FROM nodes) AND NOT ({table}.node = ?1 AND {table}.leased_until <= ?2))"
    )
}
