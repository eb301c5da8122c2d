//! Reads Trendyol's messages: packages become orders, short events become changes.

mod lines;
mod people;
mod stage;
mod sums;
mod times;

use self::stage::Stage;
use super::call_data::{CallData, courier_word};
use super::names::{
    CANCELLED, COURIER_NEARBY, CREATED, DELIVERED, PICKUP_ETA, SELLER_CHANGED, SHIPPED, STORE_CHANGED,
    UNSUPPLIED,
};
use super::reasons::reason_name;
use super::wire::{self, text};
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, join, keep, keep_some};
use crate::common::tolerant::{self, Essentials};
use crate::common::{Read, fault, parse};
use garson_core::order::{
    Actor, Change, ContentVersion, Courier, Fulfilment, FulfilmentFlags, FulfilmentType, NewOrder,
    OrderContent, ReadingNote, Reason, Status,
};
use garson_core::platform::{FETCHED, HookRequest, Message, News, Sighting, Which};
use std::borrow::Cow;

const NOTHING: Message = Message {
    branch: None,
    news: News::Nothing,
};

/// Whose package it is, what is to be cooked, and what is to be paid.
pub const ESSENTIALS: Essentials = &["id", "supplierId", "storeId", "totalPrice", "lines", "lines[]"];

pub fn read(request: &HookRequest) -> Read<Message> {
    tolerant::read(&request.body, ESSENTIALS, "", |body| strict(body, request.kind))
}

fn strict(body: &[u8], kind: &str) -> Read<Message> {
    match kind {
        CREATED | FETCHED => package(&parse(body)?),
        SHIPPED => about(&parse(body)?, |_| moved(Status::OnTheWay, "Shipped")),
        DELIVERED => about(&parse(body)?, |_| moved(Status::Delivered, "Delivered")),
        CANCELLED => about(&parse(body)?, |event| ended(event, "Cancelled")),
        UNSUPPLIED => about(&parse(body)?, |event| ended(event, "UnSupplied")),
        // The package is with another branch now, its seller is another, or its courier comes at another time: what that means
        // for it, it must say.
        STORE_CHANGED | SELLER_CHANGED | PICKUP_ETA => {
            let event: wire::Event<'_> = parse(body)?;
            match event.id {
                Some(_) => about(&event, |_| None),
                None => Ok(NOTHING),
            }
        }
        // Where the courier is changes nothing that we keep.
        COURIER_NEARBY => Ok(NOTHING),
        other => Err(fault("$", format!("is of the unknown kind {other}"))),
    }
}

/// An event about a package: what changed, or that it must be looked at.
fn about<'a>(
    event: &wire::Event<'a>,
    change: impl FnOnce(&wire::Event<'a>) -> Option<Change>,
) -> Read<Message> {
    let named = text(&event.id).ok_or_else(|| fault("id", "is required"))?;
    let order = Which::Identity(id(named, "id")?);
    let news = match change(event) {
        Some(change) => News::Changed { order, change },
        None => News::Look { order },
    };
    Ok(Message { branch: None, news })
}

fn moved(to: Status, provider_status: &str) -> Option<Change> {
    Some(Change::Moved {
        to,
        by: Actor::Platform,
        provider_status: Some(provider_status.to_owned()),
    })
}

/// A cancellation, unless the package goes on: then only some of its pieces were cancelled.
fn ended(event: &wire::Event<'_>, usual: &str) -> Option<Change> {
    let status = text(&event.status).unwrap_or(usual);
    match Stage::of(status) {
        Stage::Cancelled | Stage::Unsupplied => Some(cancelled(status, event.cancel_info.as_ref())),
        _ => None,
    }
}

/// Who ended it: a code of the restaurant's (or that it did not answer) and the status `UnSupplied` are its side's.
fn cancelled(status: &str, info: Option<&wire::CancelInfo<'_>>) -> Change {
    let code = info.and_then(|info| text(&info.reason_code)).unwrap_or_default();
    let by = match (code, Stage::of(status)) {
        ("621" | "622" | "623" | "624" | "625" | "626" | "627", _) | (_, Stage::Unsupplied) => Actor::Account,
        ("604", _) => Actor::Customer,
        _ => Actor::Platform,
    };
    let words = info.and_then(|info| keep_some(text(&info.reason), MAX_NAME));
    let reason = match (keep(code, MAX_ID), words) {
        (Some(id), words) => Some(Reason {
            name: words.unwrap_or_else(|| reason_name(&id).map_or_else(|| id.clone(), str::to_owned)),
            id,
        }),
        (None, Some(name)) => Some(Reason {
            id: name.clone(),
            name,
        }),
        (None, None) => None,
    };
    Change::Cancelled {
        by,
        reason,
        note: None,
        provider_status: keep(status, MAX_NAME),
    }
}

