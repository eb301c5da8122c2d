//! Reads Migros' messages.

use super::call_data::CallData;
use super::lines;
use super::names::{DELIVERY_STATUS, ORDER_CANCELLED, ORDER_CREATED};
use super::status::Word;
use super::wire::{self, text};
use crate::common::flag::is_set;
use crate::common::number::Loose;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, join, keep, keep_some};
use crate::common::tolerant::{self, Essentials};
use crate::common::{Read, fault, parse, sums};
use garson_core::money::Minor;
use garson_core::order::{
    Actor, Address, Change, ContentVersion, Courier, Customer, Fulfilment, FulfilmentFlags, FulfilmentType,
    NewOrder, OrderContent, Payment, Status,
};
use garson_core::payment::PaymentType;
use garson_core::platform::{FETCHED, HookRequest, Message, News, Sighting, Unreadable, Which};
use garson_core::time::Timestamp;

/// Whose order it is, what is to be cooked, and what is to be paid.
pub const ESSENTIALS: Essentials = &[
    "id",
    "store",
    "store.id",
    "items",
    "items[]",
    "prices",
    "prices.total",
    "prices.total.amountAsPenny",
    "prices.discounted",
    "prices.discounted.amountAsPenny",
];
const ESSENTIALS_OF_UPDATE: Essentials = &["OrderId", "orderId"];

pub fn read(request: &HookRequest) -> Result<Message, Unreadable> {
    let essentials = match request.kind {
        ORDER_CANCELLED | DELIVERY_STATUS => ESSENTIALS_OF_UPDATE,
        _ => ESSENTIALS,
    };
    tolerant::read(&request.body, essentials, "", |body| strict(body, request.kind))
}

fn strict(body: &[u8], kind: &str) -> Read<Message> {
    match kind {
        ORDER_CREATED | FETCHED => order(&parse(body)?),
        ORDER_CANCELLED => cancelled(&parse(body)?),
        DELIVERY_STATUS => delivery(&parse(body)?),
        other => Err(fault("$", format!("is of the unknown kind {other}"))),
    }
}

/// It does not say who cancelled; an order that the restaurant has cancelled through us is known as such already.
fn cancelled(wire: &wire::Cancelled) -> Read<Message> {
    changed(
        id(&wire.order_id, "OrderId")?,
        wire.store_id.as_ref(),
        Some(Change::Cancelled {
            by: Actor::Platform,
            reason: None,
            note: None,
            provider_status: None,
        }),
    )
}

/// The status of the order and of its courier; the later one counts.
fn delivery(wire: &wire::Delivery<'_>) -> Read<Message> {
    let identity = id(&wire.order_id, "orderId")?;
    let courier = courier(text(&wire.delivery_provider));
    let change = |word: Option<&str>| {
        let word = word?;
        Word::of(word).change(courier, keep(word, MAX_NAME))
    };
    let of_order = change(text(&wire.status));
    let of_courier = change(text(&wire.delivery_status));
    let change = if is_set(wire.is_cancelled) {
        Some(cancellation(of_order, of_courier, text(&wire.status)))
    } else {
        further(of_order, of_courier)
    };
    changed(identity, wire.store_id.as_ref(), change)
}

/// A cancellation, by whom one of the words says.
fn cancellation(of_order: Option<Change>, of_courier: Option<Change>, word: Option<&str>) -> Change {
    let says = |change: &Change| matches!(change, Change::Cancelled { .. });
    of_order
        .into_iter()
        .chain(of_courier)
        .find(says)
        .unwrap_or_else(|| Change::Cancelled {
            by: Actor::Platform,
            reason: None,
            note: None,
            provider_status: keep_some(word, MAX_NAME),
        })
}

fn further(left: Option<Change>, right: Option<Change>) -> Option<Change> {
    let rank = |change: &Option<Change>| match change {
        None => 0,
        Some(Change::Moved { to, .. }) => to.code(),
        Some(Change::Cancelled { .. }) => i64::MAX,
    };
    if rank(&right) >= rank(&left) { right } else { left }
}

