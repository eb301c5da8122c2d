//! Trendyol's package in JSON, and lists of them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{auth, errors::Refusal};
use crate::{
    call::Call,
    generate::{
        basket::{Chosen, Line, MealCard, Payment},
        people::Address,
    },
    money,
    order::Order,
    platform::Platform,
    random::{Random, hash},
    store::Store,
    views::{Courier, Paid, Step},
    world::World,
};

const MOST: usize = 50;
const HIDDEN: &str = "Trendyol Go Yemek";

pub(super) fn list(world: &World, call: &Call, supplier: &str) -> Result<Value, Refusal> {
    let number = |name: &str, missing: i64| {
        let given = call.query(name).map_or(Ok(missing), str::parse::<i64>);
        given
            .ok()
            .filter(|value| *value >= 0)
            .ok_or_else(|| Refusal::invalid(format!("{name} must be a number")))
    };
    let (page, size) = (number("page", 0)?, number("size", 50)?);
    let (page, size) = (
        usize::try_from(page).unwrap_or(usize::MAX),
        usize::try_from(size).unwrap_or(usize::MAX),
    );
    if !(1..=MOST).contains(&size) {
        return Err(Refusal::invalid(format!("size must be 1 to {MOST}")));
    }
    let from = number("packageModificationStartDate", 0)?;
    let until = number("packageModificationEndDate", i64::MAX)?;
    let statuses: Option<Vec<_>> = call
        .query("packageStatuses")
        .map(|text| text.split(',').map(str::trim).collect());
    let stores: Vec<_> = match call.query("storeId") {
        Some(id) => vec![auth::store(world, supplier, id).ok_or_else(Refusal::unauthorized)?],
        None => {
            let stores = world.stores_of(Platform::Trendyol);
            stores
                .filter(|store| auth::supplier_of(store) == supplier)
                .cloned()
                .collect()
        }
    };
    let mut found = Vec::new();
    for store in &stores {
        let key = store.key();
        let wanted = world.orders.of_store(&key).filter(|order| {
            (from..=until).contains(&order.changed_at.as_millisecond())
                && statuses
                    .as_ref()
                    .is_none_or(|statuses| statuses.contains(&order.state.as_str()))
        });
        found.extend(wanted.map(|order| (order, store)));
    }
    found.sort_by_key(|(order, _)| (order.changed_at, order.number));
    let total = found.len();
    let content = found.into_iter().skip(page.saturating_mul(size)).take(size);
    let content: Vec<_> = content.map(|(order, store)| render(order, store)).collect();
    let pages = total.div_ceil(size);
    Ok(json!({"page": page, "size": size, "totalPages": pages, "totalCount": total, "content": content}))
}

pub(super) fn render(order: &Order, store: &Store) -> Value {
    let basket = &order.basket;
    let by_platform = order.courier == Courier::Platform;
    let order_number = hash(&order.id) % 10_000_000_000;
    let modified = order.changed_at.as_millisecond();
    let promotions = match basket.discount {
        0 => json!([]),
        amount => json!([{
            "promotionId": 411,
            "description": "%10 restoran indirimi",
            "totalSellerAmount": money::number(if store.quirks.uber { 0 } else { amount }),
        }]),
    };
    json!({
        "id": order.id,
        "supplierId": Store::numeric(auth::supplier_of(store)),
        "storeId": Store::numeric(&order.remote_id),
        "orderId": order_number.to_string(),
        "orderNumber": order_number.to_string(),
        "orderCode": order.short_code,
        "packageStatus": order.state,
        "packageCreationDate": order.placed_at.as_millisecond(),
        "packageModificationDate": modified,
        "lastModifiedDate": modified,
        "preparationTime": 20,
        "totalPrice": money::number(basket.total()),
        "totalDeliveryPrice": money::number(basket.delivery_fee),
        "deliveryType": if by_platform { "GO" } else { "STORE" },
        "storePickupSelected": order.courier == Courier::Pickup,
        "pickupEtaState": if order.courier_step.is_some() { "SUCCESS" } else { "" },
        "estimatedPickupTimeMin": courier_comes_at(order, 900_000),
        "estimatedPickupTimeMax": courier_comes_at(order, 1_500_000),
        "eta": "25-35 dk",
        "isCourierNearby": matches!(order.courier_step, Some(Step::Arrived)),
        "callCenterPhone": "08502220290",
        "customerNote": basket.note,
        "testPackage": false,
        "cancelInfo": cancel_info(order),
        "userInformation": {"appName": if store.quirks.uber { "UberEats" } else { "TrendyolGo" }},
        "promotions": promotions,
        "coupon": null,
        "customer": {
            "id": hash(&basket.customer.full_name()) % 100_000_000,
            "firstName": basket.customer.first_name,
            "lastName": basket.customer.last_name,
        },
        "address": address(order, store),
        "payment": payment(basket.payment),
        "lines": lines(order),
    })
}

/// When the courier comes, in milliseconds after the order; 0 until one is assigned.
fn courier_comes_at(order: &Order, after: i64) -> i64 {
    match order.courier_step {
        Some(_) => order.placed_at.as_millisecond() + after,
        None => 0,
    }
}

