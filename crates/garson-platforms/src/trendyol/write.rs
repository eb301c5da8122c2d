//! The calls that advance a package, the requests that read packages, and what their responses mean.

use super::call_data::{CallData, courier};
use super::names::{API_KEY, API_SECRET, EXECUTOR_USER, INTEGRATOR_NAME, SUPPLIER_ID};
use super::reasons::fixed_reasons;
use super::wire;
use crate::common::answer::{by_status, must_succeed, of_call, words};
use crate::common::parse;
use crate::common::request::{header, limited, request, segment, with_json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use garson_core::explanation::{Explanation, MissingData, PlatformFailure, PlatformTask};
use garson_core::order::{CallKind, Courier, Order, Status};
use garson_core::platform::{
    CallError, CallRequest, HookReply, HttpRequest, HttpResponse, IntakeOutcome, Link, Outcome, Page,
    PlatformError, Success, Unreadable, Window,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::Duration;

/// What a seller without an integrator is called.
const SELF: &str = "SelfIntegration";
/// The acting user if the account names none. The platform requires an e-mail address; `.invalid` is a reserved domain.
const NOBODY: &str = "pos@garson.invalid";
/// How long the kitchen takes where neither the restaurant nor the package says.
const USUAL_MINUTES: u32 = 20;
/// The span over which the platform counts requests.
const RATE_WINDOW: Duration = Duration::from_secs(10);
/// How long another change of a store takes, and for how long it is waited for.
const CHANGE_PAUSE: Duration = Duration::from_secs(2);
const CHANGE_PATIENCE: Duration = Duration::from_secs(60);
const PAGE_SIZE: u32 = 50;
/// Every status: what the platform leaves out when none is asked for is not known.
const STATUSES: &str = "Created,Picking,Invoiced,Shipped,Delivered,Cancelled,UnSupplied";

/// The seller and the store that a link is for.
struct Whose<'a> {
    supplier: &'a str,
    store: &'a str,
}

fn whose<'a>(link: &Link<'a>) -> Result<Whose<'a>, PlatformError> {
    match link.branch.split_once(':') {
        Some((supplier, store)) if !supplier.is_empty() => Ok(Whose { supplier, store }),
        _ => Ok(Whose {
            supplier: link.credential(SUPPLIER_ID)?,
            store: link.branch.trim_start_matches(':'),
        }),
    }
}

/// The address of one of the platform's services for the seller.
pub fn address(link: &Link<'_>, service: &str, rest: &str) -> Result<String, PlatformError> {
    let supplier = segment(whose(link)?.supplier);
    Ok(format!(
        "{}/integrator/{service}/meal/suppliers/{supplier}/{rest}",
        link.base
    ))
}

/// Removes characters that a header must not contain.
fn header_text(value: &str) -> String {
    value.chars().filter(|c| matches!(c, ' '..='~')).collect()
}

/// Puts on a request who is calling; the platform refuses those who do not say.
pub fn signed(request: HttpRequest, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let supplier = whose(link)?.supplier;
    let pair = format!("{}:{}", link.credential(API_KEY)?, link.credential(API_SECRET)?);
    let integrator = link
        .credential(INTEGRATOR_NAME)
        .map(header_text)
        .ok()
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| SELF.to_owned());
    let request = header(
        request,
        "Authorization",
        &format!("Basic {}", BASE64.encode(pair)),
    );
    let agent = header_text(&format!("{supplier} - {integrator}"));
    let request = header(request, "User-Agent", &agent);
    let request = header(request, "x-agentname", &integrator);
    let person = link
        .credential(EXECUTOR_USER)
        .map(header_text)
        .ok()
        .filter(|person| !person.trim().is_empty())
        .unwrap_or_else(|| NOBODY.to_owned());
    Ok(header(request, "x-executor-user", &person))
}

/// Moves that the platform's own courier makes are not ours to tell; who picks up does not travel.
pub fn wants(call: CallKind, order: &Order) -> bool {
    match call {
        CallKind::Verify | CallKind::Cancel | CallKind::Ready => true,
        CallKind::Tell(Status::OnTheWay) => courier(order) == Some(Courier::Restaurant),
        CallKind::Tell(Status::Delivered) => {
            matches!(courier(order), Some(Courier::Restaurant | Courier::None))
        }
        CallKind::Tell(_) => false,
    }
}

