//! Replies to Getir's messages, and the requests for each step.

use super::names::{APP_KEY, RESTAURANT_KEY};
use super::wire::OWN_COURIER;
use crate::common::request::{header, limited, request, segment, with_json};
use garson_core::explanation::PlatformTask;
use garson_core::order::{CallKind, Courier, Order, Status};
use garson_core::platform::{CallRequest, HookReply, HttpRequest, IntakeOutcome, Link, PlatformError};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The limits of the capability, by name.
pub const DEFAULT: &str = "default";
pub const CONFIG: &str = "config";
pub const OPTION_PRODUCTS: &str = "option-products";
pub const CANCEL_OPTIONS: &str = "cancel-options";
pub const RESTAURANT: &str = "restaurant";
pub const STATUS: &str = "status";
pub const BUSYNESS: &str = "busyness";
pub const HOURS: &str = "working-hours";
pub const ITEM_STATUS: &str = "item-status";

/// Getir publishes no words for these answers, only that a success is wanted; anything else is tried again.
pub fn reply(reception: &IntakeOutcome, request_id: &str) -> HookReply {
    let (status, message) = match reception {
        // Getir numbers its orders itself: a known one is simply known.
        IntakeOutcome::Taken { .. } | IntakeOutcome::Noted | IntakeOutcome::Conflict { .. } => {
            let body = json!({ "result": true });
            return HookReply { status: 200, body };
        }
        IntakeOutcome::NotGenuine => (401, "The x-api-key header is missing or wrong.".to_owned()),
        IntakeOutcome::Unreadable(found) => (500, format!("{} {}.", found.path, found.message)),
        IntakeOutcome::UnknownBranch { branch } => {
            (500, format!("No integration has the restaurant {branch}."))
        }
        IntakeOutcome::UnknownOrder { identity } => (500, format!("No order {identity}.")),
    };
    HookReply {
        status,
        body: json!({ "result": false, "message": message, "requestId": request_id }),
    }
}

/// What the order's record keeps of who carries it.
fn courier(order: &Order) -> Courier {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kept {
        delivery_type: i64,
    }
    let kept = order.provider_data.as_deref().map(serde_json::from_str::<Kept>);
    match kept {
        Some(Ok(kept)) if kept.delivery_type == OWN_COURIER => Courier::Restaurant,
        _ => Courier::Platform,
    }
}

/// The last part of the path that makes the call, with the limit it counts against; nothing where Getir has none.
fn step(call: CallKind, order: &Order) -> Option<(&'static str, Option<&'static str>)> {
    Some(match (call, courier(order)) {
        (CallKind::Verify, _) if order.status == Status::Scheduled => ("verify-scheduled", Some(DEFAULT)),
        (CallKind::Verify, _) => ("verify", None),
        (CallKind::Cancel, _) => ("cancel", None),
        // The restaurant's own courier leaves with `prepare`: sent when the food is ready, it would be a lie.
        (CallKind::Tell(Status::OnTheWay), Courier::Restaurant) => ("prepare", None),
        (CallKind::Tell(Status::Delivered), Courier::Restaurant) => ("deliver", None),
        (CallKind::Ready, Courier::Platform) => ("prepare", None),
        (CallKind::Tell(Status::OnTheWay), Courier::Platform) => ("handover", None),
        _ => return None,
    })
}

pub fn wants(call: CallKind, order: &Order) -> bool {
    step(call, order).is_some()
}

/// The status that an order has on Getir after the call.
pub fn word_after(call: CallKind, order: &Order) -> Option<&'static str> {
    Some(match (call, courier(order)) {
        (CallKind::Verify, _) if order.status == Status::Scheduled => "350",
        (CallKind::Verify, _) => "500",
        (CallKind::Cancel, _) => "1600",
        (CallKind::Ready, _) => "550",
        (CallKind::Tell(Status::OnTheWay), Courier::Platform) => "600",
        (CallKind::Tell(Status::OnTheWay), _) => "700",
        (CallKind::Tell(Status::Delivered), _) => "900",
        (CallKind::Tell(_), _) => return None,
    })
}

pub fn write(call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancel<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        cancel_reason_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cancel_note: Option<&'a str>,
    }
    let (step, limit) = step(call_request.call, call_request.order).ok_or(PlatformError::Unsupported {
        what: PlatformTask::Step,
    })?;
    let url = order_url(link, call_request.order, &format!("/{step}"));
    let plain = match call_request.call {
        CallKind::Cancel => with_json(
            "POST",
            url,
            &Cancel {
                cancel_reason_id: call_request.reason.map(|reason| reason.id.as_str()),
                cancel_note: call_request.note.filter(|note| !note.trim().is_empty()),
            },
        ),
        _ => request("POST", url),
    };
    let mut request = with_token(plain, link)?;
    request.limit = limit;
    Ok(request)
}

fn order_url(link: &Link<'_>, order: &Order, rest: &str) -> String {
    let id = segment(&order.provider_order_id);
    format!("{}/food-orders/{id}{rest}", link.base)
}

/// Getir wants its token in a header of that name.
pub fn with_token(request: HttpRequest, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    Ok(header(request, "token", link.token()?))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Keys<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pos_status: Option<u32>,
    app_secret_key: &'a str,
    restaurant_secret_key: &'a str,
}

fn keys<'a>(link: &Link<'a>, pos_status: Option<u32>) -> Result<Keys<'a>, PlatformError> {
    Ok(Keys {
        pos_status,
        app_secret_key: link.credential(APP_KEY)?,
        restaurant_secret_key: link.credential(RESTAURANT_KEY)?,
    })
}

pub fn login(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let url = format!("{}/auth/login", link.base);
    // Limits are counted for each token, and here there is none yet.
    Ok(with_json("POST", url, &keys(link, None)?))
}

/// Orders flow only to a restaurant whose till is active.
pub fn enlist(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    const ACTIVE: u32 = 100;
    let url = format!("{}/restaurants/pos-status", link.base);
    Ok(with_json("PUT", url, &keys(link, Some(ACTIVE))?))
}

pub fn look(order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let plain = request("GET", order_url(link, order, ""));
    Ok(limited(with_token(plain, link)?, DEFAULT))
}

pub fn reasons(order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let plain = request("GET", order_url(link, order, "/cancel-options"));
    Ok(limited(with_token(plain, link)?, CANCEL_OPTIONS))
}

/// The open orders, then those that were cancelled in the last day; neither list has pages of its own.
pub fn poll(link: &Link<'_>, page: u32) -> Result<HttpRequest, PlatformError> {
    let (path, limit) = match page {
        0 => ("active", Some(DEFAULT)),
        1 => ("periodic/cancelled", None),
        _ => {
            return Err(PlatformError::Unsupported {
                what: PlatformTask::MorePages,
            });
        }
    };
    let plain = request("POST", format!("{}/food-orders/{path}", link.base));
    let mut request = with_token(plain, link)?;
    request.limit = limit;
    Ok(request)
}

pub fn menu(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let plain = request("GET", format!("{}/restaurants/menu", link.base));
    Ok(limited(with_token(plain, link)?, CONFIG))
}

pub fn option_products(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let plain = request("GET", format!("{}/restaurants/option-products", link.base));
    Ok(limited(with_token(plain, link)?, OPTION_PRODUCTS))
}
