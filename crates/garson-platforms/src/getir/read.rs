//! Reads Getir's messages: an order with its status, or its cancellation.

use super::names::{CANCEL_ORDER, COURIER_ARRIVAL, NEW_ORDER, RESTAURANT_STATUS};
use super::wire::{self, OWN_COURIER, text};
use super::{lines, payment};
use crate::common::flag::is_set;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep, keep_some};
use crate::common::tolerant::{self, Essentials};
use crate::common::{Read, fault, parse, sums};
use garson_core::money::{Currency, Minor};
use garson_core::order::{
    Actor, Address, Amount, Change, ContentVersion, Courier, Customer, Fulfilment, FulfilmentFlags,
    FulfilmentType, NewOrder, OrderContent, ReadingNote, Reason, Status,
};
use garson_core::platform::{FETCHED, HookRequest, Message, News, Sighting, Which};
use garson_core::time::Timestamp;
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::time::Duration;

/// After this the restaurant is closed on Getir and its orders are cancelled.
pub const ACCEPT_WITHIN: Duration = Duration::from_secs(300);

/// Pushed orders may be packed into this field.
const WRAPPER: &str = "foodOrder";

/// Whose order it is, what is to be cooked, and what is to be paid.
pub const ESSENTIALS: Essentials = &[
    "id",
    "restaurant",
    "restaurant.id",
    "products",
    "products[]",
    "totalDiscountedPrice",
];
/// A cancellation needs no more than to say of which order it is.
const ESSENTIALS_OF_CANCELLATION: Essentials = &["id"];

/// A message that is about no order.
const NOTHING: Message = Message {
    branch: None,
    news: News::Nothing,
};

pub fn read(request: &HookRequest) -> Read<Message> {
    let is_empty = request.body.trim_ascii().is_empty();
    if matches!(request.kind, RESTAURANT_STATUS | COURIER_ARRIVAL) || is_empty {
        return Ok(NOTHING);
    }
    let essentials = match request.kind {
        CANCEL_ORDER => ESSENTIALS_OF_CANCELLATION,
        _ => ESSENTIALS,
    };
    let read = tolerant::read(&request.body, essentials, WRAPPER, |body| strict(body, request));
    match read {
        Err(_) if request.kind != FETCHED && is_ping(&request.body) => Ok(NOTHING),
        read => read,
    }
}

fn strict(body: &[u8], request: &HookRequest) -> Read<Message> {
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(fault("$", "must be one order, not a list"));
    }
    let outer: wire::Order<'_> = parse(body)?;
    let (order, wrapper) = match &outer.food_order {
        Some(inner) => (&**inner, "foodOrder."),
        None => (&outer, ""),
    };
    message(order, request).map_err(|found| fault(format!("{wrapper}{}", found.path), found.message))
}

/// A message without any field of an order is a connection test. A damaged order still has some of its fields, so it is not
/// taken for one.
fn is_ping(body: &[u8]) -> bool {
    const OF_AN_ORDER: [&str; 10] = [
        WRAPPER,
        "id",
        "restaurant",
        "products",
        "client",
        "totalPrice",
        "totalDiscountedPrice",
        "status",
        "confirmationId",
        "cancelReason",
    ];
    let fields: Option<HashMap<String, IgnoredAny>> = serde_json::from_slice(body).ok();
    fields.is_some_and(|fields| !OF_AN_ORDER.iter().any(|name| fields.contains_key(*name)))
}

fn message(order: &wire::Order<'_>, request: &HookRequest) -> Read<Message> {
    let branch = order.restaurant.as_ref().and_then(|r| text(&r.id));
    let branch = keep_some(branch, MAX_ID);
    let news = match request.kind {
        NEW_ORDER if branch.is_none() => return Err(fault("restaurant.id", "is required")),
        // We asked for this one, and its status is why.
        FETCHED if order.status.is_none() => return Err(fault("status", "is required")),
        NEW_ORDER | FETCHED => News::Order(Box::new(sighting(order, request)?)),
        CANCEL_ORDER => cancelled(order, request, branch.is_some())?,
        other => return Err(fault("$", format!("is of the unknown kind {other}"))),
    };
    Ok(Message { branch, news })
}

