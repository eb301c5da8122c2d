//! Interprets Migros' responses, and replies to its messages.

use super::cipher::Key;
use super::wire::{Complaint, Envelope, Orders, Reason as WireReason, Sealed, text};
use super::write::PAGE;
use crate::common::answer::{by_status, must_succeed, refusal, words};
use crate::common::soft::objects;
use crate::common::text::{MAX_NAME, keep, keep_some};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::Reason;
use garson_core::platform::{
    CallError, HookReply, HttpResponse, IntakeOutcome, Link, Outcome, Page, Success,
};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The code, or the status, of what is so already.
const ALREADY: u16 = 409;

/// An answer that could be read: does it agree, what does it complain of, and what does it carry?
struct Opened {
    success: Option<bool>,
    code: Option<String>,
    complaint: Option<String>,
    /// Apart, because who asks for nothing does not mind what cannot be read.
    data: Result<Vec<u8>, String>,
}

impl Opened {
    /// Does it say no, or complain without saying yes?
    fn is_refusal(&self) -> bool {
        let complains = || self.code.is_some() || self.complaint.is_some();
        self.success.map_or_else(complains, |success| !success)
    }
}

fn opened(link: &Link<'_>, body: &[u8]) -> Result<Opened, String> {
    let envelope = envelope(body)?;
    match &envelope.value {
        Some(value) if envelope.success.is_none() && envelope.data.is_none() => {
            let body = decrypted(link, &value.0)?;
            Ok(contents(link, &self::envelope(&body)?))
        }
        _ => Ok(contents(link, &envelope)),
    }
}

fn envelope(body: &[u8]) -> Result<Envelope<'_>, String> {
    // A derived reader takes a list for an object.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err("not an object".to_owned());
    }
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

fn contents(link: &Link<'_>, envelope: &Envelope<'_>) -> Opened {
    let (code, complaint) = envelope
        .error_message
        .map_or((None, None), |raw| complaint(raw.get()));
    let raw = envelope.data.map_or("null", RawValue::get);
    Opened {
        success: envelope.success,
        code,
        complaint,
        data: plain(link, raw).map(Cow::into_owned),
    }
}

/// `data` comes plain, as an encrypted text, or as an object around one.
fn plain<'a>(link: &Link<'_>, raw: &'a str) -> Result<Cow<'a, [u8]>, String> {
    let sealed: Option<Cow<'_, str>> = match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw).ok().map(Cow::Owned),
        Some(b'{') => serde_json::from_str::<Sealed<'_>>(raw)
            .ok()
            .map(|sealed| sealed.value.0),
        _ => None,
    };
    match sealed {
        Some(value) => decrypted(link, &value).map(Cow::Owned),
        None => Ok(Cow::Borrowed(raw.as_bytes())),
    }
}

fn decrypted(link: &Link<'_>, value: &str) -> Result<Vec<u8>, String> {
    let key = Key::of(link).map_err(|error| error.to_string())?;
    key.open(value)
        .ok_or_else(|| "not encrypted with this secretKey and keyDerivation".to_owned())
}

/// The code and the words of a complaint, which is an object or just words.
fn complaint(raw: &str) -> (Option<String>, Option<String>) {
    if !raw.starts_with('{') {
        let said: Option<String> = serde_json::from_str(raw).ok();
        return (None, said.filter(|said| !said.trim().is_empty()));
    }
    let Ok(complaint) = serde_json::from_str::<Complaint<'_>>(raw) else {
        return (None, Some(raw.to_owned()));
    };
    let code = complaint
        .error_code
        .as_ref()
        .and_then(|code| keep(&code.0, MAX_NAME));
    let parts: Vec<&str> = [text(&complaint.error_title), text(&complaint.error_detail)]
        .into_iter()
        .flatten()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let said = parts.join(": ");
    let said = match (said.is_empty(), &code) {
        (false, Some(code)) => Some(format!("{said} ({code})")),
        (false, None) => Some(said),
        (true, code) => code.clone(),
    };
    (code, said)
}

/// The outcome of a command that is not about an order; what is so already is fine.
pub fn command(link: &Link<'_>, response: &HttpResponse) -> Result<(), CallError> {
    outcome(link, response).map(|_| ())
}

/// What the answer to a call means.
pub fn outcome(link: &Link<'_>, response: &HttpResponse) -> Outcome {
    let is_fine = (200..300).contains(&response.status);
    let opened = opened(link, &response.body);
    let said = opened
        .as_ref()
        .ok()
        .and_then(|opened| opened.complaint.as_deref());
    let message = words(response, said);
    match &opened {
        _ if response.status == ALREADY => Ok(Success::Already),
        Ok(opened) if is_fine && opened.is_refusal() => match opened.code.as_deref() {
            Some("409") => Ok(Success::Already),
            code => Err(match code.and_then(|code| code.parse().ok()) {
                Some(status @ 400..=499) => refusal(status, message),
                Some(500..=599) => CallError::Unclear { message },
                _ => CallError::Refused { message },
            }),
        },
        // A page of a proxy in between is not a confirmation.
        Err(_) if is_fine && !response.body.trim_ascii().is_empty() => Err(CallError::Unclear { message }),
        _ => by_status(response, message),
    }
}

