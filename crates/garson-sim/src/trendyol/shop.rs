//! Trendyol's calls about stores, their hours, products and prices.

use http::StatusCode;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    auth,
    errors::{Answer, Refusal},
};
use crate::{
    call::Call,
    clock,
    platform::Platform,
    shop::{BatchItem, Closing, PriceBatch},
    store::Store,
    views::{ClosedBy, HoursLine},
    world::World,
};

pub(super) const OPERATIONS: &[&str] = &[
    "stores",
    "store-status",
    "working-hours",
    "product-status",
    "section-status",
    "prices",
    "batch",
];

const DAYS: [&str; 7] = [
    "MONDAY",
    "TUESDAY",
    "WEDNESDAY",
    "THURSDAY",
    "FRIDAY",
    "SATURDAY",
    "SUNDAY",
];
const MAX_PRICES: usize = 1_000;
const BATCH_HOURS: i64 = 4;

pub(super) fn answer(world: &mut World, call: &Call, operation: &str, supplier: &str) -> Answer {
    settle(world);
    match operation {
        "stores" => Ok(Some(list(world, call, supplier))),
        "prices" => prices(world, call, supplier).map(Some),
        "batch" => batch(world, call, supplier).map(Some),
        _ => {
            let store_id = call.segments.get(6).map(String::as_str).unwrap_or_default();
            let store = auth::store(world, supplier, store_id).ok_or_else(Refusal::unauthorized)?;
            let body = call.json().map_err(Refusal::invalid)?;
            match operation {
                "store-status" => store_status(world, &store, &body),
                "working-hours" => working_hours(world, &store, &body),
                _ => item_status(world, call, &store, &body, operation == "section-status"),
            }
            .map(|()| None)
        }
    }
}

fn list(world: &World, call: &Call, supplier: &str) -> Value {
    let number = |name: &str, usual: usize| {
        let given = call.query(name).and_then(|text| text.parse::<usize>().ok());
        given.unwrap_or(usual)
    };
    let (page, size) = (number("page", 0), number("size", 50).clamp(1, 100));
    let all: Vec<_> = world
        .stores_of(Platform::Trendyol)
        .filter(|store| auth::supplier_of(store) == supplier)
        .collect();
    let shown = all.iter().skip(page * size).take(size);
    json!({
        "restaurants": shown.map(|store| restaurant(world, store, supplier)).collect::<Vec<_>>(),
        "totalPages": all.len().div_ceil(size),
        "totalElements": all.len(),
    })
}

fn restaurant(world: &World, store: &Store, supplier: &str) -> Value {
    let shop = world.shop_of(&store.key());
    let hours = shop.hours.iter().map(|line| {
        json!({
            "dayOfWeek": DAYS.get(usize::from(line.day)),
            "openingTime": format!("{}:00", line.opens),
            "closingTime": format!("{}:00", line.closes),
        })
    });
    json!({
        "id": Store::numeric(&store.remote_id),
        "name": store.name,
        "supplierId": Store::numeric(supplier),
        "workingStatus": if shop.shown_open(world.now()) { "OPEN" } else { "CLOSED" },
        "averageOrderPreparationTimeInMin": 20,
        "deliveryType": "GO",
        "workingHours": hours.collect::<Vec<_>>(),
    })
}

fn store_status(world: &mut World, store: &Store, body: &Value) -> Result<(), Refusal> {
    let shop = world.shop(&store.key());
    match body["status"].as_str() {
        Some("OPEN") => shop.open(),
        Some("CLOSED") => shop.close(Closing {
            until: None,
            is_for_today: false,
            by: ClosedBy::Api,
            reason: None,
        }),
        _ => return Err(Refusal::invalid("status must be OPEN or CLOSED")),
    }
    Ok(())
}

fn working_hours(world: &mut World, store: &Store, body: &Value) -> Result<(), Refusal> {
    let given = body["workingHours"].as_array();
    let given = given.ok_or_else(|| Refusal::invalid("workingHours is required"))?;
    let line = |span: &Value| {
        let day = DAYS.iter().position(|day| span["dayOfWeek"] == *day)?;
        let time = |name: &str| {
            let text = span[name].as_str()?;
            let is_time = text.len() == 8 && text < "24:00:00";
            is_time.then(|| text.get(..5).unwrap_or_default().to_owned())
        };
        Some(HoursLine {
            day: u8::try_from(day).ok()?,
            opens: time("openingTime")?,
            closes: time("closingTime")?,
        })
    };
    let lines: Option<Vec<_>> = given.iter().map(line).collect();
    let lines = lines.ok_or_else(|| Refusal::invalid("a span of workingHours is not valid"))?;
    let shop = world.shop(&store.key());
    if !shop.ignores_changes {
        shop.hours = lines;
    }
    Ok(())
}

