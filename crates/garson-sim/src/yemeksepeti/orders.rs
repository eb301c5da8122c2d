//! Delivery Hero's order in JSON.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    clock,
    generate::{
        basket::{Basket, Chosen, Line, MealCard, Payment},
        people::Address,
    },
    money,
    order::Order,
    random::hash,
    store::Store,
    views::{Courier, Paid},
};

pub(super) fn render(order: &Order, store: &Store, public_url: &str) -> Value {
    let basket = &order.basket;
    let customer = &basket.customer;
    json!({
        "token": order.token,
        "code": order.id,
        "shortCode": order.short_code,
        "createdAt": clock::text(order.placed_at),
        "expiryDate": order.expires_at.map(clock::text),
        "expeditionType": if order.courier == Courier::Pickup { "pickup" } else { "delivery" },
        "preOrder": order.scheduled_for.is_some(),
        "test": false,
        "corporateTaxId": "",
        "extraParameters": {},
        "comments": {"customerComment": basket.note, "vendorComment": ""},
        "customer": {
            "id": (hash(&customer.full_name()) % 100_000_000).to_string(),
            "code": format!("{:x}", hash(&customer.full_name()) >> 24),
            "email": "",
            "firstName": customer.first_name,
            "lastName": customer.last_name,
            "mobilePhone": format!("+90 850 532 {}", customer.phone_extension),
            "mobilePhoneCountryCode": "90",
            "flags": [],
        },
        "delivery": delivery(order),
        "pickup": pickup(order),
        "discounts": discounts(basket),
        "invoicingInformation": null,
        "localInfo": {
            "countryCode": "tr",
            "currencySymbol": "TRY",
            "platform": "Yemeksepeti",
            "platformKey": "YS_TR",
        },
        "platformRestaurant": {"id": (hash(&store.remote_id) % 1_000_000).to_string()},
        "payment": {
            "status": if basket.payment.is_online { "paid" } else { "pending" },
            "type": payment(basket.payment),
            "remoteCode": "",
            "requiredMoneyChange": "0.00",
            "vatId": "",
            "vatName": "",
        },
        "price": price(basket),
        "products": basket.open_lines().map(product).collect::<Vec<_>>(),
        "callbackUrls": callbacks(order, store, public_url),
    })
}

fn ready_at(order: &Order) -> jiff::Timestamp {
    order
        .scheduled_for
        .unwrap_or_else(|| clock::add(order.placed_at, SignedDuration::from_mins(40)))
}

fn delivery(order: &Order) -> Value {
    if order.courier == Courier::Pickup {
        return Value::Null;
    }
    let by_rider = order.courier == Courier::Platform;
    let rider_comes = clock::add(ready_at(order), SignedDuration::from_mins(-20));
    json!({
        // The restaurant has no business knowing where the platform's rider goes.
        "address": if by_rider { Value::Null } else { address(&order.basket.address) },
        "expectedDeliveryTime": clock::text(ready_at(order)),
        "expressDelivery": order.scheduled_for.is_none(),
        "riderPickupTime": by_rider.then(|| clock::text(rider_comes)),
    })
}

fn pickup(order: &Order) -> Value {
    match order.courier {
        Courier::Pickup => {
            json!({"pickupTime": clock::text(ready_at(order)), "pickupCode": order.short_code})
        }
        _ => Value::Null,
    }
}

fn address(address: &Address) -> Value {
    json!({
        "street": address.street,
        "number": address.building.to_string(),
        "building": "",
        "floor": address.floor.to_string(),
        "flatNumber": address.door.to_string(),
        "entrance": "",
        "intercom": "",
        "city": address.city,
        "postcode": "",
        "company": "",
        "deliveryArea": address.neighbourhood,
        "deliveryMainArea": format!("{} ({})", address.district, address.city),
        "deliveryAreaPostcode": "",
        "deliveryInstructions": address.directions,
        "latitude": Address::degrees_number(address.latitude),
        "longitude": Address::degrees_number(address.longitude),
    })
}