/// What an answer carries, as plain JSON.
pub fn data(link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, CallError> {
    data_or(link, response, CallError::refused)
}

/// The same; `unknown` is the result if there is none and the reason is unknown.
fn data_or(
    link: &Link<'_>,
    response: &HttpResponse,
    unknown: fn(Explanation) -> CallError,
) -> Result<Vec<u8>, CallError> {
    let opened = opened(link, &response.body);
    let said = opened
        .as_ref()
        .ok()
        .and_then(|opened| opened.complaint.as_deref());
    let message = words(response, said);
    must_succeed(response, message.clone())?;
    match opened {
        Ok(opened) if opened.is_refusal() => Err(unread(opened.code.as_deref(), message, unknown)),
        Ok(opened) => opened.data.map_err(|fault| unreadable(response, &fault)),
        Err(fault) => Err(unreadable(response, &fault)),
    }
}

/// What the code of an envelope without success says of what was to be read.
fn unread(code: Option<&str>, message: Explanation, unknown: fn(Explanation) -> CallError) -> CallError {
    let code = code.unwrap_or_default();
    match code.parse() {
        Ok(408 | 425 | 429 | 500..=599) => CallError::later(message),
        Ok(status @ 400..=499) => refusal(status, message),
        Err(_) if is_not_found(code) => refusal(404, message),
        _ => unknown(message),
    }
}

/// Codes may be words: `OrderNotFound`, `ORDER_NOT_FOUND`.
fn is_not_found(code: &str) -> bool {
    let letters = code.chars().filter(char::is_ascii_alphabetic);
    let plain: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    plain.contains("notfound")
}

/// The trouble with an answer that is not what was asked for; the next may be.
pub fn unreadable(response: &HttpResponse, fault: &str) -> CallError {
    CallError::later(Explanation::AnsweredUnreadable {
        status: response.status,
        error: fault.to_owned(),
    })
}

pub fn parsed<'a, T: Deserialize<'a>>(response: &HttpResponse, data: &'a [u8]) -> Result<T, CallError> {
    crate::common::parse(data)
        .map_err(|found| unreadable(response, &format!("{} {}", found.path, found.message)))
}

pub fn looked(link: &Link<'_>, response: &HttpResponse) -> Result<Vec<u8>, CallError> {
    // What follows from a refusal is final, and reading once more does no harm.
    let data = data_or(link, response, CallError::later)?;
    match data.trim_ascii_start().first() {
        Some(b'{') => Ok(data),
        Some(b'n') | None => Err(CallError::refused(PlatformFailure::NoOrderInAnswer)),
        Some(_) => Err(unreadable(response, "data is not an order")),
    }
}

/// A list of orders, or the same below `orders`, for all or for each store.
pub fn polled(link: &Link<'_>, page: u32, response: &HttpResponse) -> Result<Page, CallError> {
    let data = data(link, response)?;
    let listed: Vec<&RawValue> = match data.trim_ascii_start().first() {
        Some(b'n') | None => Vec::new(),
        Some(b'{') => parsed::<Orders<'_>>(response, &data)?.orders,
        Some(_) => parsed(response, &data)?,
    };
    let mut orders = Vec::with_capacity(listed.len());
    for raw in listed {
        match serde_json::from_str::<Orders<'_>>(raw.get()) {
            Ok(store) if raw.get().starts_with('{') => {
                orders.extend(store.orders.iter().map(|order| order.get().as_bytes().to_vec()));
            }
            _ => orders.push(raw.get().as_bytes().to_vec()),
        }
    }
    let is_full = orders.len() >= PAGE;
    Ok(Page {
        orders,
        more: page.is_multiple_of(2) || is_full,
    })
}

pub fn read_reasons(link: &Link<'_>, response: &HttpResponse) -> Result<Vec<Reason>, CallError> {
    let data = data(link, response)?;
    let listed: Vec<&RawValue> = parsed(response, &data)?;
    let reasons: Vec<WireReason<'_>> = objects(&listed);
    let one = |wire: WireReason<'_>| {
        let id = keep(&wire.reason_id.0, MAX_NAME)?;
        let name = keep_some(text(&wire.description), MAX_NAME).unwrap_or_else(|| id.clone());
        Some(Reason { id, name })
    };
    Ok(reasons.into_iter().filter_map(one).collect())
}

/// Our answers in the platform's own envelope. What may yet be understood or matched is a 500, so that it comes again.
pub fn reply(reception: &IntakeOutcome, request_id: &str) -> HookReply {
    let refuse = |status, title: &str, detail: String| HookReply {
        status,
        body: json!({
            "success": false,
            "data": null,
            "errorMessage": { "errorCode": title, "errorTitle": title, "errorDetail": detail },
            "requestId": request_id,
        }),
    };
    match reception {
        IntakeOutcome::Taken { .. } | IntakeOutcome::Noted => HookReply {
            status: 200,
            body: json!({ "success": true, "data": null, "errorMessage": null }),
        },
        IntakeOutcome::Conflict { .. } => {
            refuse(409, "conflict", "The id is known with other content.".to_owned())
        }
        IntakeOutcome::UnknownBranch { branch } => refuse(
            500,
            "unknown_store",
            format!("No restaurant has the store {branch}."),
        ),
        IntakeOutcome::UnknownOrder { identity } => refuse(
            500,
            "unknown_order",
            format!("The order {identity} has not arrived."),
        ),
        IntakeOutcome::Unreadable(found) => {
            refuse(500, "unreadable", format!("{} {}", found.path, found.message))
        }
        IntakeOutcome::NotGenuine => refuse(
            401,
            "unauthorized",
            "The user or the password is wrong.".to_owned(),
        ),
    }
}