fn item_status(
    world: &mut World,
    call: &Call,
    store: &Store,
    body: &Value,
    is_section: bool,
) -> Result<(), Refusal> {
    let id = call.segments.get(8).map(String::as_str).unwrap_or_default();
    let is_known = if is_section {
        store
            .menu
            .categories
            .iter()
            .any(|one| one.id.number().to_string() == id)
    } else {
        store.menu.has_number(id) && !world.shop_of(&store.key()).is_removed(id)
    };
    if !is_known {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "ProductNotFound",
            "the store has no such product",
        ));
    }
    let is_off = match body["status"].as_str() {
        Some("ACTIVE") => false,
        Some("PASSIVE") => true,
        _ => return Err(Refusal::invalid("status must be ACTIVE or PASSIVE")),
    };
    world.shop(&store.key()).switch(id, is_off, None, false);
    Ok(())
}

fn prices(world: &mut World, call: &Call, supplier: &str) -> Result<Value, Refusal> {
    let body = call.json().map_err(Refusal::invalid)?;
    let items = body["items"].as_array().filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| Refusal::invalid("items is required"))?;
    if items.len() > MAX_PRICES {
        return Err(Refusal::invalid("at most 1000 items"));
    }
    let seen = (supplier.to_owned(), body.to_string());
    if !world.seen_bodies.insert(seen) {
        return Err(Refusal::invalid("the same request was sent before"));
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut batch = Vec::with_capacity(items.len());
    for item in items {
        let price = item["sellingPrice"].as_f64().filter(|price| *price > 0.0);
        let price = price.ok_or_else(|| Refusal::invalid("sellingPrice must be more than 0"))?;
        let product = text(&item["productId"]);
        let store = (!item["restaurantId"].is_null()).then(|| text(&item["restaurantId"]));
        let stores = stores(world, supplier, store.as_deref());
        let is_known = stores.iter().any(|store| store.menu.has_number(&product));
        #[allow(clippy::cast_possible_truncation)]
        let price = (price * 100.0).round() as i64;
        batch.push(BatchItem {
            failure: (!is_known).then(|| "Ürün bulunamadı".to_owned()),
            product,
            price,
            store,
        });
    }
    let id = world.ids.uuid();
    let due_at = clock::add_seconds(world.now(), world.settings.trendyol_batch_seconds);
    let batch = PriceBatch {
        supplier: supplier.to_owned(),
        due_at,
        is_applied: false,
        items: batch,
    };
    world.price_batches.insert(id.clone(), batch);
    Ok(json!({"batchRequestId": id}))
}

/// The store that a price names, or all of the seller's.
fn stores(world: &World, supplier: &str, store: Option<&str>) -> Vec<std::sync::Arc<Store>> {
    world
        .stores_of(Platform::Trendyol)
        .filter(|one| auth::supplier_of(one) == supplier)
        .filter(|one| store.is_none_or(|id| one.remote_id == id))
        .cloned()
        .collect()
}

/// Works off the batches whose time has come, and forgets old ones.
pub(super) fn settle(world: &mut World) {
    let now = world.now();
    let old = clock::add(now, SignedDuration::from_hours(-BATCH_HOURS));
    world.price_batches.retain(|_, batch| batch.due_at > old);
    let due: Vec<_> = world
        .price_batches
        .iter_mut()
        .filter(|(_, batch)| !batch.is_applied && batch.due_at <= now)
        .map(|(_, batch)| {
            batch.is_applied = true;
            batch.clone()
        })
        .collect();
    for batch in due {
        for item in batch.items.iter().filter(|item| item.failure.is_none()) {
            for store in stores(world, &batch.supplier, item.store.as_deref()) {
                if store.menu.has_number(&item.product) {
                    world.shop(&store.key()).set_price(&item.product, item.price);
                }
            }
        }
    }
}

fn batch(world: &World, call: &Call, supplier: &str) -> Result<Value, Refusal> {
    let id = call.segments.get(6).map(String::as_str).unwrap_or_default();
    let batch = world
        .price_batches
        .get(id)
        .filter(|batch| batch.supplier == supplier);
    let batch = batch
        .ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "BatchNotFound", "there is no such batch"))?;
    let item = |item: &BatchItem| {
        json!({
            "status": match (batch.is_applied, &item.failure) {
                (false, _) => "IN_PROGRESS",
                (true, None) => "SUCCESS",
                (true, Some(_)) => "FAILED",
            },
            "failureReasons": item.failure.iter().filter(|_| batch.is_applied).collect::<Vec<_>>(),
            "requestItem": {
                "productId": Store::numeric(&item.product),
                "sellingPrice": crate::money::number(item.price),
                "restaurantId": item.store.as_deref().map(Store::numeric),
            },
        })
    };
    let failed = batch.items.iter().filter(|item| item.failure.is_some()).count();
    Ok(json!({
        "batchRequestId": id,
        "status": if batch.is_applied { "COMPLETED" } else { "IN_PROGRESS" },
        "itemCount": batch.items.len(),
        "failedItemCount": if batch.is_applied { failed } else { 0 },
        "items": batch.items.iter().map(item).collect::<Vec<_>>(),
    }))
}
