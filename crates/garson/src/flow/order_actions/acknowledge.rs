//! Staff acknowledges what an order's card shows: a cancellation while it was being prepared, or a refused action.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::find_order::find_one;
use garson_core::id::AccountId;
use garson_store::tables::order_notices;

/// Removes the notices of an order, for all boards of the account. May be repeated.
pub async fn acknowledge(app: &App, account: AccountId, path_id: String) -> Result<(), Fault> {
    app.store
        .write(account, move |tx| {
            let order = find_one(tx, account, &path_id)?;
            order_notices::acknowledge(tx, account, order.id)?;
            Ok::<_, Fault>(())
        })
        .await
}
