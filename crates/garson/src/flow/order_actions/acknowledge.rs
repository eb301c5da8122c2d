//! Staff acknowledges what an order's card shows: a cancellation while it was being prepared, or a refused action.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::find_order::find_one;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_store::tables::order_notices;

/// Removes the notices of an order, for all boards of the account. May be repeated.
pub async fn acknowledge(app: &App, by: By, path_id: String) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let order = find_one(tx, account, &path_id)?;
            order_notices::acknowledge(tx, account, order.id)?;
            let action = Recorded::new(RecordKind::Order, Verb::Acknowledged).id(order.id);
            by.record(tx, action.restaurant(order.restaurant_id), now);
            Ok::<_, Fault>(())
        })
        .await
}
