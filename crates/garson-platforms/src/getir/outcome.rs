//! Interprets Getir's responses: its own codes first, then the HTTP status.

use super::wire::{Answer, CancelOption, Login, Text, text};
use crate::common::answer::{must_succeed, of_call, words};
use crate::common::flag::Flag;
use crate::common::soft::objects;
use crate::common::text::{MAX_ID, MAX_NAME, keep_some};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::{CallKind, Reason, Status};
use garson_core::platform::{CallError, HttpResponse, Outcome, Page, RefusalCause, Session, Success};
use garson_core::secret::Secret;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// A token lives for an hour; a call that has begun should not lose it on the way.
const SESSION: Duration = Duration::from_secs(55 * 60);

/// How long Getir blocks those who ask too often.
pub const BLOCK: Duration = Duration::from_secs(20);
pub const CONFIG_BLOCK: Duration = Duration::from_secs(30);
const CANCEL_OPTIONS_BLOCK: Duration = Duration::from_secs(60);

pub fn outcome(call: CallKind, response: &HttpResponse) -> Outcome {
    let (code, message) = explain(response);
    match (response.status, code) {
        (401, _) | (_, None) => by_answer(response, message),
        (status, Some(code)) => by_code(call, code, &message).unwrap_or_else(|| match status {
            // A success that carries a failure is none.
            200..=299 => Err(CallError::refused(message)),
            _ => by_answer(response, message),
        }),
    }
}

/// The outcome of a command that is not about an order; `block` is for how long Getir blocks those who send it too often.
pub fn command(response: &HttpResponse, block: Duration) -> Result<(), CallError> {
    if response.status == 429 {
        return Err(blocked(explain(response).1, block));
    }
    outcome(CallKind::Ready, response).map(|_| ())
}

/// The code of an answer that carries one, and its words.
fn explain(response: &HttpResponse) -> (Option<i64>, Explanation) {
    // A derived reader takes a list for an object.
    let is_object = response.body.trim_ascii_start().starts_with(b"{");
    let answer: Option<Answer<'_>> = is_object
        .then(|| serde_json::from_slice(&response.body).ok())
        .flatten();
    let answer = answer.unwrap_or_default();
    let said = answer.message.as_ref().and_then(|message| message.said());
    let error = text(&answer.error).filter(|error| !error.trim().is_empty());
    let code = answer.code.map(|raw| {
        let text: Option<Text<'_>> = serde_json::from_str(raw.get()).ok();
        text.and_then(|code| code.0.parse().ok()).unwrap_or(PLAIN_NO)
    });
    let code = match answer.result {
        Some(Flag(true)) => None,
        Some(Flag(false)) => Some(code.unwrap_or(PLAIN_NO)),
        None => code.filter(|code| *code != 0).or_else(|| error.map(|_| PLAIN_NO)),
    };
    (code, words(response, said.or(error)))
}

/// No code of Getir's: the answer says no, or names an error, without one that can be read.
const PLAIN_NO: i64 = i64::MIN;

fn by_code(call: CallKind, code: i64, message: &Explanation) -> Option<Outcome> {
    let refused = Err(CallError::refused(message.clone()));
    let not_yet = |pause, patience| {
        Err(CallError::NotYet {
            message: message.clone(),
            pause: Duration::from_secs(pause),
            patience: Duration::from_secs(patience),
        })
    };
    Some(match code {
        // Already verified, already cancelled.
        2 if call == CallKind::Verify => Ok(Success::Already),
        13 if call == CallKind::Cancel => Ok(Success::Already),
        // Another request for the order is in progress.
        4 => not_yet(3, 60),
        // Too early: Getir requires a minute between two steps, by its own clock.
        62 | 74 => not_yet(15, 180),
        // No courier is there yet whom it could be handed to.
        14 | 15 | 61 | 71 if call == CallKind::Tell(Status::OnTheWay) => not_yet(60, 1_800),
        // Not there; perhaps not yet.
        1 => Err(CallError::retryable(message.clone(), RefusalCause::Other)),
        // Not as it should be, not to be cancelled, closed, no reason, not activated, transferred.
        -2 | 2 | 3 | 11 | 13 | 14 | 15 | 38 | 59 | 61 | 71 | 73 | 79..=94 => refused,
        // An unknown error may have come before or after the work.
        -1 => Err(CallError::unclear(message.clone())),
        _ => return None,
    })
}

