//! Messages to the dispatcher: results of attempts and of database jobs.

use super::endpoint::Load;
use super::receiver::Receiver;
use crate::flow::Fault;
use garson_core::id::{AccountId, EndpointId, EventId, NodeId};
use garson_store::StoreError;
use garson_store::tables::deliveries::{Delivery, PendingAccount, Settlement};
use std::sync::Arc;
use std::time::Duration;

pub enum Message {
    Ended(EndedAttempt),
    Loaded(Receiver, NodeId, Result<Option<Loaded>, Fault>),
    Settled(
        Receiver,
        NodeId,
        Arc<Vec<Settlement>>,
        Result<Option<Vec<Delivery>>, StoreError>,
    ),
    Scanned(Result<Vec<PendingReceiver>, StoreError>, Duration),
    Claimed(NodeId, Result<Vec<AccountId>, StoreError>),
}

/// A receiver with pending deliveries, and the state of its account.
pub struct PendingReceiver {
    pub receiver: Receiver,
    pub state: PendingAccount,
}

/// What was read for a receiver.
pub struct Loaded {
    pub load: Load,
    /// With the default endpoint: the other endpoints of the account that have pending deliveries.
    pub others: Vec<EndpointId>,
}

/// An attempt that has ended.
pub struct EndedAttempt {
    pub receiver: Receiver,
    pub node: NodeId,
    pub id: EventId,
    pub place: i64,
    /// Whether the receiver accepted it, and the result to store; none when the attempt panicked or does not count.
    pub result: Option<(bool, Settlement)>,
}
