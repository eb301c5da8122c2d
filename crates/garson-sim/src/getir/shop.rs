//! Getir's calls that open and close the restaurant, and those about its hours, items and prices.

use serde_json::{Value, json};

use super::{
    errors::{Answer, Refusal},
    orders::hex,
};
use crate::{
    call::{Call, Route},
    clock,
    generate::menu::{OptionGroup, Product},
    shop::{Closing, end_of_day},
    store::Store,
    views::{ClosedBy, HoursLine},
    world::World,
};

pub(super) const OPERATIONS: &[&str] = &[
    "restaurant",
    "open",
    "close",
    "busyness",
    "working-hours",
    "set-working-hours",
    "item-status",
    "set-item-status",
    "set-option-status",
    "update-prices",
];

const ACTIVE: u64 = 100;
const INACTIVE: u64 = 200;
const INACTIVE_TODAY: u64 = 400;
const MINUTES: [u64; 3] = [15, 30, 45];

/// The body of a call about the restaurant or its items.
pub(super) fn journal_body(call: &Call, route: &Route) -> Option<String> {
    let is_wanted = OPERATIONS.contains(&route.operation) && !call.body.is_empty();
    is_wanted.then(|| String::from_utf8_lossy(&call.body).into_owned())
}

pub(super) fn answer(world: &mut World, call: &Call, operation: &str, store: &Store) -> Answer {
    match operation {
        "restaurant" => Ok(restaurant(world, store)),
        "open" => open(world, store),
        "close" => close(world, call, store),
        "busyness" => busyness(world, call, store),
        "working-hours" => Ok(hours(world, store)),
        "set-working-hours" => set_hours(world, call, store),
        "update-prices" => update_prices(world, call, store),
        _ => item(world, call, operation, store),
    }
}

fn done() -> Answer {
    Ok(json!({"result": true}))
}

fn body(call: &Call) -> Result<Value, Refusal> {
    call.json().map_err(Refusal::invalid)
}

/// Which number stands for what is not published; these are the simulator's.
fn restaurant(world: &World, store: &Store) -> Value {
    let (shop, now) = (world.shop_of(&store.key()), world.now());
    let by = shop.closing(now).map(|closing| closing.by);
    json!({
        "id": store.remote_id,
        "averagePreparationTime": 20,
        "status": if shop.shown_open(now) { ACTIVE } else { INACTIVE },
        "isCourierAvailable": true,
        "name": store.name,
        "isStatusChangedByUser": matches!(by, Some(ClosedBy::Api | ClosedBy::Restaurant)),
        "closedSource": match by {
            None => 0,
            Some(ClosedBy::Api | ClosedBy::Restaurant) => 1,
            Some(ClosedBy::UnansweredOrder) => 2,
            Some(ClosedBy::Platform) => 3,
        },
        "rating": 4.6,
    })
}

fn open(world: &mut World, store: &Store) -> Answer {
    let shop = world.shop(&store.key());
    if !shop.is_in_hours {
        // A success that carries an error, as integrators have seen it.
        return Ok(
            json!({"error": "RestaurantIsNotInWorkingHours", "message": "Restoran çalışma saatleri dışında açılamaz"}),
        );
    }
    shop.open();
    done()
}

fn close(world: &mut World, call: &Call, store: &Store) -> Answer {
    let minutes = if call.body.is_empty() {
        None
    } else {
        match &body(call)?["timeOffAmount"] {
            Value::Null => None,
            given => Some(
                given
                    .as_u64()
                    .filter(|minutes| MINUTES.contains(minutes))
                    .ok_or_else(|| Refusal::invalid("timeOffAmount must be 15, 30 or 45"))?,
            ),
        }
    };
    let until = minutes.map(|minutes| clock::add_seconds(world.now(), minutes * 60));
    world.shop(&store.key()).close(Closing {
        until,
        is_for_today: false,
        by: ClosedBy::Api,
        reason: None,
    });
    done()
}

fn busyness(world: &mut World, call: &Call, store: &Store) -> Answer {
    let body = body(call)?;
    let is_busy = body["isBusy"]
        .as_bool()
        .ok_or_else(|| Refusal::invalid("isBusy must be a boolean"))?;
    let minutes = match &body["busynessDifferenceDuration"] {
        Value::Null => 15,
        given => given
            .as_u64()
            .filter(|minutes| MINUTES.contains(minutes))
            .ok_or_else(|| Refusal::invalid("busynessDifferenceDuration must be 15, 30 or 45"))?,
    };
    let shop = world.shop(&store.key());
    if !shop.ignores_changes {
        shop.busy_minutes = is_busy.then_some(minutes);
    }
    done()
}

/// Sunday is 0 here.
fn hours(world: &World, store: &Store) -> Value {
    let shop = world.shop_of(&store.key());
    let day = |number: u8| {
        let line = shop.hours.iter().find(|line| (line.day + 1) % 7 == number);
        match line {
            Some(line) => json!({
                "day": number,
                "workingHours": {"startTime": line.opens, "endTime": line.closes},
                "closed": false,
            }),
            None => json!({"day": number, "closed": true}),
        }
    };
    let days: Vec<_> = (0..7).map(day).collect();
    json!({"restaurantWorkingHours": days, "restaurantCourierHours": days})
}

