//! A price change as shown to clients, and its end.

use crate::flow::products::record;
use garson_core::id::{AccountId, PricePushId, RestaurantId};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::Requester;
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::tables::prices;
use garson_store::tables::prices::{PriceItem, PricePush, PriceState, PushState};
use garson_store::{StoreError, Tx};
use serde_json::json;

/// A price change with its prices.
#[derive(Clone, Debug)]
pub struct PriceChangeView {
    pub push: PricePush,
    pub items: Vec<PriceItem>,
}

/// Has the preview expired?
pub fn is_expired(push: &PricePush, now: Timestamp) -> bool {
    push.state == PushState::Preview && push.expires_at <= now
}

/// Records the end of a price change.
pub fn record_end(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    id: PricePushId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let items = prices::items(tx, id)?;
    let done = items.iter().filter(|it| it.state == PriceState::Done).count();
    let detail = json!({ "done": done, "failed": items.len() - done });
    let by = (StoreActor::Account, Requester::Service);
    let entry = HistoryEntry::new(restaurant, now, by, HistoryAction::PricesResult, detail);
    record::history(tx, account, entry)
}
