//! The calls that advance an order, and the replies to the platform's messages.

use super::address::may_be_called;
use super::names::{CHAIN_CODE, PASSWORD, USERNAME};
use super::reasons;
use super::state::{State, Urls};
use crate::common::request::{header, request, segment, with_json};
use crate::common::text::{MAX_NOTE, keep_some};
use garson_core::explanation::{MissingData, PlatformTask};
use garson_core::order::{CallKind, Courier, Order, Status};
use garson_core::platform::{CallRequest, HookReply, HttpRequest, IntakeOutcome, Link, PlatformError};
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

/// The word that an order shows when it is read back after the call. Only these two are promised.
pub fn word_after(call: CallKind) -> Option<&'static str> {
    match call {
        CallKind::Verify => Some("accepted"),
        CallKind::Cancel => Some("cancelled"),
        CallKind::Ready | CallKind::Tell(_) => None,
    }
}

pub fn write(call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let state = State::kept(call_request.order);
    let urls = state.as_ref().and_then(|state| state.urls.as_ref());
    let given = urls.and_then(|urls| given_address(call_request.call, urls));
    match call_request.call {
        CallKind::Verify => {
            let body = StatusUpdate::Accepted {
                acceptance_time: acceptance_time(call_request, state.as_ref()),
                remote_order_id: call_request.order.id.to_string(),
            };
            status_update(call_request, link, given, &body)
        }
        CallKind::Cancel => {
            let reason = call_request.reason.cloned();
            let reason = reason.or_else(|| reasons::fixed(Some(call_request.order)).into_iter().next());
            let reason = reason.ok_or(PlatformError::MissingData {
                what: MissingData::Reason,
            })?;
            let note = keep_some(call_request.note, MAX_NOTE);
            let body = StatusUpdate::Rejected {
                reason: &reason.id,
                message: note.as_deref().unwrap_or(&reason.name),
            };
            status_update(call_request, link, given, &body)
        }
        CallKind::Tell(Status::OnTheWay) if wants(call_request.call, call_request.order) => {
            status_update(call_request, link, given, &StatusUpdate::PickedUp)
        }
        CallKind::Ready if wants(call_request.call, call_request.order) => {
            prepared(call_request, link, given)
        }
        CallKind::Ready => Err(PlatformError::Unsupported {
            what: PlatformTask::Ready,
        }),
        CallKind::Tell(_) => Err(PlatformError::Unsupported {
            what: PlatformTask::Step,
        }),
    }
}

/// The address that the order names for this call.
fn given_address(call: CallKind, urls: &Urls) -> Option<&str> {
    let url = match call {
        CallKind::Verify => &urls.accepted,
        CallKind::Cancel => &urls.rejected,
        CallKind::Ready => &urls.prepared,
        CallKind::Tell(_) => &urls.picked_up,
    };
    url.as_deref()
}

/// The address that the order names for this call, where it is not one that may be called.
pub fn refused_address(call_request: &CallRequest<'_>, link: &Link<'_>) -> Option<String> {
    let urls = State::kept(call_request.order)?.urls?;
    let given = given_address(call_request.call, &urls)?;
    (!may_be_called(given, link)).then(|| given.to_owned())
}

fn status_update(
    call_request: &CallRequest<'_>,
    link: &Link<'_>,
    given: Option<&str>,
    body: &StatusUpdate<'_>,
) -> Result<HttpRequest, PlatformError> {
    let url = match given.filter(|url| may_be_called(url, link)) {
        Some(url) => url.to_owned(),
        None => format!(
            "{}/v2/order/status/{}",
            link.base,
            segment(&call_request.order.identity)
        ),
    };
    authorized(with_json("POST", url, body), link)
}

