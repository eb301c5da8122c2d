//! Getir's order in JSON.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{
    clock,
    generate::{
        basket::{Chosen, Line, MealCard, Payment},
        people::Address,
    },
    money,
    order::Order,
    random::hash,
    store::Store,
    views::{Courier, Paid},
};

pub(super) fn render(order: &Order, store: &Store) -> Value {
    let basket = &order.basket;
    let (payment_method, payment_text) = payment(basket.payment);
    let mut body = json!({
        "id": order.id,
        "status": order.state.parse::<u64>().unwrap_or_default(),
        "isScheduled": order.scheduled_for.is_some(),
        "confirmationId": order.short_code,
        "client": client(order),
        "products": basket.open_lines().map(|line| product(line, order)).collect::<Vec<_>>(),
        "clientNote": basket.note,
        "totalPrice": money::number(basket.subtotal() + basket.delivery_fee),
        "totalDiscountedPrice": money::number(basket.total()),
        "deliveryType": if order.courier == Courier::Platform { 1 } else { 2 },
        "isEcoFriendly": basket.no_cutlery,
        "doNotKnock": basket.do_not_ring,
        "dropOffAtDoor": basket.leave_at_door,
        "restaurant": {"id": store.remote_id, "name": store.name, "brand": brand(store)},
        "brand": brand(store),
        "paymentMethod": payment_method,
        "paymentMethodText": both(payment_text),
        "restaurantPanelOperation": false,
        "isQueued": false,
    });
    let Value::Object(fields) = &mut body else {
        return body;
    };
    for (name, moment) in &order.stamps {
        fields.insert((*name).to_owned(), json!(date(*moment)));
    }
    if let Some(moment) = order.scheduled_for {
        fields.insert("scheduledDate".to_owned(), json!(date(moment)));
    }
    add_courier(fields, order);
    if let Some(cancellation) = &order.cancellation {
        let reason = json!({"id": cancellation.reason_id, "messages": both(&cancellation.reason)});
        fields.insert("cancelReason".to_owned(), reason);
        fields.insert("cancelNote".to_owned(), json!(cancellation.note));
    }
    body
}

fn add_courier(fields: &mut Map<String, Value>, order: &Order) {
    let Some(name) = &order.courier_name else { return };
    let address = &order.basket.address;
    let courier = json!({
        "id": hex(&format!("courier {name}")),
        "status": 200,
        "name": name,
        "location": location(address.latitude + 4_000, address.longitude - 3_000),
    });
    fields.insert("courier".to_owned(), courier);
    fields.insert("calculatedCourierToRestaurantETA".to_owned(), json!(7));
}

fn client(order: &Order) -> Value {
    let (customer, address) = (&order.basket.customer, &order.basket.address);
    json!({
        "id": hex(&customer.full_name()),
        "name": customer.full_name(),
        "location": location(address.latitude, address.longitude),
        "clientPhoneNumber": format!("+90 850 346 93 82 / {}", customer.phone_extension),
        "contactPhoneNumber": "+90 850 346 93 82",
        "deliveryAddress": {
            "id": hex(&address.line()),
            "address": format!("{}, {}/{}", address.line(), address.district, address.city),
            "aptNo": address.building.to_string(),
            "floor": address.floor.to_string(),
            "doorNo": address.door.to_string(),
            "city": address.city,
            "district": address.district,
            "description": address.directions,
        },
    })
}

fn product(line: &Line, order: &Order) -> Value {
    let quantity = i64::try_from(line.left()).unwrap_or_default();
    let chosen: Vec<_> = line.options.iter().map(|option| option.name).collect();
    json!({
        "id": hex(&format!("{} {}", order.id, line.id)),
        "imageURL": "",
        "wideImageURL": "",
        "count": line.left(),
        "product": line.product.hex(),
        "chainProduct": hex(line.name),
        "name": both(line.name),
        "price": money::number(line.price),
        "optionPrice": money::number(line.options_price()),
        "priceWithOption": money::number(line.unit_price()),
        "totalPrice": money::number(line.price * quantity),
        "totalOptionPrice": money::number(line.options_price() * quantity),
        "totalPriceWithOption": money::number(line.unit_price() * quantity),
        "optionCategories": categories(&line.options),
        "displayInfo": {"title": both(line.name), "options": {"tr": chosen, "en": chosen}},
        "note": line.note,
    })
}

/// Chosen options, below their category.
fn categories(options: &[Chosen]) -> Vec<Value> {
    let mut categories: Vec<(&Chosen, Vec<Value>)> = Vec::new();
    for option in options {
        let mut rendered = json!({
            "option": option.id.hex(),
            "name": both(option.name),
            "price": money::number(option.price),
        });
        if !option.options.is_empty() {
            rendered["optionCategories"] = json!(self::categories(&option.options));
        }
        match categories
            .iter_mut()
            .find(|(first, _)| first.group == option.group)
        {
            Some((_, members)) => members.push(rendered),
            None => categories.push((option, vec![rendered])),
        }
    }
    let category = |(first, options): (&Chosen, Vec<Value>)| json!({"optionCategory": first.group.hex(), "name": both(first.group_name), "options": options});
    categories.into_iter().map(category).collect()
}

fn payment(payment: Payment) -> (u8, &'static str) {
    match (payment.kind, payment.meal_card, payment.is_online) {
        (Paid::Cash, _, _) => (4, "Nakit"),
        (Paid::Card, _, _) => (3, "Kapıda Banka/Kredi Kartı"),
        (Paid::Online, _, _) => (1, "Online Kredi/Banka Kartı"),
        (Paid::MealCard, MealCard::Multinet, true) => (24, "Multinet Online"),
        (Paid::MealCard, MealCard::Multinet, false) => (5, "Multinet Kart"),
        (Paid::MealCard, MealCard::Sodexo, true) => (19, "Pluxee Online"),
        (Paid::MealCard, MealCard::Sodexo, false) => (6, "Pluxee Kart"),
        (Paid::MealCard, MealCard::Ticket, true) => (22, "Ticket Restaurant Online"),
        (Paid::MealCard, MealCard::Ticket, false) => (8, "Ticket Restaurant Kart"),
        (Paid::MealCard, MealCard::Setcard, _) => (10, "Setcard"),
        (Paid::MealCard, MealCard::Metropol, _) => (11, "Metropol Kart"),
    }
}

fn brand(store: &Store) -> Value {
    json!({"id": hex(&format!("brand {}", store.menu.restaurant)), "name": store.menu.restaurant})
}

pub(super) fn both(text: &str) -> Value {
    json!({"tr": text, "en": text})
}

fn location(latitude: i64, longitude: i64) -> Value {
    json!({"lat": Address::degrees_number(latitude), "lon": Address::degrees_number(longitude)})
}

fn date(moment: Timestamp) -> String {
    clock::text(moment)
}

/// Some id in Getir's form that always belongs to the same text.
pub(super) fn hex(text: &str) -> String {
    format!("{:016x}{:08x}", hash(text), hash(&format!("{text}.")) >> 32)
}