/// The status that a package has after the call.
pub fn word_after(call: CallKind) -> Option<&'static str> {
    match call {
        CallKind::Verify => Some("Picking"),
        CallKind::Ready => Some("Invoiced"),
        CallKind::Tell(Status::OnTheWay) => Some("Shipped"),
        CallKind::Tell(Status::Delivered) => Some("Delivered"),
        CallKind::Cancel => Some("UnSupplied"),
        CallKind::Tell(_) => None,
    }
}

pub fn write(call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let order = call_request.order;
    if !wants(call_request.call, order) {
        return Err(PlatformError::Unsupported {
            what: PlatformTask::Step,
        });
    }
    let package_id = order.provider_order_id.as_str();
    let put = |rest: &str, body: &Value| {
        address(link, "order", &format!("packages/{rest}")).map(|url| with_json("PUT", url, body))
    };
    let one = |rest: &str| put(&format!("{}/{rest}", segment(package_id)), &json!({}));
    let (request, limit) = match call_request.call {
        CallKind::Verify => {
            let usual = CallData::of(order).and_then(|kept| kept.preparation_time);
            let minutes = call_request
                .preparation_minutes
                .or(usual)
                .filter(|minutes| *minutes > 0);
            let minutes = minutes.unwrap_or(USUAL_MINUTES);
            let body = json!({ "packageId": package_id, "preparationTime": minutes });
            (put("picked", &body)?, super::names::PICKED)
        }
        CallKind::Ready => (
            put("invoiced", &json!({ "packageId": package_id }))?,
            super::names::INVOICED,
        ),
        CallKind::Cancel => (
            put("unsupplied", &unsupplied(call_request)?)?,
            super::names::UNSUPPLIED,
        ),
        CallKind::Tell(Status::OnTheWay) => (one("manual-shipped")?, super::names::SHIPPED),
        CallKind::Tell(_) => (one("manual-delivered")?, super::names::DELIVERED),
    };
    signed(limited(request, limit), link)
}

/// The body that cancels a whole package: every piece of it, for one reason.
fn unsupplied(call_request: &CallRequest<'_>) -> Result<Value, PlatformError> {
    let order = call_request.order;
    let items: Vec<Cow<'_, str>> = CallData::of(order).map(|kept| kept.items).unwrap_or_default();
    if items.is_empty() {
        return Err(PlatformError::MissingData {
            what: MissingData::PackageItems,
        });
    }
    let usual = || fixed_reasons(Some(order)).into_iter().next();
    let reason = call_request.reason.cloned().or_else(usual);
    let reason_id: u32 =
        reason
            .and_then(|reason| wire::whole(&reason.id))
            .ok_or(PlatformError::MissingData {
                what: MissingData::ReasonNumber,
            })?;
    Ok(json!({
        "packageId": order.provider_order_id,
        "itemIdList": items,
        "reasonId": reason_id,
    }))
}

pub fn outcome(call: CallKind, response: &HttpResponse) -> Outcome {
    let message = said(response);
    match (response.status, call) {
        // Packages of the Uber model become ready by themselves.
        (409, CallKind::Ready) => Ok(Success::Already),
        (429, _) => Err(enough(message)),
        // 409: another change of the package is in progress, or an earlier step is missing; the package shows which.
        _ => of_call(response, message),
    }
}

/// The outcome of a command that is not about a package. 409 is another change of the store at the same time.
pub fn command(response: &HttpResponse) -> Result<(), CallError> {
    let message = said(response);
    match response.status {
        409 => Err(CallError::NotYet {
            message,
            pause: CHANGE_PAUSE,
            patience: CHANGE_PATIENCE,
        }),
        429 => Err(enough(message)),
        _ => by_status(response, message).map(|_| ()),
    }
}

fn enough(message: Explanation) -> CallError {
    CallError::Later {
        message,
        pause: Some(RATE_WINDOW),
    }
}

