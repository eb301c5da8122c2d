//! Writes changes of products to the restaurant's history, and events for accounts that have opted in.

use crate::flow::By;
use crate::flow::by::Recorded;
use garson_core::audit::{RecordKind, Verb};
use garson_core::event::{MenuEvent, OptionalEvent, ProductEvent, menu_body, product_body};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId, RestaurantId};
use garson_core::item::Availability;
use garson_core::platform::Provider;
use garson_core::product::ItemKey;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::Requester;
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::tables::accounts::{optional_events, reserve_positions};
use garson_store::tables::desired_items::{DesiredItem, DesiredOrigin};
use garson_store::tables::events::{NewEvent, write};
use garson_store::tables::platform_items::PlatformItem;
use garson_store::tables::restaurant_history;
use garson_store::{StoreError, Tx};
use serde_json::{Value, json};

/// The largest number of product names in one history entry.
const MAX_NAMES: usize = 20;

/// Adds an entry of a restaurant's history.
pub fn history(tx: &mut Tx<'_>, account: AccountId, entry: HistoryEntry) -> Result<(), StoreError> {
    let at = entry.at;
    restaurant_history::record(tx, account, &[entry], at)
}

/// Records a request to switch products.
pub fn requested(
    tx: &mut Tx<'_>,
    by: &By,
    restaurant: RestaurantId,
    requester: Requester,
    switched: &[(String, Availability)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut kinds: Vec<Availability> = Vec::new();
    for (_, availability) in switched {
        if !kinds.contains(availability) {
            kinds.push(*availability);
        }
    }
    for availability in kinds {
        let names: Vec<&str> = switched
            .iter()
            .filter(|(_, it)| *it == availability)
            .map(|(name, _)| name.as_str())
            .collect();
        let detail = json!({
            "available": availability.is_available(),
            "until": ends_at(availability),
            "products": names.iter().take(MAX_NAMES).collect::<Vec<_>>(),
            "count": names.len(),
        });
        let action = Recorded::new(RecordKind::Product, Verb::Changed).restaurant(restaurant);
        by.record(tx, action.after(detail.clone()), now);
        let whose = (StoreActor::Account, requester);
        let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::ProductsRequested, detail);
        history(tx, by.account, entry)?;
    }
    Ok(())
}

fn ends_at(availability: Availability) -> Option<Timestamp> {
    match availability {
        Availability::Unavailable {
            end: garson_core::item::UnavailableEnd::At(at) | garson_core::item::UnavailableEnd::EndOfDay(at),
        } => Some(at),
        _ => None,
    }
}

/// Records a result on a platform that staff should see.
pub fn of_item(
    tx: &mut Tx<'_>,
    desired: &DesiredItem,
    action: HistoryAction,
    message: Option<&Explanation>,
    name: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let actor = match (action, desired.by) {
        (HistoryAction::ProductUndone, _) => StoreActor::Platform,
        (_, DesiredOrigin::Account) => StoreActor::Account,
        (_, DesiredOrigin::Schedule) => StoreActor::Schedule,
    };
    let detail = json!({
        "product": name,
        "available": desired.availability.is_available(),
        "message": message.map(ToString::to_string),
    });
    if actor == StoreActor::Platform {
        let undone = Recorded::new(RecordKind::Product, Verb::Changed).id(&desired.key.id);
        let undone = undone.restaurant(desired.restaurant_id).after(detail.clone());
        By::platform(desired.account_id, desired.key.provider).record(tx, undone, now);
    }
    let by = (actor, Requester::Service);
    let entry = HistoryEntry::new(desired.restaurant_id, now, by, action, detail).on(desired.key.provider);
    history(tx, desired.account_id, entry)
}

/// Records that a user has made or undone a link.
pub fn linked(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    requester: Requester,
    (action, product, key): (HistoryAction, &str, &ItemKey),
    now: Timestamp,
) -> Result<(), StoreError> {
    let detail = json!({ "product": product, "itemId": key.id });
    let by = (StoreActor::Account, requester);
    let entry = HistoryEntry::new(restaurant, now, by, action, detail).on(key.provider);
    history(tx, account, entry)
}

/// A person has declined that two products are the same.
pub fn match_declined(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    requester: Requester,
    (product, other): (&str, &str),
    now: Timestamp,
) -> Result<(), StoreError> {
    let detail = json!({ "product": product, "other": other });
    let by = (StoreActor::Account, requester);
    let entry = HistoryEntry::new(restaurant, now, by, HistoryAction::MatchDeclined, detail);
    history(tx, account, entry)
}

/// Writes the event that the availability of an item has changed, if the account has opted in.
pub fn item_changed(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    item: &PlatformItem,
    (is_available, until, by): (bool, Option<Timestamp>, &str),
    now: Timestamp,
) -> Result<(), StoreError> {
    if !optional_events(tx, account)?.contains(OptionalEvent::Product) {
        return Ok(());
    }
    let news = ProductEvent {
        product_id: item.product_id,
        item_id: &item.item.key.id,
        name: &item.item.name,
        available: is_available,
        until,
        by,
    };
    let mut places = reserve_positions(tx, account, 1, now)?;
    let id = EventId::at(places.at);
    let provider = item.item.key.provider;
    let body = product_body(id, restaurant, provider, &news, places.at);
    let event = NewEvent {
        id,
        account_id: account,
        restaurant_id: restaurant,
        order_id: None,
        sequence: None,
        name: OptionalEvent::Product.as_str(),
        body: &body,
    };
    write(tx, &event, &mut places)
}

/// Records that the menu of a platform has changed, and writes the event if the account has opted in.
pub fn menu_changed(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    provider: Provider,
    news: &MenuEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let detail = serde_json::to_value(news).unwrap_or(Value::Null);
    let changed = Recorded::new(RecordKind::Menu, Verb::Changed).id(provider);
    let changed = changed.restaurant(restaurant).after(detail.clone());
    By::platform(account, provider).record(tx, changed, now);
    let by = (StoreActor::Platform, Requester::Service);
    let entry = HistoryEntry::new(restaurant, now, by, HistoryAction::MenuChanged, detail).on(provider);
    history(tx, account, entry)?;
    if !optional_events(tx, account)?.contains(OptionalEvent::Menu) {
        return Ok(());
    }
    let mut places = reserve_positions(tx, account, 1, now)?;
    let id = EventId::at(places.at);
    let body = menu_body(id, restaurant, provider, news, places.at);
    let event = NewEvent {
        id,
        account_id: account,
        restaurant_id: restaurant,
        order_id: None,
        sequence: None,
        name: OptionalEvent::Menu.as_str(),
        body: &body,
    };
    write(tx, &event, &mut places)
}
