//! A delivery as its row and its event have it.

use crate::publish::Delivery;
use crate::tables::row::columns;

columns! {
    pub(crate) const COLUMNS = "d." of endpoint_deliveries {
        id = "e.id", order_id, position, failures, attempts, body = "e.body", created_at = "e.created_at"
    }
    fn delivery() -> Delivery {
        Ok(Delivery { id, order_id, position, failures, attempts, body, created_at })
    }
}