/// The platform's words: `errors[].message`, `message` or `exception`, whichever it chose.
pub fn said(response: &HttpResponse) -> Explanation {
    let body: Value = match response.status {
        200..=299 => Value::Null,
        _ => serde_json::from_slice(&response.body).unwrap_or_default(),
    };
    let of = |value: &Value| value.as_str().map(str::to_owned);
    let listed: Vec<String> = body
        .get("errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|error| error.get("message").and_then(of).or_else(|| of(error)))
        .collect();
    let found = if listed.is_empty() {
        ["message", "exception"]
            .iter()
            .find_map(|name| body.get(name).and_then(of))
    } else {
        Some(listed.join("; "))
    };
    words(response, found.as_deref())
}

/// The trouble with an answer to a question; nothing when it can be read.
pub fn answered(response: &HttpResponse) -> Result<(), CallError> {
    match response.status {
        429 => Err(enough(said(response))),
        _ => must_succeed(response, said(response)),
    }
}

/// An answer that should have been JSON of a shape and is not; asking again may help.
pub fn unreadable(found: &Unreadable) -> CallError {
    CallError::later(PlatformFailure::FieldUnreadable {
        path: found.path.clone(),
        error: found.message.clone(),
    })
}

pub fn look(order: &Order, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let id = segment(&order.provider_order_id);
    let url = address(link, "order", &format!("packages/{id}"))?;
    signed(limited(request("GET", url), super::names::PACKAGE), link)
}

pub fn looked(response: &HttpResponse) -> Result<Vec<u8>, CallError> {
    answered(response)?;
    let found: wire::Looked<'_> = parse(&response.body).map_err(|found| unreadable(&found))?;
    match (found.id, found.content.first()) {
        (Some(_), _) => Ok(response.body.clone()),
        (None, Some(package)) => Ok(package.get().as_bytes().to_vec()),
        (None, None) => Err(CallError::refused(PlatformFailure::NoPackageInAnswer)),
    }
}

pub fn poll(link: &Link<'_>, window: &Window, page: u32) -> Result<HttpRequest, PlatformError> {
    let store = segment(store(link)?);
    let (from, to) = (window.from.as_millis(), window.to.as_millis());
    let query = format!(
        "packages?storeId={store}&packageStatuses={STATUSES}&packageModificationStartDate={from}\
         &packageModificationEndDate={to}&page={page}&size={PAGE_SIZE}"
    );
    let url = address(link, "order", &query)?;
    signed(limited(request("GET", url), super::names::PACKAGES), link)
}

pub fn store<'a>(link: &Link<'a>) -> Result<&'a str, PlatformError> {
    let store = whose(link)?.store;
    if store.is_empty() {
        Err(PlatformError::MissingCredential { name: "remoteId" })
    } else {
        Ok(store)
    }
}

pub fn polled(page: u32, response: &HttpResponse) -> Result<Page, CallError> {
    answered(response)?;
    let found: wire::Page<'_> = parse(&response.body).map_err(|found| unreadable(&found))?;
    let count = found.content.len();
    let more = match found.total_pages {
        Some(pages) => page.saturating_add(1) < pages,
        // Asked for one page too many, which is empty, rather than for one too few.
        None => true,
    };
    Ok(Page {
        // An empty page is the last one, even if it claims otherwise.
        more: more && count > 0,
        orders: found
            .content
            .iter()
            .map(|order| order.get().as_bytes().to_vec())
            .collect(),
    })
}

pub fn menu(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let store = segment(store(link)?);
    let url = address(link, "product", &format!("stores/{store}/products"))?;
    signed(limited(request("GET", url), super::names::PRODUCTS), link)
}

/// The platform asks for nothing but a status; it tries again, a few times, when that is not a success.
pub fn reply(reception: &IntakeOutcome) -> HookReply {
    let answer = |status, message: &str| HookReply {
        status,
        body: json!({ "message": message }),
    };
    match reception {
        IntakeOutcome::Taken { .. } | IntakeOutcome::Noted | IntakeOutcome::Conflict { .. } => {
            answer(200, "taken")
        }
        IntakeOutcome::UnknownBranch { branch } => answer(500, &format!("no integration for {branch}")),
        IntakeOutcome::UnknownOrder { identity } => answer(500, &format!("no package {identity}")),
        IntakeOutcome::Unreadable(found) => answer(500, &format!("{} {}", found.path, found.message)),
        IntakeOutcome::NotGenuine => answer(401, "the registered headers are missing or wrong"),
    }
}
