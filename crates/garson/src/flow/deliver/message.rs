//! Messages to the dispatcher: results of attempts and of database jobs.

use super::endpoint::Load;
use crate::flow::Fault;
use garson_core::id::{AccountId, EventId, NodeId};
use garson_store::StoreError;
use garson_store::tables::deliveries::{Delivery, PendingAccount, Settlement};
use std::sync::Arc;
use std::time::Duration;

pub enum Message {
    Ended(EndedAttempt),
    Loaded(AccountId, NodeId, Result<Option<Load>, Fault>),
    Settled(
        AccountId,
        NodeId,
        Arc<Vec<Settlement>>,
        Result<Option<Vec<Delivery>>, StoreError>,
    ),
    Scanned(Result<Vec<PendingAccount>, StoreError>, Duration),
    Claimed(NodeId, Result<Vec<AccountId>, StoreError>),
}

/// An attempt that has ended.
pub struct EndedAttempt {
    pub account: AccountId,
    pub node: NodeId,
    pub id: EventId,
    pub place: i64,
    /// Whether the receiver accepted it, and the result to store; none when the attempt panicked or does not count.
    pub result: Option<(bool, Settlement)>,
}