fn package(package: &wire::Package<'_>) -> Read<Message> {
    let provider_order_id = id(package.id.as_str(), "id")?;
    let supplier = id(package.supplier_id.as_str(), "supplierId")?;
    let store = id(package.store_id.as_str(), "storeId")?;
    let status = text(&package.package_status);
    let provider_status = keep_some(status, MAX_NAME);
    let stage = Stage::of(status.unwrap_or_default());
    let step = |to, by| {
        Some(Change::Moved {
            to,
            by,
            provider_status: provider_status.clone(),
        })
    };
    let change = match stage {
        Stage::Created => None,
        // Only the restaurant accepts, here or on its tablet.
        Stage::Picking | Stage::Invoiced => step(Status::Preparing, Actor::Account),
        Stage::Shipped => step(Status::OnTheWay, Actor::Platform),
        Stage::Delivered => step(Status::Delivered, Actor::Platform),
        Stage::Cancelled | Stage::Unsupplied => Some(cancelled(
            status.unwrap_or_default(),
            package.cancel_info.as_ref(),
        )),
    };
    let mut notes = Vec::new();
    let fulfilment = fulfilment(package, stage, &mut notes);
    let counts = lines::Counts::of(&package.lines);
    let items = lines::items(&package.lines, counts, &mut notes)?;
    let amount = sums::amount(package, &items, counts, &mut notes)?;
    let order = NewOrder {
        identity: provider_order_id.clone(),
        provider_order_id,
        short_code: keep_some(text(&package.order_code), MAX_ID)
            .or_else(|| keep_some(text(&package.order_number), MAX_ID)),
        status: Status::New,
        provider_status,
        provider_data: Some(call_data(package, fulfilment.courier, counts)),
        placed_at: package
            .package_creation_date
            .map(|at| at.0)
            .filter(|at| at.text().is_some()),
        accept_by: None,
        scheduled_for: None,
        content: OrderContent {
            note: note(package),
            fulfilment,
            customer: people::customer(package),
            payment: sums::payment(package.payment.as_ref(), amount.total),
            items,
            amount,
            storefront: people::storefront(package),
            reading_notes: notes,
        },
        version: version(package, counts),
    };
    Ok(Message {
        branch: Some(format!("{supplier}:{store}")),
        news: News::Order(Box::new(Sighting {
            order,
            change,
            is_ready: matches!(stage, Stage::Invoiced | Stage::Shipped | Stage::Delivered),
        })),
    })
}

/// The time of the last change numbers the versions of a package. One whose pieces are all cancelled shows what it once was.
fn version(package: &wire::Package<'_>, counts: lines::Counts) -> ContentVersion {
    let timestamps = [package.package_modification_date, package.last_modified_date];
    let last = timestamps.into_iter().flatten().map(|at| at.0.as_millis()).max();
    match (counts, last) {
        (lines::Counts::All, _) => ContentVersion::Unchanging,
        (lines::Counts::Open, Some(last)) => ContentVersion::Numbered(last),
        (lines::Counts::Open, None) => ContentVersion::Unnumbered,
    }
}

fn note(package: &wire::Package<'_>) -> Option<String> {
    // It must not be prepared.
    let test = package.test_package.then_some("TEST");
    join(&[test, text(&package.customer_note)], "\n", MAX_NOTE)
}

fn fulfilment(package: &wire::Package<'_>, stage: Stage, notes: &mut Vec<ReadingNote>) -> Fulfilment {
    let by_store = text(&package.delivery_type).is_some_and(|kind| kind.trim().eq_ignore_ascii_case("STORE"));
    let (kind, courier) = match (package.store_pickup_selected, by_store) {
        (true, _) => (FulfilmentType::Pickup, Courier::None),
        (false, true) => (FulfilmentType::Delivery, Courier::Restaurant),
        (false, false) => (FulfilmentType::Delivery, Courier::Platform),
    };
    Fulfilment {
        kind,
        courier,
        flags: FulfilmentFlags::default(),
        promised_at: times::promised(package, stage, notes),
        courier_pickup_at: times::courier_pickup(package, courier),
        pickup_code: None,
    }
}

/// What later calls need of the package.
fn call_data(package: &wire::Package<'_>, courier: Courier, counts: lines::Counts) -> String {
    let pieces = package.lines.iter().flat_map(|line| &line.items);
    let kept = CallData {
        courier: Cow::Borrowed(courier_word(courier)),
        preparation_time: text(&package.preparation_time).and_then(wire::whole),
        items: pieces
            .filter(|piece| counts.has(piece))
            .filter_map(|piece| text(&piece.package_item_id))
            .filter(|id| !id.is_empty())
            .map(Cow::Borrowed)
            .collect(),
    };
    // Words, numbers and lists of words always can be written.
    serde_json::to_string(&kept).unwrap_or_default()
}

/// An id as the platform wrote it. The colon is ours: it joins seller and store.
fn id(value: &str, path: &str) -> Read<String> {
    let is_fine = value.trim() == value && !value.contains(|c: char| c.is_control() || c == ':');
    match keep(value, MAX_ID) {
        Some(kept) if is_fine && kept == value => Ok(kept),
        _ => Err(fault(path, format!("must be an id of 1 to {MAX_ID} characters"))),
    }
}