fn by_answer(response: &HttpResponse, message: Explanation) -> Outcome {
    match response.status {
        401 | 403 => Err(CallError::SessionOver),
        429 => Err(blocked(message, BLOCK)),
        _ => of_call(response, message),
    }
}

fn blocked(message: Explanation, pause: Duration) -> CallError {
    CallError::Later {
        message,
        pause: Some(pause),
    }
}

/// The value in an answer to a question, which can be asked again without harm.
pub fn value<'a, T: Deserialize<'a>>(response: &'a HttpResponse, block: Duration) -> Result<T, CallError> {
    let said = || explain(response).1;
    match response.status {
        401 | 403 => return Err(CallError::SessionOver),
        429 => return Err(blocked(said(), block)),
        200..=299 => {}
        _ if explain(response).0 == Some(-1) => return Err(CallError::later(said())),
        _ => must_succeed(response, said())?,
    }
    serde_json::from_slice(&response.body).map_err(|error| {
        let unreadable = || {
            CallError::later(Explanation::AnsweredUnreadable {
                status: response.status,
                error: error.to_string(),
            })
        };
        instead(response, CallError::refused).unwrap_or_else(unreadable)
    })
}

/// What a success says that carries a failure instead of what was asked for; nothing when it carries no code. `unknown` is what a
/// code means that is not known.
pub fn instead(response: &HttpResponse, unknown: fn(Explanation) -> CallError) -> Option<CallError> {
    let (code, message) = explain(response);
    Some(match by_code(CallKind::Ready, code?, &message) {
        None => unknown(message),
        Some(Err(trouble @ (CallError::Refused { .. } | CallError::RetryableRefusal { .. }))) => trouble,
        // Nothing was to be done, so that asking again does no harm.
        Some(_) => CallError::later(message),
    })
}

pub fn session(response: &HttpResponse) -> Result<Session, CallError> {
    // Keys that are wrong are no session that is over: logging in again would not help.
    if matches!(response.status, 401 | 403) {
        return Err(CallError::refused(explain(response).1));
    }
    let login: Login<'_> = value(response, BLOCK)?;
    let token = text(&login.token)
        .map(str::trim)
        .filter(|token| !token.is_empty());
    let nothing = || CallError::later(PlatformFailure::NoToken);
    let token = token.ok_or_else(|| instead(response, CallError::refused).unwrap_or_else(nothing))?;
    Ok(Session {
        token: Secret::new(token.to_owned()),
        lasts: SESSION,
        branch: text(&login.restaurant_id).map(|id| id.trim().to_owned()),
    })
}

pub fn looked(response: &HttpResponse) -> Result<Vec<u8>, CallError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        #[serde(borrow)]
        food_order: Option<&'a RawValue>,
    }
    let shown: Shown<'_> = value(response, BLOCK)?;
    match (shown.food_order, shown.id) {
        (Some(order), _) => Ok(order.get().as_bytes().to_vec()),
        (None, Some(_)) => Ok(response.body.clone()),
        // What follows from a refusal is final, so a code that is not known is none.
        (None, None) => {
            Err(instead(response, CallError::later)
                .unwrap_or_else(|| CallError::refused(explain(response).1)))
        }
    }
}

pub fn polled(page: u32, response: &HttpResponse) -> Result<Page, CallError> {
    let orders: Vec<&RawValue> = value(response, BLOCK)?;
    Ok(Page {
        orders: orders
            .into_iter()
            .map(|order| order.get().as_bytes().to_vec())
            .collect(),
        // The cancelled ones come after the open ones.
        more: page == 0,
    })
}

pub fn read_reasons(response: &HttpResponse) -> Result<Vec<Reason>, CallError> {
    let listed: Vec<&RawValue> = value(response, CANCEL_OPTIONS_BLOCK)?;
    let options: Vec<CancelOption<'_>> = objects(&listed);
    let reason = |option: CancelOption<'_>| {
        let id = keep_some(text(&option.id), MAX_ID)?;
        let said = option.message.as_ref().and_then(|message| message.said());
        let name = keep_some(said, MAX_NAME).unwrap_or_else(|| id.clone());
        Some(Reason { id, name })
    };
    Ok(options.into_iter().filter_map(reason).collect())
}
