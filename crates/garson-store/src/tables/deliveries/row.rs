//! A delivery as its event's row has it.

use crate::tables::row::columns;
use garson_core::id::{EventId, OrderId};
use garson_core::time::Timestamp;

/// An event to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub id: EventId,
    pub order_id: Option<OrderId>,
    pub position: i64,
    pub failures: i64,
    /// All attempts, manual ones included.
    pub attempts: i64,
    pub body: String,
    pub created_at: Timestamp,
}

columns! {
    pub(crate) const COLUMNS = "" of events { id, order_id, position, failures, attempts, body, created_at }
    fn delivery() -> Delivery {
        Ok(Delivery { id, order_id, position, failures, attempts, body, created_at })
    }
}
