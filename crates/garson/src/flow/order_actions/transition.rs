//! What an action did to an order.

use garson_core::order::{Order, Status};

/// An order's status before an action, and the order after it.
#[derive(Clone, Debug)]
pub struct Transition {
    pub before: Status,
    pub after: Order,
}
