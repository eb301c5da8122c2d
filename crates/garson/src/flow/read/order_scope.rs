//! Which orders a user of named restaurants may see.

use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, OrderId};
use garson_core::permission::RestaurantScope;
use garson_store::tables::orders;

/// Are all orders that this id names in the user's restaurants? An id that names none is left to the page.
pub async fn has_order(
    app: &App,
    account: AccountId,
    scope: RestaurantScope,
    id: String,
) -> Result<bool, Fault> {
    if scope.is_all() {
        return Ok(true);
    }
    app.store
        .read(move |tx| {
            let found = orders::find(tx, account, &id)?;
            Ok(found.iter().all(|order| scope.has(order.restaurant_id)))
        })
        .await
}

/// Those of these orders that are in the user's restaurants.
pub async fn only_own(
    app: &App,
    account: AccountId,
    scope: RestaurantScope,
    ids: Vec<OrderId>,
) -> Result<Vec<OrderId>, Fault> {
    if scope.is_all() {
        return Ok(ids);
    }
    app.store
        .read(move |tx| {
            let mut own = Vec::new();
            for id in &ids {
                let found = orders::by_id(tx, *id)?;
                if found.is_some_and(|it| it.account_id == account && scope.has(it.restaurant_id)) {
                    own.push(*id);
                }
            }
            Ok(own)
        })
        .await
}