fn prepared(
    call_request: &CallRequest<'_>,
    link: &Link<'_>,
    given: Option<&str>,
) -> Result<HttpRequest, PlatformError> {
    let url = match given.filter(|url| may_be_called(url, link)) {
        Some(url) => url.to_owned(),
        None => {
            let token = segment(&call_request.order.identity);
            format!("{}/v2/orders/{token}/preparation-completed", link.base)
        }
    };
    authorized(request("POST", url), link)
}

/// When the customer gets the food, or can collect it: as promised, since the customer is informed of any other time. Where the
/// platform's rider carries it, or the promise cannot be kept any more, it is when the kitchen is done.
fn acceptance_time(call_request: &CallRequest<'_>, state: Option<&State>) -> Timestamp {
    let minutes = call_request.preparation_minutes.unwrap_or(USUAL_MINUTES);
    let ready = call_request
        .now
        .plus(Duration::from_secs(u64::from(minutes) * 60));
    let least = call_request.now.plus(LEAST_AHEAD);
    let promised = state
        .filter(|state| state.courier != Courier::Platform)
        .and_then(|state| state.promised_at)
        .filter(|at| *at >= least);
    let at = call_request.order.scheduled_for.or(promised).unwrap_or(ready);
    at.max(least)
}

/// Only where the platform's rider carries the order: otherwise the time that it receives is the one promised to the customer.
pub fn takes_preparation_time(order: &Order) -> bool {
    let is_carried_by_rider = State::kept(order).is_some_and(|state| state.courier == Courier::Platform);
    is_carried_by_rider && order.scheduled_for.is_none() && !is_implied(CallKind::Verify, order)
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

/// The ids of the branch's orders that were cancelled in the last day, which is as far back as the platform shows them.
pub fn cancelled_ids(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let chain = segment(link.credential(CHAIN_CODE)?);
    let branch = segment(link.branch);
    let url = format!(
        "{}/v2/chains/{chain}/orders/ids?status=cancelled&pastNumberOfHours=24&vendorId={branch}",
        link.base
    );
    authorized(request("GET", url), link)
}

pub fn login(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let username = segment(link.credential(USERNAME)?);
    let password = segment(link.credential(PASSWORD)?);
    let url = format!("{}/v2/login", link.base);
    let mut request = header(
        request("POST", url),
        "Content-Type",
        "application/x-www-form-urlencoded",
    );
    let form = format!("username={username}&password={password}&grant_type=client_credentials");
    request.body = Some(form.into_bytes());
    Ok(request)
}

pub fn authorized(request: HttpRequest, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let bearer = format!("Bearer {}", link.token()?);
    Ok(header(request, "Authorization", &bearer))
}

/// Only 200, 201, 202, 400, 401, 429, 450, 500 and 502 are understood; after 429 and 5xx the message comes again.
pub fn reply(reception: &IntakeOutcome, request_id: &str) -> HookReply {
    let refuse = |status, code: &str, message: String| HookReply {
        status,
        body: json!({ "code": code, "message": message, "requestId": request_id }),
    };
    match reception {
        // A repeated order is the one that we have, even if its content differs.
        IntakeOutcome::Taken { order_id } | IntakeOutcome::Conflict { order_id } => HookReply {
            status: 200,
            body: json!({ "remoteResponse": { "remoteOrderId": order_id } }),
        },
        IntakeOutcome::Noted => HookReply {
            status: 200,
            body: json!({}),
        },
        IntakeOutcome::UnknownBranch { branch } => refuse(
            500,
            "UNKNOWN_VENDOR",
            format!("No restaurant has the remoteId {branch}."),
        ),
        IntakeOutcome::UnknownOrder { identity } => {
            refuse(500, "UNKNOWN_ORDER", format!("There is no order {identity}."))
        }
        IntakeOutcome::Unreadable(found) => {
            refuse(500, "UNREADABLE", format!("{} {}.", found.path, found.message))
        }
        IntakeOutcome::NotGenuine => refuse(
            401,
            "UNAUTHORIZED",
            "The bearer token is missing or wrong.".to_owned(),
        ),
    }
}
