//! Reads the platform's messages: a new order, an order that was read back, and changes.

use super::names::{ORDER, REMOTE_ID, REMOTE_ORDER_ID, STATUS};
use super::reasons::{self, reason_named};
use super::soft::Text;
use super::{order, wire};
use crate::common::text::{MAX_ID, MAX_NOTE, keep, keep_some};
use crate::common::tolerant::{self, Essentials};
use crate::common::{Read, fault, parse};
use garson_core::id::OrderId;
use garson_core::order::{Actor, Change, ContentVersion, Courier, Status};
use garson_core::platform::{FETCHED, HookRequest, Message, News, Sighting, Unreadable, Which};

/// Whose order it is, what is to be cooked, and what is to be paid.
pub const ESSENTIALS: Essentials = &["token", "products", "products[]", "price", "price.grandTotal"];
/// An update may carry the order as it has become.
const ESSENTIALS_OF_UPDATE: Essentials = &[
    "status",
    "updatedOrder",
    "token",
    "products",
    "products[]",
    "price",
    "price.grandTotal",
];
const UPDATED_ORDER: &str = "updatedOrder";

pub fn read(request: &HookRequest) -> Read<Message> {
    let (essentials, wrapper) = match request.kind {
        STATUS => (ESSENTIALS_OF_UPDATE, UPDATED_ORDER),
        _ => (ESSENTIALS, ""),
    };
    tolerant::read(&request.body, essentials, wrapper, |body| strict(body, request))
}

fn strict(body: &[u8], request: &HookRequest) -> Read<Message> {
    let branch = request
        .param(REMOTE_ID)
        .filter(|branch| !branch.is_empty())
        .map(str::to_owned);
    // Serde would accept a list as an object, value by value.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(fault("$", "must be an object"));
    }
    let news = match request.kind {
        ORDER | FETCHED => sighting(&parse(body)?)?,
        STATUS => update(request, &parse(body)?)?,
        other => return Err(fault("$", format!("is of the unknown kind {other}"))),
    };
    Ok(Message { branch, news })
}

fn sighting(wire: &wire::Order<'_>) -> Read<News> {
    let order = order::order(wire)?;
    let (change, is_ready) = match &wire.status {
        Some(status) => standing(wire, status.as_str(), order.content.fulfilment.courier),
        None => (None, false),
    };
    Ok(News::Order(Box::new(Sighting {
        order,
        change,
        is_ready,
    })))
}

/// The status of an order that was read back. Only `accepted` and `cancelled` are documented.
fn standing(wire: &wire::Order<'_>, status: &str, courier: Courier) -> (Option<Change>, bool) {
    let moved = |to| {
        Some(Change::Moved {
            to,
            // Tablet, our call, or automatic: an acceptance is always the restaurant's.
            by: match to {
                Status::Preparing => Actor::Account,
                _ => Actor::Platform,
            },
            provider_status: keep(status, MAX_ID),
        })
    };
    let plain = status.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    match plain.strip_prefix("order_").unwrap_or(&plain) {
        "accepted" => (moved(Status::Preparing), false),
        "prepared" | "preparation_completed" => (moved(Status::Preparing), true),
        "picked_up" => (moved(Status::OnTheWay), true),
        "delivered" => (moved(Status::Delivered), true),
        "rejected" | "cancelled" | "canceled" => {
            let said = wire
                .reason
                .and_then(|raw| serde_json::from_str::<Text<'_>>(raw.get()).ok());
            let said = said.as_ref().map_or("", Text::as_str);
            let change = Change::Cancelled {
                by: reasons::actor(said, Some(courier)),
                reason: reason_named(said),
                note: None,
                provider_status: keep(status, MAX_ID),
            };
            (Some(change), false)
        }
        _ => (None, false),
    }
}

fn update(request: &HookRequest, wire: &wire::StatusUpdate<'_>) -> Read<News> {
    let id = request.param(REMOTE_ORDER_ID).unwrap_or_default();
    let status = wire.status.as_str().trim();
    let which = || {
        id.parse::<OrderId>()
            .map(Which::Ours)
            .map_err(|error| fault(REMOTE_ORDER_ID, error.to_string()))
    };
    let said = wire.message.as_ref().map(Text::as_str);
    Ok(match status {
        "" => return Err(fault("status", "must not be empty")),
        "ORDER_CANCELLED" => News::Changed {
            order: which()?,
            change: Change::Cancelled {
                by: reasons::actor(said.unwrap_or_default(), None),
                reason: said.and_then(reasons::reason_within),
                note: keep_some(said, MAX_NOTE),
                provider_status: keep(status, MAX_ID),
            },
        },
        "ORDER_PICKED_UP" => News::Changed {
            order: which()?,
            change: Change::Moved {
                to: Status::OnTheWay,
                by: Actor::Platform,
                provider_status: keep(status, MAX_ID),
            },
        },
        "PRODUCT_ORDER_MODIFICATION_SUCCESSFUL" => match wire.updated_order {
            Some(order) => modified(order.get(), wire)?,
            None => News::Look { order: which()? },
        },
        // Nothing has changed then, and a waiting rider moves nothing.
        "PRODUCT_ORDER_MODIFICATION_FAILED"
        | "COURIER_ARRIVED_AT_VENDOR"
        | "SHOW_RIDER_WAITING_WARNING"
        | "HIDE_RIDER_WAITING_WARNING" => News::Nothing,
        // The list grows; what a new word means for the order, the order says.
        _ => News::Look { order: which()? },
    })
}

/// The order after its products were changed, here or on the platform. How it can be called about stays as it arrived.
fn modified(order: &str, update: &wire::StatusUpdate<'_>) -> Read<News> {
    let within = |mut found: Unreadable| {
        found.path = match found.path.as_str() {
            "$" => UPDATED_ORDER.to_owned(),
            path => format!("{UPDATED_ORDER}.{path}"),
        };
        found
    };
    let wire: wire::Order<'_> = parse(order.as_bytes()).map_err(within)?;
    let mut order = order::order(&wire).map_err(within)?;
    order.version = match update.occurred_at {
        Some(at) => ContentVersion::Numbered(at.0.as_millis()),
        None => ContentVersion::Unnumbered,
    };
    order.provider_data = None;
    Ok(News::Order(Box::new(Sighting {
        order,
        change: None,
        is_ready: false,
    })))
}
