//! An order with its content and timeline.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::find_order::find_one;
use garson_core::id::AccountId;
use garson_core::order::{Order, OrderContent, TimelineLine};
use garson_core::restaurant::{PaymentMatch, matched_id};
use garson_store::Engine;
use garson_store::tables::{orders, restaurants};

/// An order with all its details.
pub struct OrderDetail {
    pub order: Order,
    pub content: OrderContent,
    pub timeline: Vec<TimelineLine>,
    /// The POS's own id of the payment method.
    pub matched_id: Option<String>,
}

/// The POS's id of an order's payment method, if it is matched.
pub(crate) fn pos_id(matches: &[PaymentMatch], order: &Order) -> Option<String> {
    let code = order.payment_code.as_deref();
    matched_id(matches, order.provider, order.payment_type, code).map(str::to_owned)
}

pub async fn detail(app: &App, account: AccountId, path_id: String) -> Result<OrderDetail, Fault> {
    read(&app.store, account, path_id).await
}

/// The same from a database.
pub async fn read(store: &Engine, account: AccountId, path_id: String) -> Result<OrderDetail, Fault> {
    store
        .read(move |tx| {
            let order = find_one(tx, account, &path_id)?;
            let matches = restaurants::payment_matches(tx, order.restaurant_id)?;
            Ok(OrderDetail {
                content: orders::content(tx, order.id)?,
                timeline: orders::timeline(tx, order.id)?,
                matched_id: pos_id(&matches, &order),
                order,
            })
        })
        .await
}
