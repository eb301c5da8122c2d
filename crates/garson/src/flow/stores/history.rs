//! Pages of a restaurant's history.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant_history::HistoryEntry;
use garson_store::lists::feed::{Page, PageRequest};
use garson_store::lists::history;
use garson_store::tables::restaurants;

/// A page of a restaurant's history, newest first.
pub async fn list(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    request: PageRequest,
) -> Result<Page<HistoryEntry>, Fault> {
    app.store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            Ok(history::page(tx, restaurant, request)?)
        })
        .await
}