fn set_hours(world: &mut World, call: &Call, store: &Store) -> Answer {
    let body = body(call)?;
    let days = body["restaurantWorkingHours"]
        .as_array()
        .filter(|days| days.len() == 7);
    let days = days.ok_or_else(|| Refusal::invalid("restaurantWorkingHours must have 7 days"))?;
    let mut lines = Vec::new();
    for number in 0..7u8 {
        let day = days
            .iter()
            .find(|day| day["day"] == number)
            .ok_or_else(|| Refusal::invalid(format!("day {number} is missing")))?;
        if day["closed"].as_bool() == Some(true) {
            continue;
        }
        let time = |name: &str| {
            let text = day["workingHours"][name].as_str().filter(|text| is_time(text));
            text.map(str::to_owned)
                .ok_or_else(|| Refusal::invalid(format!("{name} of day {number} must be HH:MM before 24:00")))
        };
        lines.push(HoursLine {
            day: (number + 6) % 7,
            opens: time("startTime")?,
            closes: time("endTime")?,
        });
    }
    let shop = world.shop(&store.key());
    if !shop.ignores_changes {
        shop.hours = lines;
    }
    done()
}

fn is_time(text: &str) -> bool {
    let parts = text.split_once(':');
    parts.is_some_and(|(hours, minutes)| {
        minutes.len() == 2
            && hours.parse::<u8>().is_ok_and(|hours| hours < 24)
            && minutes.parse::<u8>().is_ok_and(|minutes| minutes < 60)
    })
}

/// The option of a group of a product.
fn option_of<'a>(product: &'a Product, group: &str, option: &str) -> Option<&'a OptionGroup> {
    let mut groups = product.groups.iter();
    groups.find(|one| one.id.hex() == group && one.options.iter().any(|one| one.id.hex() == option))
}

fn item(world: &mut World, call: &Call, operation: &str, store: &Store) -> Answer {
    let part = |index: usize| call.segments.get(index).map(String::as_str).unwrap_or_default();
    let missing = || Refusal::rule(40, "ProductNotFound", "the restaurant has no such product");
    let product = store.menu.products().find(|product| product.id.hex() == part(1));
    let product = product
        .filter(|product| !world.shop_of(&store.key()).is_removed(&product.id.hex()))
        .ok_or_else(missing)?;
    let is_option = operation == "set-option-status";
    let id = if is_option {
        option_of(product, part(3), part(5)).ok_or_else(missing)?;
        part(5).to_owned()
    } else {
        product.id.hex()
    };
    let now = world.now();
    if operation == "item-status" {
        let shop = world.shop_of(&store.key());
        let status = match (shop.is_off(&id, now), shop.is_off_for_today(&id, now)) {
            (false, _) => ACTIVE,
            (true, true) => INACTIVE_TODAY,
            (true, false) => INACTIVE,
        };
        return Ok(json!({"id": id, "status": status}));
    }
    let status = body(call)?["status"].as_u64();
    let shop = world.shop(&store.key());
    match status {
        Some(ACTIVE) => shop.switch(&id, false, None, false),
        Some(INACTIVE) => shop.switch(&id, true, None, false),
        Some(INACTIVE_TODAY) if !is_option => shop.switch(&id, true, Some(end_of_day(now)), true),
        _ => return Err(Refusal::invalid("status must be 100, 200 or 400")),
    }
    done()
}

/// Prices of the chain: they change in every restaurant that has these products.
fn update_prices(world: &mut World, call: &Call, store: &Store) -> Answer {
    let body = body(call)?;
    let mut changed = Vec::new();
    for (list, name, is_option) in [
        ("chainProducts", "chainProductOID", false),
        ("chainOptions", "chainOptionOID", true),
    ] {
        for line in body[list].as_array().into_iter().flatten() {
            let id = line[name].as_str().unwrap_or_default();
            let price = line["price"].as_f64().filter(|price| *price >= 0.0);
            let price = price.ok_or_else(|| Refusal::invalid(format!("price of {id} must be 0 or more")))?;
            let found = ids_of_chain(store, id, is_option);
            if found.is_empty() {
                return Err(Refusal::rule(
                    80,
                    "ChainProductNotFound",
                    format!("no chain product {id}"),
                ));
            }
            #[allow(clippy::cast_possible_truncation)]
            let price = (price * 100.0).round() as i64;
            changed.extend(found.into_iter().map(|id| (id, price)));
        }
    }
    let shop = world.shop(&store.key());
    for (id, price) in changed {
        shop.set_price(&id, price);
    }
    done()
}

fn ids_of_chain(store: &Store, chain_id: &str, is_option: bool) -> Vec<String> {
    let products = store.menu.products();
    if is_option {
        let options = products.flat_map(|product| product.groups.iter().flat_map(|group| &group.options));
        let found = options.filter(|option| hex(option.name) == chain_id);
        found.map(|option| option.id.hex()).collect()
    } else {
        let found = products.filter(|product| hex(product.name) == chain_id);
        found.map(|product| product.id.hex()).collect()
    }
}
