//! Migros's order in JSON, lists of them, and the short messages about them.

use serde_json::{Value, json};

use super::{
    envelope::{Answer, Refusal},
    states::{CANCELLED, REJECTED},
};
use crate::{
    call::Call,
    generate::{
        basket::{Chosen, Line, Payment},
        people::Address,
    },
    money,
    order::Order,
    platform::Platform,
    random::hash,
    store::Store,
    views::{Courier, Paid},
    world::World,
};

/// The store's order that a body names by `orderId` and `storeId`.
pub(super) fn find<'world>(
    world: &'world World,
    store: &Store,
    body: &Value,
) -> Result<&'world Order, Refusal> {
    if body["storeId"] != Store::numeric(&store.remote_id) {
        return Err(Refusal::invalid("storeId is not the store of this key"));
    }
    let id = body["orderId"]
        .as_u64()
        .ok_or_else(|| Refusal::invalid("orderId must be a number"))?;
    let order = world.orders.find(Platform::Migros, &id.to_string());
    order
        .filter(|order| order.remote_id == store.remote_id)
        .ok_or_else(Refusal::not_found)
}

pub(super) fn detail(world: &World, call: &Call, store: &Store) -> Answer {
    let number = |name: &str| call.query(name).map_or(Value::Null, Store::numeric);
    let body = json!({"orderId": number("orderId"), "storeId": number("storeId")});
    Ok(render(find(world, store, &body)?, store))
}

pub(super) fn list(world: &World, store: &Store, body: &Value, wanted: &dyn Fn(&Order) -> bool) -> Answer {
    let number = |name: &str| {
        let number = body[name]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| Refusal::invalid(format!("{name} must be a number")))
    };
    let (limit, offset) = (number("limit")?, number("offset")?);
    let stores = body["storeIds"]
        .as_array()
        .ok_or_else(|| Refusal::invalid("storeIds must be a list"))?;
    if stores.iter().any(|id| *id != Store::numeric(&store.remote_id)) {
        return Err(Refusal::invalid("storeIds names a store that is not of this key"));
    }
    if stores.is_empty() {
        return Ok(json!([]));
    }
    let key = store.key();
    let orders = world.orders.of_store(&key).filter(|order| wanted(order));
    Ok(orders
        .skip(offset)
        .take(limit)
        .map(|order| render(order, store))
        .collect())
}

pub(super) fn customer_id(order: &Order) -> u64 {
    hash(&order.basket.customer.full_name()) % 100_000_000
}

pub(super) fn cancelled(order: &Order) -> Value {
    json!({
        "OrderId": Store::numeric(&order.id),
        "StoreId": Store::numeric(&order.remote_id),
        "UserId": customer_id(order),
    })
}

pub(super) fn delivery_status(order: &Order, status: &str) -> Value {
    let is_cancelled = [CANCELLED, REJECTED].contains(&order.state.as_str());
    json!({
        "orderId": Store::numeric(&order.id),
        "storeId": Store::numeric(&order.remote_id),
        "status": order.state,
        "deliveryStatus": status,
        "isCancelled": is_cancelled,
        "deliveryProvider": provider(order),
        "courierName": order.courier_name,
    })
}

fn provider(order: &Order) -> &'static str {
    if order.courier == Courier::Platform {
        "MIGROS"
    } else {
        "RESTAURANT"
    }
}

