//! From our words to the platform's: the calls that move an order, and the answers to its messages.

use super::reasons;
use super::state::{State, Urls};
use super::{CHAIN_CODE, PASSWORD, USERNAME};
use crate::common::request::{header, request, segment, with_json};
use crate::common::text::{MAX_NOTE, keep_some};
use garson_core::order::{CallKind, Courier, Order, Status};
use garson_core::platform::{Errand, HookReply, HttpRequest, Link, PlatformError, Reception};
use garson_core::time::Timestamp;
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

const USUAL_MINUTES: u32 = 20;
/// The platform wants two minutes; clocks and networks take their part.
const LEAST_AHEAD: Duration = Duration::from_secs(180);

#[derive(Serialize)]
#[serde(tag = "status", rename_all_fields = "camelCase")]
enum StatusUpdate<'a> {
    #[serde(rename = "order_accepted")]
    Accepted {
        acceptance_time: Timestamp,
        remote_order_id: String,
    },
    #[serde(rename = "order_rejected")]
    Rejected { reason: &'a str, message: &'a str },
    #[serde(rename = "order_picked_up")]
    PickedUp,
}

pub fn wants(call: CallKind, order: &Order) -> bool {
    let state = State::kept(order);
    match call {
        CallKind::Verify | CallKind::Cancel => true,
        CallKind::Ready => state.is_some_and(|state| state.can_be_prepared()),
        CallKind::Tell(Status::OnTheWay) => state.is_some_and(|state| state.can_be_picked_up()),
        CallKind::Tell(_) => false,
    }
}

pub fn write(errand: &Errand<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let state = State::kept(errand.order);
    let urls = state.as_ref().and_then(|state| state.urls.as_ref());
    match errand.call {
        CallKind::Verify => {
            let body = StatusUpdate::Accepted {
                acceptance_time: acceptance_time(errand, state.as_ref()),
                remote_order_id: errand.order.id.to_string(),
            };
            status_update(
                errand,
                link,
                urls.and_then(|urls| urls.accepted.as_deref()),
                &body,
            )
        }
        CallKind::Cancel => {
            let reason = errand.reason.cloned();
            let reason = reason.or_else(|| reasons::fixed(Some(errand.order)).into_iter().next());
            let reason = reason.ok_or(PlatformError::MissingData { what: "reason" })?;
            let note = keep_some(errand.note, MAX_NOTE);
            let body = StatusUpdate::Rejected {
                reason: &reason.id,
                message: note.as_deref().unwrap_or(&reason.name),
            };
            status_update(
                errand,
                link,
                urls.and_then(|urls| urls.rejected.as_deref()),
                &body,
            )
        }
        CallKind::Tell(Status::OnTheWay) if wants(errand.call, errand.order) => {
            let url = urls.and_then(|urls| urls.picked_up.as_deref());
            status_update(errand, link, url, &StatusUpdate::PickedUp)
        }
        CallKind::Ready if wants(errand.call, errand.order) => prepared(errand, link, urls),
        CallKind::Ready => Err(PlatformError::Unsupported {
            what: "hear that this order is ready",
        }),
        CallKind::Tell(_) => Err(PlatformError::Unsupported {
            what: "hear of this step",
        }),
    }
}

fn status_update(
    errand: &Errand<'_>,
    link: &Link<'_>,
    given: Option<&str>,
    body: &StatusUpdate<'_>,
) -> Result<HttpRequest, PlatformError> {
    let url = match given.filter(|url| is_at_home(url, link.base)) {
        Some(url) => url.to_owned(),
        None => format!(
            "{}/v2/order/status/{}",
            link.base,
            segment(&errand.order.identity)
        ),
    };
    authorized(with_json("POST", url, body), link)
}

fn prepared(errand: &Errand<'_>, link: &Link<'_>, urls: Option<&Urls>) -> Result<HttpRequest, PlatformError> {
    let given = urls.and_then(|urls| urls.prepared.as_deref());
    let url = match given.filter(|url| is_at_home(url, link.base)) {
        Some(url) => url.to_owned(),
        None => {
            let token = segment(&errand.order.identity);
            format!("{}/v2/orders/{token}/preparation-completed", link.base)
        }
    };
    authorized(request("POST", url), link)
}