fn discounts(basket: &Basket) -> Vec<Value> {
    if basket.discount == 0 {
        return Vec::new();
    }
    let amount = money::text(basket.discount);
    vec![json!({
        "name": "Restoran indirimi",
        "amount": amount,
        "type": "VOUCHER",
        "sponsorships": [{"sponsor": "VENDOR", "amount": amount}],
    })]
}

fn price(basket: &Basket) -> Value {
    let fees = match basket.delivery_fee {
        0 => json!([]),
        fee => json!([{"name": "Teslimat ücreti", "value": money::text(fee)}]),
    };
    let total = basket.total();
    json!({
        "grandTotal": money::text(total),
        "subTotal": money::text(basket.subtotal()),
        "totalNet": money::text(total),
        "vatTotal": "0.00",
        "deliveryFees": fees,
        "deliveryFee": money::text(basket.delivery_fee),
        "minimumDeliveryValue": "0.00",
        "payRestaurant": money::text(total),
        "riderTip": "0.00",
        "collectFromCustomer": money::text(if basket.payment.is_online { 0 } else { total }),
        "discountAmountTotal": money::text(basket.discount),
    })
}

fn product(line: &Line) -> Value {
    let quantity = i64::try_from(line.left()).unwrap_or_default();
    json!({
        "id": line.product.uuid(),
        "categoryName": line.category,
        "name": line.name,
        "unitPrice": money::text(line.price),
        // Of all pieces; toppings have their own prices.
        "paidPrice": money::text(line.price * quantity),
        "quantity": line.left().to_string(),
        "remoteCode": line.product.number().to_string(),
        "sku": line.product.number().to_string(),
        "comment": line.note,
        "variation": {"name": ""},
        "itemUnavailabilityHandling": "REMOVE",
        "discounts": [],
        "selectedToppings": line.options.iter().map(topping).collect::<Vec<_>>(),
    })
}

fn topping(option: &Chosen) -> Value {
    let name = if option.removed {
        format!("{} olmasın", option.name)
    } else {
        option.name.to_owned()
    };
    json!({
        "id": option.id.uuid(),
        "name": name,
        "price": money::text(option.price),
        "quantity": "1",
        "remoteCode": option.id.number().to_string(),
        "sku": option.id.number().to_string(),
        "type": if option.options.is_empty() { "EXTRA" } else { "PRODUCT" },
        "children": option.options.iter().map(topping).collect::<Vec<_>>(),
        "discounts": [],
    })
}

/// In Turkey the kind of payment is free text.
fn payment(payment: Payment) -> &'static str {
    match (payment.kind, payment.meal_card, payment.is_online) {
        (Paid::Cash, _, _) => "Nakit",
        (Paid::Card, _, _) => "Kapıda Kredi Kartı",
        (Paid::Online, _, _) => "Online Kredi/Banka Kartı",
        (Paid::MealCard, MealCard::Multinet, true) => "Online Multinet",
        (Paid::MealCard, MealCard::Multinet, false) => "Multinet",
        (Paid::MealCard, MealCard::Sodexo, true) => "Online Pluxee",
        (Paid::MealCard, MealCard::Sodexo, false) => "Pluxee (Sodexo)",
        (Paid::MealCard, MealCard::Ticket, true) => "Online Edenred Ticket",
        (Paid::MealCard, MealCard::Ticket, false) => "Ticket Restaurant",
        (Paid::MealCard, MealCard::Setcard, _) => "Setcard",
        (Paid::MealCard, MealCard::Metropol, _) => "Metropol",
    }
}

/// Only the moves that this kind of order has.
fn callbacks(order: &Order, store: &Store, public_url: &str) -> Value {
    let token = order.token.as_deref().unwrap_or_default();
    let status = format!("{public_url}/yemeksepeti/v2/order/status/{token}");
    let accepted = (!store.quirks.indirect).then_some(&status);
    let mut urls = json!({"orderAcceptedUrl": accepted, "orderRejectedUrl": status});
    match order.courier {
        Courier::Platform => {
            let url = format!("{public_url}/yemeksepeti/v2/orders/{token}/preparation-completed");
            urls["orderPreparedUrl"] = json!(url);
        }
        Courier::Restaurant | Courier::Pickup => urls["orderPickedUpUrl"] = json!(status),
    }
    urls
}