pub(super) fn render(order: &Order, store: &Store) -> Value {
    let basket = &order.basket;
    let sum = |kurus: i64| json!({"amountAsPenny": kurus, "text": money::turkish(kurus)});
    json!({
        "id": Store::numeric(&order.id),
        "description": basket.note,
        "status": order.state,
        "deliveryProvider": provider(order),
        "store": {
            "id": Store::numeric(&store.remote_id),
            "name": store.name,
            "group": {"id": super::menu::group_id(store), "name": store.menu.restaurant},
        },
        "customer": customer(order),
        "prices": {
            "total": sum(basket.subtotal() + basket.delivery_fee),
            "discounted": sum(basket.total()),
            "restaurantDiscounted": sum(basket.discount),
            "migrosDiscounted": sum(0),
        },
        "items": basket.open_lines().map(item).collect::<Vec<_>>(),
        "payment": {"type": payment(basket.payment)},
        "extendedProperties": {
            "orderNote": basket.note,
            "saveGreen": basket.no_cutlery,
            "contactlessDelivery": basket.leave_at_door,
            "ringDoorBell": !basket.do_not_ring,
            "shortCode": order.short_code,
        },
        "log": {"createdAsMs": order.placed_at.as_millisecond()},
    })
}

fn customer(order: &Order) -> Value {
    let (customer, address) = (&order.basket.customer, &order.basket.address);
    let named = |name: &str| json!({"id": hash(name) % 10_000, "name": name});
    json!({
        "id": customer_id(order),
        "firstName": customer.first_name,
        "lastName": customer.last_name,
        "fullName": customer.full_name(),
        "phoneNumber": format!("0850 455 0 {}", customer.phone_extension),
        "deliveryAddress": {
            "id": hash(&address.line()) % 100_000_000,
            "direction": address.directions,
            "detail": format!("{} Kat: {} Daire: {}", address.line(), address.floor, address.door),
            "city": {"id": address.city_code, "name": address.city},
            "town": named(address.district),
            "district": named(address.neighbourhood),
            "geoLocation": {
                "latitude": Address::degrees_number(address.latitude),
                "longitude": Address::degrees_number(address.longitude),
            },
        },
    })
}

fn item(line: &Line) -> Value {
    json!({
        "id": line.id % 10_000_000_000,
        "productId": line.product.number(),
        "name": line.name,
        "price": line.price,
        "priceText": money::turkish(line.price),
        "amount": line.left(),
        "note": line.note,
        "options": options(&line.options, 0),
    })
}

fn options(options: &[Chosen], parent: u64) -> Vec<Value> {
    let option = |(priority, option): (usize, &Chosen)| {
        let id = option.id.number();
        json!({
            "optionHeaderId": option.group.number(),
            "optionItemId": id,
            "objectOptionItemId": id + 1,
            "parentObjectOptionItemId": parent,
            "productId": id,
            "headerName": option.group_name,
            "itemNames": option.name,
            "primaryPrice": option.price,
            "primaryPriceText": money::turkish(option.price),
            "primaryDiscountedPrice": option.price,
            "primaryDiscountedPriceText": money::turkish(option.price),
            "quantity": 1,
            "excluded": option.removed,
            "optionType": if option.removed { "INGREDIENT" } else { "PRODUCT" },
            "objectOptionHeaderPriority": 1,
            "objectOptionItemPriority": priority + 1,
            "subOptions": self::options(&option.options, id + 1),
        })
    };
    options.iter().enumerate().map(option).collect()
}

fn payment(payment: Payment) -> Value {
    let (name, description) = match (payment.kind, payment.is_online) {
        (Paid::Cash, _) => ("CASH_ON_DELIVERY", "Kapıda Nakit"),
        (Paid::Card, _) => ("CREDIT_CARD_ON_DELIVERY", "Kapıda Kredi Kartı"),
        (Paid::Online, _) => ("ONLINE_PAYMENT", "Online Ödeme"),
        (Paid::MealCard, true) => ("MEAL_CARD", "Yemek Kartı"),
        (Paid::MealCard, false) => ("MEAL_CARD_ON_DELIVERY", "Kapıda Yemek Kartı"),
    };
    let id = hash(name) % 1_000_000;
    json!({
        "hashedNameId": id,
        "name": name,
        "description": description,
        "isOnlinePayment": payment.is_online,
        "simplifiedName": name,
        "simplifiedHashedNameId": id,
    })
}
