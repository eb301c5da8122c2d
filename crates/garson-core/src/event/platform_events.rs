//! The bodies of the optional events about stores, products and menus on platforms.

use super::names::{MENU_CHANGED, PRODUCT_CHANGED, STORE_CHANGED};
use crate::id::{EventId, ProductId, RestaurantId};
use crate::platform::Provider;
use crate::store_status::{ReasonCode, StoreActor, StoreState};
use crate::time::Timestamp;
use serde::Serialize;

/// A change of the state of a store.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreEvent<'a> {
    pub old_state: StoreState,
    pub state: StoreState,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub by: Option<StoreActor>,
    #[serde(rename = "stateReason")]
    pub reason: Option<StoreEventReason<'a>>,
}

#[derive(Serialize)]
pub struct StoreEventReason<'a> {
    pub code: ReasonCode,
    pub text: &'a str,
}

/// A change of the availability of a product.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductEvent<'a> {
    pub product_id: ProductId,
    /// The item's id on the platform.
    pub item_id: &'a str,
    pub name: &'a str,
    pub available: bool,
    /// When it becomes available again, if known.
    pub until: Option<Timestamp>,
    /// `account`, `schedule` or `platform`.
    pub by: &'a str,
}

/// A change of the menu of a platform, with the number of products that were added, removed or changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuEvent {
    pub version: i64,
    pub added: usize,
    pub removed: usize,
    pub prices: usize,
    pub names: usize,
    pub availability: usize,
    pub images: usize,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    olay: &'a str,
    veri: Veri<'a, T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Veri<'a, T> {
    id: String,
    restaurant_id: RestaurantId,
    provider: &'a str,
    occurred_at: Timestamp,
    #[serde(flatten)]
    event: &'a T,
}

fn body<T: Serialize>(
    olay: &str,
    id: EventId,
    restaurant_id: RestaurantId,
    provider: Provider,
    event: &T,
    at: Timestamp,
) -> String {
    let veri = Veri {
        id: id.to_string(),
        restaurant_id,
        provider: provider.as_str(),
        occurred_at: at,
        event,
    };
    // Strings, numbers and timestamps under fixed names cannot fail to serialise.
    serde_json::to_string(&Envelope { olay, veri }).unwrap_or_default()
}

/// The body of the event that the state of a store has changed.
#[must_use]
pub fn store_body(
    id: EventId,
    restaurant_id: RestaurantId,
    provider: Provider,
    event: &StoreEvent<'_>,
    at: Timestamp,
) -> String {
    body(STORE_CHANGED, id, restaurant_id, provider, event, at)
}

/// The body of the event that the availability of a product on a platform has changed.
#[must_use]
pub fn product_body(
    id: EventId,
    restaurant_id: RestaurantId,
    provider: Provider,
    event: &ProductEvent<'_>,
    at: Timestamp,
) -> String {
    body(PRODUCT_CHANGED, id, restaurant_id, provider, event, at)
}

/// The body of the event that the menu of a platform has changed.
#[must_use]
pub fn menu_body(
    id: EventId,
    restaurant_id: RestaurantId,
    provider: Provider,
    event: &MenuEvent,
    at: Timestamp,
) -> String {
    body(MENU_CHANGED, id, restaurant_id, provider, event, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn body_of_a_closed_store_has_actor_and_reason() {
        let event = StoreEvent {
            old_state: StoreState::Open,
            state: StoreState::Closed,
            since: None,
            until: Some(Timestamp::from_millis(0)),
            by: Some(StoreActor::Platform),
            reason: Some(StoreEventReason {
                code: ReasonCode::OrderNotAnswered,
                text: "yanıt yok",
            }),
        };
        let nil = Uuid::nil();
        let body = store_body(
            EventId(nil),
            RestaurantId(nil),
            Provider::new("getir"),
            &event,
            Timestamp::from_millis(0),
        );
        assert_eq!(
            body,
            format!(
                r#"{{"olay":"magaza.durum_degisti","veri":{{"id":"{nil}","restaurantId":"{nil}","provider":"getir","occurredAt":"1970-01-01T00:00:00.000Z","oldState":"open","state":"closed","since":null,"until":"1970-01-01T00:00:00.000Z","by":"platform","stateReason":{{"code":"order_not_answered","text":"yanıt yok"}}}}}}"#
            )
        );
    }
}