fn changed(identity: String, store: Option<&Loose>, change: Option<Change>) -> Read<Message> {
    let order = Which::Identity(identity);
    Ok(Message {
        branch: store.and_then(|store| keep(&store.0, MAX_ID)),
        news: change.map_or(News::Nothing, |change| News::Changed { order, change }),
    })
}

fn order(wire: &wire::Order<'_>) -> Read<Message> {
    let identity = id(&wire.id, "id")?;
    let branch = id(&wire.store.id, "store.id")?;
    let courier = courier(text(&wire.delivery_provider));
    let mut notes = Vec::new();
    let amount = lines::amount(&wire.prices)?;
    let items = lines::items(&wire.items, &[amount.subtotal.0, amount.total.0], &mut notes)?;
    let amount = sums::settle(amount, &items, "items", &mut notes)?;
    let extended = wire.extended_properties.as_ref();
    let payment = payment(wire.payment.as_ref().and_then(|p| p.kind.as_ref()), amount.total);
    let kept = CallData {
        store_id: Some(branch.clone()),
        user_id: wire.customer.as_ref().and_then(|c| some_id(c.id.as_ref())),
        courier: Some(courier),
    };
    let status = keep_some(text(&wire.status), MAX_NAME);
    let word = status.as_deref().map_or(Word::Unknown, Word::of);
    let new = NewOrder {
        provider_order_id: identity.clone(),
        identity,
        short_code: extended.and_then(|e| some_id(e.short_code.as_ref())),
        status: Status::New,
        provider_status: status.clone(),
        provider_data: kept.text(),
        placed_at: wire.log.as_ref().and_then(placed_at),
        accept_by: None,
        scheduled_for: None,
        content: OrderContent {
            storefront: None,
            note: extended.and_then(|e| keep_some(text(&e.order_note), MAX_NOTE)),
            fulfilment: Fulfilment {
                kind: FulfilmentType::Delivery,
                courier,
                flags: extended.map(flags).unwrap_or_default(),
                promised_at: None,
                courier_pickup_at: None,
                pickup_code: None,
            },
            customer: wire.customer.as_ref().map(customer).unwrap_or_default(),
            items,
            amount,
            payment,
            reading_notes: notes,
        },
        version: ContentVersion::Unnumbered,
    };
    Ok(Message {
        branch: Some(branch),
        news: News::Order(Box::new(Sighting {
            order: new,
            change: word.change(courier, status),
            is_ready: word.is_ready(),
        })),
    })
}

/// What makes it the same order, or the branch: never empty, never cut.
fn id(id: &Loose, path: &str) -> Read<String> {
    match keep(&id.0, MAX_ID) {
        Some(kept) if kept == id.0.trim() => Ok(kept),
        _ => Err(fault(path, format!("must be 1 to {MAX_ID} characters"))),
    }
}

fn some_id(id: Option<&Loose>) -> Option<String> {
    keep(&id?.0, MAX_ID)
}

/// Only the restaurant's own courier is reported by us; any other is the platform's.
fn courier(provider: Option<&str>) -> Courier {
    match provider {
        Some(word) if word.trim().eq_ignore_ascii_case("RESTAURANT") => Courier::Restaurant,
        _ => Courier::Platform,
    }
}

/// `None` for an implausible time: then the time of arrival counts.
fn placed_at(log: &wire::Log) -> Option<Timestamp> {
    const YEAR_2000: i64 = 946_684_800_000;
    const YEAR_2100: i64 = 4_102_444_800_000;
    log.created_as_ms
        .map(|timestamp| timestamp.0)
        .filter(|timestamp| (YEAR_2000..YEAR_2100).contains(&timestamp.as_millis()))
}