/// What the webhooks after the first one carry.
pub(super) fn short(order: &Order, now: Timestamp) -> Value {
    let order_number = hash(&order.id) % 10_000_000_000;
    let mut body = json!({
        "id": order.id,
        "orderNumber": order_number.to_string(),
        "orderCode": order.short_code,
        "timestamp": now.as_millisecond(),
    });
    if order.cancellation.is_some() {
        body["status"] = json!(order.state);
        body["lines"] = json!(lines(order));
        body["cancelInfo"] = cancel_info(order);
    }
    body
}

/// What the webhook of a partial cancellation carries.
pub(super) fn partly_cancelled(order: &Order, now: Timestamp) -> Value {
    let mut body = short(order, now);
    body["status"] = json!(order.state);
    body["lines"] = json!(lines(order));
    body["cancelInfo"] = json!({"reasonCode": 621, "reason": "Tedarik problemi"});
    body
}

pub(super) fn item_id(line: &Line, piece: usize) -> String {
    Random::new(line.id.wrapping_add(piece as u64)).uuid()
}

fn lines(order: &Order) -> Vec<Value> {
    let is_over = order.cancellation.is_some();
    let line = |line: &Line| {
        let items = (0..line.quantity).map(|piece| {
            json!({
                "packageItemId": item_id(line, piece),
                "lineItemId": hash(&item_id(line, piece)) % 10_000_000_000,
                "isCancelled": is_over || line.cancelled.contains(&piece),
                "promotions": [],
                "coupon": null,
            })
        });
        json!({
            "productId": line.product.number(),
            "name": line.name,
            "price": money::number(line.unit_price()),
            "unitSellingPrice": money::number(line.unit_price()),
            "items": items.collect::<Vec<_>>(),
            "modifierProducts": modifiers(&line.options),
            "extraIngredients": [],
            "removedIngredients": removed(&line.options),
        })
    };
    order.basket.lines.iter().map(line).collect()
}

fn modifiers(options: &[Chosen]) -> Vec<Value> {
    let chosen = options.iter().filter(|option| !option.removed);
    let modifier = |option: &Chosen| {
        json!({
            "productId": option.id.number(),
            "modifierGroupId": option.group.number(),
            "name": option.name,
            "price": money::number(option.price),
            "modifierProducts": modifiers(&option.options),
            "extraIngredients": [],
            "removedIngredients": removed(&option.options),
        })
    };
    chosen.map(modifier).collect()
}

fn removed(options: &[Chosen]) -> Vec<Value> {
    let removed = options.iter().filter(|option| option.removed);
    removed
        .map(|option| json!({"id": option.id.number(), "name": option.name}))
        .collect()
}

fn address(order: &Order, store: &Store) -> Value {
    let (customer, address) = (&order.basket.customer, &order.basket.address);
    let uber = store.quirks.uber;
    let by_platform = order.courier == Courier::Platform;
    let part = |text: String| {
        if by_platform || uber {
            HIDDEN.to_owned()
        } else {
            text
        }
    };
    let line = match (by_platform, uber) {
        (_, true) => format!(
            "{}, Kat {}, Daire {}",
            address.line(),
            address.floor,
            address.door
        ),
        (true, false) => HIDDEN.to_owned(),
        (false, false) => address.line(),
    };
    let mut body = json!({
        "firstName": customer.first_name,
        "lastName": customer.last_name,
        "company": "",
        "address1": line,
        "address2": "",
        "city": address.city,
        "cityCode": address.city_code,
        "cityId": address.city_code,
        "district": address.district,
        "districtId": hash(address.district) % 1_000,
        "neighborhood": address.neighbourhood,
        "neighborhoodId": hash(address.neighbourhood) % 100_000,
        "apartmentNumber": part(address.building.to_string()),
        "floor": part(address.floor.to_string()),
        "doorNumber": part(address.door.to_string()),
        "addressDescription": part(address.directions.to_owned()),
        "postalCode": "",
        "countryCode": "TR",
        "latitude": Address::degrees(address.latitude),
        "longitude": Address::degrees(address.longitude),
        "phone": "08502220290",
    });
    if uber {
        body["pinCode"] = json!(customer.phone_extension);
    }
    body
}

fn payment(payment: Payment) -> Value {
    let card = match payment.meal_card {
        MealCard::Multinet => "MULTINET",
        MealCard::Sodexo => "SODEXO",
        MealCard::Ticket => "EDENRED",
        MealCard::Setcard => "SETCARD",
        MealCard::Metropol => "METROPOL",
    };
    let on_delivery = |kind: String| json!({"paymentType": kind, "deliveryFee": 0});
    match (payment.kind, payment.is_online) {
        (Paid::Online, _) => json!({"paymentType": "PAY_WITH_CARD", "mealCard": null, "onDelivery": null}),
        (Paid::MealCard, true) => json!({
            "paymentType": "PAY_WITH_MEAL_CARD",
            "mealCard": {"cardSourceType": card, "deliveryFee": 0},
            "onDelivery": null,
        }),
        (kind, _) => {
            let kind = match kind {
                Paid::Cash => "CASH".to_owned(),
                Paid::MealCard => format!("{card}_CARD"),
                _ => "CARD".to_owned(),
            };
            json!({"paymentType": "PAY_WITH_ON_DELIVERY", "mealCard": null, "onDelivery": on_delivery(kind)})
        }
    }
}

fn cancel_info(order: &Order) -> Value {
    order.cancellation.as_ref().map_or(Value::Null, |cancellation| {
        json!({"reasonCode": cancellation.reason_id.parse::<u64>().unwrap_or_default(), "reason": cancellation.reason})
    })
}