/// The hook itself says that the order is cancelled, even if the message is incomplete.
fn cancelled(order: &wire::Order<'_>, request: &HookRequest, has_branch: bool) -> Read<News> {
    let identity = id(order)?;
    let change = cancellation(order);
    Ok(match sighting(order, request) {
        Ok(whole) if has_branch => News::Order(Box::new(Sighting {
            change: Some(change),
            ..whole
        })),
        _ => News::Changed {
            order: Which::Identity(identity),
            change,
        },
    })
}

fn cancellation(order: &wire::Order<'_>) -> Change {
    let source = order.cancel_reason.as_ref().and_then(|r| text(&r.cancel_source));
    let by = match (source.and_then(canceller), status(order)) {
        (Some(by), _) => by,
        (None, Some(1600)) => Actor::Account,
        (None, _) => Actor::Platform,
    };
    let reason = order.cancel_reason.as_ref().and_then(|reason| {
        let id = keep_some(text(&reason.id), MAX_ID)?;
        let name = reason.messages.as_ref().and_then(|words| words.said());
        let name = keep_some(name, MAX_NAME).unwrap_or_else(|| id.clone());
        Some(Reason { id, name })
    });
    Change::Cancelled {
        by,
        reason,
        note: keep_some(text(&order.cancel_note), MAX_NOTE),
        provider_status: status(order).map(|code| code.to_string()),
    }
}

/// Who cancelled, where Getir's word for it can be understood.
fn canceller(source: &str) -> Option<Actor> {
    let source = source.to_ascii_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| source.contains(word));
    match () {
        () if names(&["client", "customer", "user"]) => Some(Actor::Customer),
        () if names(&["restaurant", "restoran", "vendor", "merchant"]) => Some(Actor::Account),
        () if names(&["getir", "admin", "courier", "system"]) => Some(Actor::Platform),
        () => None,
    }
}

fn status(order: &wire::Order<'_>) -> Option<i64> {
    order.status.map(|code| code.0)
}

fn id(order: &wire::Order<'_>) -> Read<String> {
    keep_some(text(&order.id), MAX_ID).ok_or_else(|| fault("id", "is required"))
}

/// Orders for later say so, by their status or beside it.
fn is_scheduled(order: &wire::Order<'_>) -> bool {
    match status(order) {
        Some(325 | 350) => true,
        _ => order
            .is_scheduled
            .map_or(order.scheduled_date.is_some(), |flag| flag.0),
    }
}

fn courier(order: &wire::Order<'_>) -> Courier {
    match order.delivery_type.map(|kind| kind.0) {
        Some(OWN_COURIER) => Courier::Restaurant,
        _ => Courier::Platform,
    }
}

/// What has happened to the order since it arrived.
fn change(order: &wire::Order<'_>) -> Option<Change> {
    let carrier = match courier(order) {
        Courier::Restaurant => Actor::Account,
        _ => Actor::Platform,
    };
    let code = status(order)?;
    let (to, by) = match code {
        350 => (Status::ScheduledAccepted, Actor::Account),
        400 if is_scheduled(order) => (Status::New, Actor::Platform),
        // Getir itself moves the ones for later, when they are due.
        500 if is_scheduled(order) => (Status::Preparing, Actor::Platform),
        500 | 550 => (Status::Preparing, Actor::Account),
        600 => (Status::OnTheWay, Actor::Account),
        700 | 800 => (Status::OnTheWay, carrier),
        900 => (Status::Delivered, carrier),
        1500 | 1600 => return Some(cancellation(order)),
        _ => return None,
    };
    Some(Change::Moved {
        to,
        by,
        provider_status: Some(code.to_string()),
    })
}

