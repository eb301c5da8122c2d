//! Migros's calls about the store, its hours, items and prices.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    envelope::{Answer, Refusal},
    menu::{group_id, item_id, menu_id, warehouse_id},
};
use crate::{
    clock,
    shop::{Closing, next_opening},
    store::Store,
    views::{ClosedBy, HoursLine},
    world::World,
};

pub(super) const OPERATIONS: &[&str] = &[
    "view-status",
    "add-off-date",
    "remove-off-date",
    "activate",
    "deactivate",
    "time-slots",
    "upsert-time-slots",
    "product-status",
    "option-on",
    "option-off",
    "batch-price",
];

const DAYS: [&str; 7] = [
    "PAZARTESİ",
    "SALI",
    "ÇARŞAMBA",
    "PERŞEMBE",
    "CUMA",
    "CUMARTESİ",
    "PAZAR",
];

pub(super) fn answer(world: &mut World, operation: &str, store: &Store, body: &Value) -> Answer {
    if body["storeId"] != Store::numeric(&store.remote_id) {
        return Err(Refusal::invalid("storeId is not the store of this key"));
    }
    match operation {
        "view-status" => Ok(view_status(world, store)),
        "add-off-date" => add_off_date(world, store, body),
        "remove-off-date" => {
            in_group(store, body)?;
            world.shop(&store.key()).open();
            Ok(Value::Null)
        }
        "activate" | "deactivate" => {
            if body["warehouseId"] != warehouse_id(store) {
                return Err(Refusal::invalid("warehouseId is not that of this store"));
            }
            let shop = world.shop(&store.key());
            if !shop.ignores_changes {
                shop.is_deactivated = operation == "deactivate";
            }
            Ok(Value::Null)
        }
        "time-slots" => Ok(time_slots(world, store)),
        "upsert-time-slots" => upsert_time_slots(world, store, body),
        "batch-price" => batch_price(world, store, body),
        _ => switch(world, operation, store, body),
    }
}

fn in_group(store: &Store, body: &Value) -> Result<(), Refusal> {
    if body["storeGroupId"] == group_id(store) {
        Ok(())
    } else {
        Err(Refusal::invalid("storeGroupId is not that of this store"))
    }
}

fn view_status(world: &World, store: &Store) -> Value {
    let (shop, now) = (world.shop_of(&store.key()), world.now());
    let is_open = shop.shown_open(now);
    let until = shop.closing(now).and_then(|closing| closing.until);
    let opening = until.unwrap_or_else(|| next_opening(now)).as_second();
    json!({
        "status": if is_open { "OPEN" } else { "CLOSED" },
        "openingTime": (!is_open && !shop.is_deactivated).then_some(opening),
    })
}

fn add_off_date(world: &mut World, store: &Store, body: &Value) -> Answer {
    in_group(store, body)?;
    let now = world.now();
    let until = match body["storeOffDateOption"].as_str() {
        Some("ONE_HOUR") => clock::add_seconds(now, 3_600),
        Some("FOUR_HOUR") => clock::add_seconds(now, 4 * 3_600),
        Some(word) if word == world.settings.migros_next_shift_option => next_opening(now),
        _ => return Err(Refusal::invalid("storeOffDateOption is not known")),
    };
    world.shop(&store.key()).close(Closing {
        until: Some(until),
        is_for_today: false,
        by: ClosedBy::Api,
        reason: None,
    });
    Ok(Value::Null)
}

fn time_slots(world: &World, store: &Store) -> Value {
    let shop = world.shop_of(&store.key());
    let slot = |(day, name): (usize, &&str)| {
        let line = shop.hours.iter().find(|line| usize::from(line.day) == day);
        json!({
            "storeId": Store::numeric(&store.remote_id),
            "startDay": name,
            "startHour": line.map_or("00:00", |line| &line.opens),
            "endHour": line.map_or("23:59", |line| &line.closes),
            "active": line.is_some(),
        })
    };
    DAYS.iter().enumerate().map(slot).collect()
}

fn upsert_time_slots(world: &mut World, store: &Store, body: &Value) -> Answer {
    let slots = body["timeSlotIds"].as_array().filter(|slots| !slots.is_empty());
    let slots = slots.ok_or_else(|| Refusal::invalid("timeSlotIds is required"))?;
    let mut lines = world.shop_of(&store.key()).hours;
    for slot in slots {
        let day = DAYS.iter().position(|day| slot["startDay"] == **day);
        let day = day.ok_or_else(|| Refusal::invalid("startDay is not known"))?;
        let time = |name: &str| {
            let text = slot[name]
                .as_str()
                .filter(|text| text.len() == 5 && *text < "24:00");
            text.map(str::to_owned)
                .ok_or_else(|| Refusal::invalid(format!("{name} must be HH:MM")))
        };
        lines.retain(|line| usize::from(line.day) != day);
        let (opens, closes) = (time("startHour")?, time("endHour")?);
        if slot["active"].as_bool() == Some(true) {
            lines.push(HoursLine {
                day: u8::try_from(day).unwrap_or_default(),
                opens,
                closes,
            });
        }
    }
    lines.sort_by_key(|line| line.day);
    let shop = world.shop(&store.key());
    if !shop.ignores_changes {
        shop.hours = lines;
    }
    Ok(Value::Null)
}

fn switch(world: &mut World, operation: &str, store: &Store, body: &Value) -> Answer {
    let (name, is_off) = match (operation, body["status"].as_str()) {
        ("option-on", _) => ("optionItemId", false),
        ("option-off", _) => ("optionItemId", true),
        (_, Some("ACTIVE")) => ("productId", false),
        (_, Some("PASSIVE")) => ("productId", true),
        _ => return Err(Refusal::invalid("status must be ACTIVE or PASSIVE")),
    };
    let id = body[name].as_u64().map(|id| id.to_string()).unwrap_or_default();
    let is_known = store.menu.has_number(&id) && !world.shop_of(&store.key()).is_removed(&id);
    if !is_known {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            "ProductNotFound",
            "Ürün bulunamadı",
        ));
    }
    world.shop(&store.key()).switch(&id, is_off, None, false);
    Ok(Value::Null)
}

/// Decimal lira, unlike the kuruş of the menu.
fn batch_price(world: &mut World, store: &Store, body: &Value) -> Answer {
    in_group(store, body)?;
    if body["menuId"] != menu_id(store) {
        return Err(Refusal::invalid("menuId is not that of this store"));
    }
    let prices = body["prices"].as_array().filter(|prices| !prices.is_empty());
    let prices = prices.ok_or_else(|| Refusal::invalid("prices is required"))?;
    let mut changed = Vec::new();
    for price in prices {
        let found = store.menu.products().find(|product| {
            price["productId"] == product.id.number() && price["menuItemId"] == item_id(product)
        });
        let found =
            found.ok_or_else(|| Refusal::invalid("menuItemId and productId do not belong together"))?;
        let amount = |name: &str| {
            let amount = price[name].as_f64().filter(|amount| *amount > 0.0);
            amount.ok_or_else(|| Refusal::invalid(format!("{name} must be more than 0")))
        };
        let (full, discounted) = (
            amount("defaultPrimaryPrice")?,
            amount("defaultPrimaryDiscountedPrice")?,
        );
        if discounted > full {
            return Err(Refusal::invalid("the discounted price is the higher one"));
        }
        #[allow(clippy::cast_possible_truncation)]
        changed.push((found.id.number().to_string(), (full * 100.0).round() as i64));
    }
    for (id, price) in changed {
        world.shop(&store.key()).set_price(&id, price);
    }
    Ok(Value::Null)
}
