//! A delivery as its event's row has it.

use crate::publish::Delivery;
use crate::tables::row::columns;

columns! {
    pub(crate) const COLUMNS = "" of events { id, order_id, position, failures, attempts, body, created_at }
    fn delivery() -> Delivery {
        Ok(Delivery { id, order_id, position, failures, attempts, body, created_at })
    }
}