fn flags(extended: &wire::Extended<'_>) -> FulfilmentFlags {
    FulfilmentFlags {
        do_not_ring: extended.ring_door_bell.is_some_and(|ring| !ring.0),
        drop_at_door: is_set(extended.contactless_delivery),
        no_cutlery: is_set(extended.save_green),
    }
}

fn customer(wire: &wire::Customer<'_>) -> Customer {
    let name = keep_some(text(&wire.full_name), MAX_NAME);
    Customer {
        name: name.or_else(|| join(&[text(&wire.first_name), text(&wire.last_name)], " ", MAX_NAME)),
        phone: some_id(wire.phone_number.as_ref()),
        phone_code: None,
        email: None,
        address: wire.delivery_address.as_ref().map(address),
    }
}

/// A `town` is what we call a district, and a `district` a neighbourhood.
fn address(wire: &wire::Address<'_>) -> Address {
    let name = |named: &Option<wire::Named<'_>>| keep_some(text(&named.as_ref()?.name), MAX_NAME);
    let degrees = |text: &Option<Loose>, most: f64| {
        let degrees: f64 = text.as_ref()?.0.trim().parse().ok()?;
        (degrees.abs() <= most).then_some(degrees)
    };
    let geo = wire.geo_location.as_ref();
    Address {
        text: keep_some(text(&wire.detail), MAX_NOTE),
        city: name(&wire.city),
        district: name(&wire.town),
        neighbourhood: name(&wire.district),
        directions: keep_some(text(&wire.direction), MAX_NOTE),
        lat: geo.and_then(|geo| degrees(&geo.latitude, 90.0)),
        lon: geo.and_then(|geo| degrees(&geo.longitude, 180.0)),
        ..Address::default()
    }
}

/// Meal cards have a name of their own, or their brand's: `MEAL_CARD`, `SODEXO_ON_DELIVERY`, `MULTINET`.
const MEAL_CARDS: [&str; 11] = [
    "MEAL_CARD",
    "SODEXO",
    "PLUXEE",
    "MULTINET",
    "TICKET",
    "EDENRED",
    "SETCARD",
    "METROPOL",
    "PAYE",
    "TOKENFLEX",
    "WINWIN",
];

/// `isOnlinePayment` says whether it is paid; the name says how, and decides only where the flag is missing.
fn payment(wire: Option<&wire::PaymentKind<'_>>, total: Minor) -> Payment {
    let name = wire.and_then(|w| text(&w.name)).unwrap_or_default().trim();
    let is_meal_card = MEAL_CARDS.iter().any(|brand| name.contains(brand));
    let by_name = match name {
        "CREDIT_CARD" | "ONLINE_PAYMENT" => Some(true),
        _ if name.ends_with("_ON_DELIVERY") => Some(false),
        _ if is_meal_card => Some(true),
        _ => None,
    };
    let is_paid = wire
        .and_then(|w| w.is_online_payment)
        .map(|flag| flag.0)
        .or(by_name)
        .unwrap_or(false);
    let kind = match (name, is_paid) {
        (_, true) if is_meal_card => PaymentType::MealCardOnline,
        (_, false) if is_meal_card => PaymentType::MealCardOnDelivery,
        ("CASH_ON_DELIVERY", _) => PaymentType::Cash,
        ("CREDIT_CARD" | "ONLINE_PAYMENT" | "CREDIT_CARD_ON_DELIVERY", true) => PaymentType::OnlineCard,
        ("CREDIT_CARD" | "CREDIT_CARD_ON_DELIVERY", false) => PaymentType::CardOnDelivery,
        _ => PaymentType::Other,
    };
    let shown = wire.and_then(|w| text(&w.description).or(text(&w.simplified_name)));
    Payment {
        kind,
        name: keep_some(shown, MAX_NAME),
        provider_code: keep(name, MAX_ID),
        is_paid,
        collect: if is_paid { Minor::ZERO } else { total },
    }
}