/// An address from a message is used only where the operator's own leads to the same place.
pub fn is_at_home(url: &str, base: &str) -> bool {
    let Some(path) = url.strip_prefix(base).filter(|_| !base.is_empty()) else {
        return false;
    };
    let is_plain = path
        .bytes()
        .all(|b| b.is_ascii_graphic() && b != b'\\' && b != b'#');
    let lower = path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
    let before_query = lower.split('?').next().unwrap_or_default();
    let climbs = before_query.split('/').any(|part| part == "." || part == "..");
    path.starts_with('/') && is_plain && !climbs
}

/// When the customer gets the food, or can collect it: as promised, since the customer is informed of any other time. Where the
/// platform's rider carries it, or the promise cannot be kept any more, it is when the kitchen is done.
fn acceptance_time(errand: &Errand<'_>, state: Option<&State>) -> Timestamp {
    let minutes = errand.preparation_minutes.unwrap_or(USUAL_MINUTES);
    let ready = errand.now.plus(Duration::from_secs(u64::from(minutes) * 60));
    let least = errand.now.plus(LEAST_AHEAD);
    let promised = state
        .filter(|state| state.courier != Courier::Platform)
        .and_then(|state| state.promised_at)
        .filter(|at| *at >= least);
    let at = errand.order.scheduled_for.or(promised).unwrap_or(ready);
    at.max(least)
}

/// An order without an address for it is accepted without a word from us.
pub fn is_implied(call: CallKind, order: &Order) -> bool {
    let urls = State::kept(order).and_then(|state| state.urls);
    call == CallKind::Verify && urls.is_some_and(|urls| urls.accepted.is_none())
}

pub fn look(order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let chain = segment(link.credential(CHAIN_CODE)?);
    let id = segment(&order.identity);
    authorized(
        request("GET", format!("{}/v2/chains/{chain}/orders/{id}", link.base)),
        link,
    )
}

pub fn login(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let username = segment(link.credential(USERNAME)?);
    let password = segment(link.credential(PASSWORD)?);
    let url = format!("{}/v2/login", link.base);
    let mut request = header(
        request("POST", url),
        "content-type",
        "application/x-www-form-urlencoded",
    );
    let form = format!("username={username}&password={password}&grant_type=client_credentials");
    request.body = Some(form.into_bytes());
    Ok(request)
}

fn authorized(request: HttpRequest, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let bearer = format!("Bearer {}", link.token()?);
    Ok(header(request, "authorization", &bearer))
}

/// Only 200, 201, 202, 400, 401, 429, 450, 500 and 502 are understood; after 429 and 5xx the message comes again.
pub fn reply(reception: &Reception, request_id: &str) -> HookReply {
    let refuse = |status, code: &str, message: String| HookReply {
        status,
        body: json!({ "code": code, "message": message, "requestId": request_id }),
    };
    match reception {
        // An order that comes again, in whatever words, is the one that we have.
        Reception::Taken { order_id } | Reception::Conflict { order_id } => HookReply {
            status: 200,
            body: json!({ "remoteResponse": { "remoteOrderId": order_id } }),
        },
        Reception::Noted => HookReply {
            status: 200,
            body: json!({}),
        },
        Reception::UnknownBranch { branch } => refuse(
            500,
            "UNKNOWN_VENDOR",
            format!("No restaurant has the remoteId {branch}."),
        ),
        Reception::UnknownOrder { identity } => {
            refuse(500, "UNKNOWN_ORDER", format!("There is no order {identity}."))
        }
        Reception::Unreadable(found) => {
            refuse(500, "UNREADABLE", format!("{} {}.", found.path, found.message))
        }
        Reception::NotGenuine => refuse(
            401,
            "UNAUTHORIZED",
            "The bearer token is missing or wrong.".to_owned(),
        ),
    }
}
