//! What a restaurant may do with a Trendyol package, and when.

use serde_json::{Map, Value};

use super::{
    auth,
    errors::Refusal,
    packages,
    states::{CREATED, DELIVERED, INVOICED, PICKING, SHIPPED, UNSUPPLIED},
    webhooks,
};
use crate::{
    call::Call,
    order::{Cancellation, Order},
    store::Store,
    views::Courier,
    world::World,
};

/// The restaurant's reasons, and whether only one that delivers itself can have them.
const REASONS: &[(u64, bool, &str)] = &[
    (621, false, "Tedarik problemi"),
    (622, false, "Mağaza kapalı"),
    (623, false, "Mağaza siparişi hazırlayamıyor"),
    (624, true, "Yüksek yoğunluk / Kurye yok"),
    (626, true, "Alan dışı"),
    (627, false, "Sipariş karışıklığı"),
];

pub(super) fn make(
    world: &mut World,
    call: &Call,
    operation: &str,
    supplier: &str,
    id: &str,
) -> Result<(), Refusal> {
    let Value::Object(body) = call.json().map_err(Refusal::invalid)? else {
        return Err(Refusal::invalid("the body must be an object"));
    };
    check_body(operation, &body, world.now().as_millisecond())?;
    let (order, store) = auth::package(world, supplier, id)?;
    let number = order.number;
    if operation == "unsupplied" {
        return unsupply(world, &store, number, &body);
    }
    let carried = match order.courier {
        Courier::Platform => "the platform's courier",
        Courier::Restaurant => "the restaurant",
        Courier::Pickup => "the customer",
    };
    let (from, to): (&[&str], _) = match (operation, order.courier) {
        ("picked", _) => (&[CREATED], PICKING),
        ("invoiced", _) => (&[PICKING], INVOICED),
        ("manual-shipped", Courier::Restaurant) => (&[INVOICED], SHIPPED),
        ("manual-delivered", Courier::Restaurant) => (&[SHIPPED], DELIVERED),
        ("manual-delivered", Courier::Pickup) => (&[INVOICED], DELIVERED),
        _ => return Err(Refusal::invalid(format!("{carried} carries this package"))),
    };
    if !from.contains(&order.state.as_str()) {
        return Err(Refusal::conflict(format!("the package is {}", order.state)));
    }
    world.enter(number, to, "api");
    if to == PICKING && store.quirks.uber {
        world.enter(number, INVOICED, "platform");
    }
    if [SHIPPED, DELIVERED].contains(&to) {
        webhooks::announce(world, &store, number);
    }
    Ok(())
}

/// Every field that is there must be known, and every one that is needed be there.
fn check_body(operation: &str, body: &Map<String, Value>, now: i64) -> Result<(), Refusal> {
    let (needed, allowed): (&[&str], &[&str]) = match operation {
        "picked" => (&["packageId", "preparationTime"], &[]),
        "invoiced" => (&["packageId"], &["actualDate"]),
        "unsupplied" => (&["packageId", "itemIdList", "reasonId"], &[]),
        _ => (&[], &["actualDate"]),
    };
    if let Some(missing) = needed.iter().find(|name| !body.contains_key(**name)) {
        return Err(Refusal::invalid(format!("{missing} is missing")));
    }
    for (name, value) in body {
        let fits = match name.as_str() {
            "packageId" => value.is_string(),
            "preparationTime" => value.as_u64().is_some_and(|minutes| (1..=240).contains(&minutes)),
            "actualDate" => value.as_i64().is_some_and(|date| date <= now),
            "itemIdList" => value.as_array().is_some_and(|items| !items.is_empty()),
            "reasonId" => value.is_u64(),
            _ => false,
        };
        if !fits || !(needed.contains(&name.as_str()) || allowed.contains(&name.as_str())) {
            return Err(Refusal::invalid(format!("{name} is wrong or not known here")));
        }
    }
    Ok(())
}

fn unsupply(world: &mut World, store: &Store, number: u64, body: &Map<String, Value>) -> Result<(), Refusal> {
    let Some(order) = world.orders.get_mut(number) else {
        return Err(Refusal::not_found());
    };
    let reason = body.get("reasonId").and_then(Value::as_u64).unwrap_or_default();
    let reason = REASONS
        .iter()
        .find(|(id, own, _)| *id == reason && (!own || order.courier == Courier::Restaurant));
    let Some((code, _, reason)) = reason else {
        return Err(Refusal::invalid("reasonId is none that this package can have"));
    };
    let on_own_way = order.courier == Courier::Restaurant && order.state == SHIPPED;
    if !on_own_way && ![CREATED, PICKING, INVOICED].contains(&order.state.as_str()) {
        return Err(Refusal::conflict(format!("the package is {}", order.state)));
    }
    let items = body
        .get("itemIdList")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let items: Option<Vec<&str>> = items.map(Value::as_str).collect();
    let places = items.and_then(|items| {
        items
            .iter()
            .map(|id| place_of(order, id))
            .collect::<Option<Vec<_>>>()
    });
    let places = places.ok_or_else(|| Refusal::invalid("itemIdList names an item that is not there"))?;
    for (line, piece) in places {
        if let Some(line) = order.basket.lines.get_mut(line)
            && !line.cancelled.contains(&piece)
        {
            line.cancelled.push(piece);
        }
    }
    let is_all = order.basket.lines.iter().all(|line| line.left() == 0);
    if !is_all {
        let now = world.now();
        if let Some(order) = world.orders.get_mut(number) {
            // A part is gone, the rest is still wanted: a change without a new state.
            let state = order.state.clone();
            order.basket.discount = order.basket.discount.min(order.basket.subtotal());
            order.enter(&state, "api", now);
        }
        return Ok(());
    }
    order.cancellation = Some(Cancellation {
        by: "restaurant".to_owned(),
        reason_id: code.to_string(),
        reason: (*reason).to_owned(),
        note: String::new(),
    });
    order.basket.discount = 0;
    order.basket.delivery_fee = 0;
    world.enter(number, UNSUPPLIED, "api");
    webhooks::announce(world, store, number);
    Ok(())
}

/// Which piece of which line an item id means, if it was not taken out before.
fn place_of(order: &Order, id: &str) -> Option<(usize, usize)> {
    let mut places = order.basket.lines.iter().enumerate().flat_map(|(index, line)| {
        let left = (0..line.quantity).filter(|piece| !line.cancelled.contains(piece));
        left.map(move |piece| (index, piece, packages::item_id(line, piece)))
    });
    places
        .find(|(_, _, item)| item == id)
        .map(|(line, piece, _)| (line, piece))
}
