//! Pages of a restaurant's history.

use crate::lists::feed;
use crate::lists::feed::{ALL_POSITIONS, Feed, Page, PageRequest, Scope};
use crate::tables::restaurant_history::{COLUMNS, entry};
use crate::{Result, Tx};
use garson_core::id::RestaurantId;
use garson_core::restaurant_history::HistoryEntry;

/// A page of a restaurant's history, newest first.
pub fn page(tx: &mut Tx<'_>, restaurant: RestaurantId, request: PageRequest) -> Result<Page<HistoryEntry>> {
    let list = Feed {
        table: "restaurant_history",
        columns: COLUMNS,
        scope: Scope::Restaurant(restaurant),
        conditions: &[""],
        any_of: None,
        filters_deleted: false,
        between: ALL_POSITIONS,
    };
    feed::page(tx, &list, request, |_, cells| entry(cells))
}