fn sighting(order: &wire::Order<'_>, request: &HookRequest) -> Read<Sighting> {
    let provider_order_id = id(order)?;
    let is_scheduled = is_scheduled(order);
    let scheduled_for = order.scheduled_date.filter(|_| is_scheduled);
    let mut notes: Vec<ReadingNote> = Vec::new();
    let items = lines::items(order.products.as_deref().unwrap_or_default(), &mut notes)?;
    let amount = sums::settle(amount(order)?, &items, "products", &mut notes)?;
    let payment = payment::payment(order, amount.total);
    let content = OrderContent {
        storefront: None,
        note: keep_some(text(&order.client_note), MAX_NOTE),
        fulfilment: Fulfilment {
            kind: FulfilmentType::Delivery,
            courier: courier(order),
            flags: FulfilmentFlags {
                do_not_ring: is_set(order.do_not_knock),
                drop_at_door: is_set(order.drop_off_at_door),
                no_cutlery: is_set(order.is_eco_friendly),
            },
            promised_at: scheduled_for,
            courier_pickup_at: None,
            pickup_code: None,
        },
        customer: order.client.as_ref().map(customer).unwrap_or_default(),
        items,
        amount,
        payment,
        reading_notes: notes,
    };
    let new = NewOrder {
        identity: provider_order_id.clone(),
        provider_order_id,
        short_code: keep_some(text(&order.confirmation_id), MAX_NAME),
        status: if is_scheduled {
            Status::Scheduled
        } else {
            Status::New
        },
        provider_status: status(order).map(|code| code.to_string()),
        provider_data: order
            .delivery_type
            .map(|kind| format!(r#"{{"deliveryType":{}}}"#, kind.0)),
        placed_at: order.checkout_date,
        accept_by: accept_by(order, request).filter(|_| !is_scheduled),
        scheduled_for,
        content,
        version: ContentVersion::Unnumbered,
    };
    Ok(Sighting {
        order: new,
        change: change(order),
        is_ready: matches!(status(order), Some(550..=900)),
    })
}

fn accept_by(order: &wire::Order<'_>, request: &HookRequest) -> Option<Timestamp> {
    let pushed = (request.kind == NEW_ORDER).then_some(request.received_at);
    let start = order.checkout_date.or(pushed)?;
    Some(start.plus(ACCEPT_WITHIN))
}

fn amount(order: &wire::Order<'_>) -> Read<Amount> {
    let before = order.total_price.map(|price| price.0);
    let after = order.total_discounted_price.map(|price| price.0);
    let total = after
        .or(before)
        .ok_or_else(|| fault("totalPrice", "is required"))?;
    let subtotal = before.unwrap_or(total).max(total);
    if total < Minor::ZERO {
        let path = after.map_or("totalPrice", |_| "totalDiscountedPrice");
        return Err(fault(path, "must not be negative"));
    }
    Ok(Amount {
        currency: Currency::TRY,
        subtotal,
        discount: Minor(subtotal.0 - total.0),
        delivery_fee: Minor::ZERO,
        tip: Minor::ZERO,
        total,
        // Getir gives the discount's size, not its name.
        discounts: Vec::new(),
        adjustment: None,
    })
}

fn customer(client: &wire::Client<'_>) -> Customer {
    let masked = text(&client.client_phone_number).filter(|phone| !phone.trim().is_empty());
    let (phone, code) = match masked {
        Some(phone) => phone.split_once('/').unwrap_or((phone, "")),
        None => (text(&client.client_unmasked_phone_number).unwrap_or_default(), ""),
    };
    Customer {
        name: keep_some(text(&client.name), MAX_NAME),
        phone: keep(phone, MAX_NAME),
        phone_code: keep(code, MAX_NAME),
        email: None,
        address: address(client),
    }
}

fn address(client: &wire::Client<'_>) -> Option<Address> {
    let degrees = |value: Option<&str>, most: f64| {
        value
            .and_then(|text| text.parse().ok())
            .filter(|degrees: &f64| degrees.abs() <= most)
    };
    let location = client.location.as_ref();
    let lat = location.and_then(|l| l.lat.as_ref()).map(|lat| lat.0.as_str());
    let lon = location.and_then(|l| l.lon.as_ref()).map(|lon| lon.0.as_str());
    let place = Address {
        lat: degrees(lat, 90.0),
        lon: degrees(lon, 180.0),
        ..Address::default()
    };
    let short = |value| keep_some(text(value), MAX_NAME);
    match &client.delivery_address {
        Some(wire) => Some(Address {
            text: keep_some(text(&wire.address), MAX_NOTE),
            city: short(&wire.city),
            district: short(&wire.district),
            apartment: short(&wire.apt_no),
            floor: short(&wire.floor),
            door: short(&wire.door_no),
            directions: keep_some(text(&wire.description), MAX_NOTE),
            ..place
        }),
        None => location.map(|_| place),
    }
}
