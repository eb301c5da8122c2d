//! Interprets the platform's responses.

use super::soft::Text;
use super::wire;
use crate::common::answer::{must_succeed, of_call, words};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::{CallKind, Status};
use garson_core::platform::{CallError, HttpResponse, Outcome, Page, Session, Success};
use garson_core::secret::Secret;
use std::time::Duration;

/// States in which an order has not reached us yet as far as the platform knows; it asks for patience then.
const NOT_HERE_YET: [&str; 2] = ["ASSIGNED_TO_TRANSPORT", "WAITING_FOR_ACKNOWLEDGEMENT"];
const PAUSE: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a session lasts where the platform does not say, and at most.
const USUAL_SESSION: i64 = 1_800;
const LONGEST_SESSION: i64 = 86_400;

pub fn outcome(call: CallKind, response: &HttpResponse) -> Outcome {
    let refusal = refusal(response);
    if is_session_over(response, &refusal) {
        return Err(CallError::SessionOver);
    }
    let message = said(response, &refusal);
    if matches!(response.status, 400 | 409) {
        let state = state(&refusal);
        if NOT_HERE_YET.contains(&state.as_str()) {
            return Err(CallError::NotYet {
                message,
                pause: PAUSE,
                patience: PATIENCE,
            });
        }
        if is_done(call, &state) {
            return Ok(Success::Already);
        }
        // It has named the state that does not allow it, and asks not to be asked again.
        if !state.is_empty() {
            return Err(CallError::Refused { message });
        }
    }
    of_call(response, message)
}

/// The outcome of a command that is not about an order.
pub fn command(response: &HttpResponse) -> Result<(), CallError> {
    let refusal = refusal(response);
    if is_session_over(response, &refusal) {
        return Err(CallError::SessionOver);
    }
    of_call(response, said(response, &refusal)).map(|_| ())
}

/// The trouble with an answer to a question; nothing when it can be read.
pub fn question(response: &HttpResponse) -> Result<(), CallError> {
    let refusal = refusal(response);
    if is_session_over(response, &refusal) {
        return Err(CallError::SessionOver);
    }
    must_succeed(response, said(response, &refusal))
}

fn refusal(response: &HttpResponse) -> wire::Refusal<'_> {
    match response.status {
        200..=299 => wire::Refusal::default(),
        _ => serde_json::from_slice(&response.body).unwrap_or_default(),
    }
}

fn said(response: &HttpResponse, refusal: &wire::Refusal<'_>) -> Explanation {
    let text = |value: &Option<Text<'_>>| value.as_ref().map(|text| text.as_str().trim().to_owned());
    let parts = [
        text(&refusal.code),
        text(&refusal.message),
        text(&refusal.current_state),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    words(response, Some(&parts.join(": ")))
}

/// 403 with its code is about the chain, not about the session.
fn is_session_over(response: &HttpResponse, refusal: &wire::Refusal<'_>) -> bool {
    let names_chain = refusal
        .code
        .as_ref()
        .is_some_and(|code| code.as_str() == "FORBIDDEN");
    response.status == 401 || (response.status == 403 && !names_chain)
}

/// The state that the order is in: as the answer gives it, or as its words say (`already accepted`).
fn state(refusal: &wire::Refusal<'_>) -> String {
    let given = refusal.current_state.as_ref().map(|state| plain(state.as_str()));
    let told = refusal.message.as_ref().map(|message| plain(message.as_str()));
    let told = told
        .as_deref()
        .and_then(|told| told.split_once("ALREADY_"))
        .map(|(_, rest)| rest);
    let state = given
        .as_deref()
        .filter(|state| !state.is_empty())
        .or(told)
        .unwrap_or_default();
    state.strip_prefix("ORDER_").unwrap_or(state).to_owned()
}

fn plain(text: &str) -> String {
    text.trim()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect()
}

fn is_done(call: CallKind, state: &str) -> bool {
    let is = |states: &[&str]| states.iter().any(|known| state.starts_with(known));
    let left = is(&["PICKED_UP", "DELIVERED"]);
    let prepared = left || is(&["PREPARED", "PREPARATION_COMPLETED", "READY_FOR_PICKUP"]);
    match call {
        CallKind::Verify => prepared || is(&["ACCEPTED"]),
        CallKind::Ready => prepared,
        CallKind::Tell(Status::OnTheWay) => left,
        CallKind::Cancel => is(&["CANCELLED", "CANCELED", "REJECTED"]),
        CallKind::Tell(_) => false,
    }
}

pub fn session(response: &HttpResponse) -> Result<Session, CallError> {
    must_succeed(response, said(response, &refusal(response)))?;
    let nothing = || CallError::later(PlatformFailure::NoSessionInAnswer);
    let login: wire::Login<'_> = serde_json::from_slice(&response.body).map_err(|_| nothing())?;
    let token = login.access_token.as_str();
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(nothing());
    }
    let seconds = login.expires_in.map_or(USUAL_SESSION, |count| count.0);
    Ok(Session {
        token: Secret::new(token.to_owned()),
        lasts: Duration::from_secs(seconds.clamp(0, LONGEST_SESSION).unsigned_abs()),
        branch: None,
    })
}

pub fn cancelled_ids(response: &HttpResponse) -> Result<Page, CallError> {
    let refusal = refusal(response);
    if is_session_over(response, &refusal) {
        return Err(CallError::SessionOver);
    }
    must_succeed(response, said(response, &refusal))?;
    let listed: wire::OrderIds<'_> = serde_json::from_slice(&response.body).map_err(|error| {
        CallError::later(PlatformFailure::OrderListMissing {
            error: error.to_string(),
        })
    })?;
    let ids = listed.order_identifiers.into_iter().filter_map(|raw| {
        let id: Text<'_> = serde_json::from_str(raw.get()).ok()?;
        Some(id.as_str().trim().as_bytes().to_vec())
    });
    Ok(Page {
        orders: ids.collect(),
        more: false,
    })
}

pub fn looked(response: &HttpResponse) -> Result<Vec<u8>, CallError> {
    let refusal = refusal(response);
    if is_session_over(response, &refusal) {
        return Err(CallError::SessionOver);
    }
    must_succeed(response, said(response, &refusal))?;
    let details: wire::Details<'_> = serde_json::from_slice(&response.body).map_err(|error| {
        CallError::later(PlatformFailure::OrderMissing {
            error: error.to_string(),
        })
    })?;
    Ok(details.order.get().as_bytes().to_vec())
}
