//! Opening and closing the restaurant, busy mode, and reads of its state.

use super::names::{CLOSED_STATUS, OPEN_STATUS, UNANSWERED_SOURCE};
use super::outcome::{CONFIG_BLOCK, command, instead, value};
use super::wire::store::Restaurant;
use super::write::{self, BUSYNESS, RESTAURANT, STATUS};
use crate::common::flag::is_set;
use crate::common::request::{limited, request, with_json};
use crate::common::steps::{series, setting, single};
use crate::common::text::{MAX_NAME, keep};
use garson_core::explanation::PlatformTask;
use garson_core::platform::{
    CallError, ClosingDurations, HttpRequest, HttpResponse, Link, PlatformError, Step, StoreSupport,
};
use garson_core::store_status::{
    ClosingTimer, ReasonCode, Reopening, StoreActor, StoreChange, StoreChanged, StoreReading, StoreReason,
    StoreState, StoreTarget, closing_timer,
};
use garson_core::time::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// The lengths of a closing, and the minutes of busy mode.
const MINUTES: &[u32] = &[15, 30, 45];

pub const SUPPORT: StoreSupport = StoreSupport {
    durations: ClosingDurations::Minutes(MINUTES),
    until_next_opening: false,
    reasons: &[],
    busy_minutes: MINUTES,
    shows_busy: false,
    closes_by_itself: true,
};

pub fn read_store(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<StoreReading>, PlatformError> {
    let ask = || {
        let plain = request("GET", format!("{}/restaurants", link.base));
        Ok(limited(write::with_token(plain, link)?, RESTAURANT))
    };
    single(ask, answers, |answer| read(link, answer))
}

fn read(link: &Link<'_>, answer: &HttpResponse) -> Result<StoreReading, CallError> {
    let restaurant: Restaurant<'_> = value(answer, CONFIG_BLOCK)?;
    // A successful response may contain an error instead.
    if restaurant.status.is_none()
        && let Some(trouble) = instead(answer, CallError::refused)
    {
        return Err(trouble);
    }
    let word = restaurant.status.as_ref().map(|status| &*status.0);
    let state = word.map_or(StoreState::Unknown, |word| state_of(link, word));
    let mut reading = StoreReading::of(state);
    reading.word = word.and_then(|word| keep(word, MAX_NAME));
    if state == StoreState::Closed {
        let source = restaurant.closed_source.as_ref().map(|source| &*source.0);
        reading.reason = source.and_then(|source| reason_of(link, source));
        reading.by = Some(if is_set(restaurant.is_status_changed_by_user) {
            StoreActor::Account
        } else {
            StoreActor::Platform
        });
    }
    Ok(reading)
}

/// Getir does not publish what its numbers mean: they are settings.
fn state_of(link: &Link<'_>, word: &str) -> StoreState {
    let is = |name, usual| {
        let mut numbers = setting(link, name).unwrap_or(usual).split(',');
        numbers.any(|number| number.trim() == word.trim())
    };
    if is(OPEN_STATUS, "100") {
        StoreState::Open
    } else if is(CLOSED_STATUS, "200") {
        StoreState::Closed
    } else {
        StoreState::Unknown
    }
}

fn reason_of(link: &Link<'_>, source: &str) -> Option<StoreReason> {
    let source = keep(source, MAX_NAME).filter(|source| source != "0")?;
    let is_unanswered = setting(link, UNANSWERED_SOURCE) == Some(source.as_str());
    Some(StoreReason {
        code: if is_unanswered {
            ReasonCode::OrderNotAnswered
        } else {
            ReasonCode::Unknown
        },
        word: Some(format!("closedSource {source}")),
    })
}

pub fn change_store(
    change: &StoreChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<StoreChanged>, PlatformError> {
    let (requests, result) = match &change.to {
        StoreTarget::Open => (opening(change, link)?, StoreChanged::LASTING),
        StoreTarget::Busy { minutes } => (busy(change, *minutes, link)?, StoreChanged::LASTING),
        StoreTarget::Closed { end, .. } => {
            let (minutes, result) = closing(end.at(), change.now);
            (vec![close(minutes, link)?], result)
        }
    };
    series(requests, answers, |answer| command(answer, CONFIG_BLOCK), result)
}

/// Busy mode survives a closing, so it is ended whenever it may be on.
fn opening(change: &StoreChange, link: &Link<'_>) -> Result<Vec<HttpRequest>, PlatformError> {
    let mut requests = Vec::new();
    if !(change.busy_is_set && change.from.takes_orders()) {
        requests.push(put(link, "status/open", None, STATUS)?);
    }
    if change.busy_is_set {
        requests.push(busyness(link, &json!({ "isBusy": false }))?);
    }
    Ok(requests)
}

fn busy(change: &StoreChange, minutes: u32, link: &Link<'_>) -> Result<Vec<HttpRequest>, PlatformError> {
    if !MINUTES.contains(&minutes) {
        return Err(PlatformError::Unsupported {
            what: PlatformTask::BusyMode,
        });
    }
    let mut requests = Vec::new();
    if !change.from.takes_orders() {
        requests.push(put(link, "status/open", None, STATUS)?);
    }
    let body = json!({ "isBusy": true, "busynessDifferenceDuration": minutes });
    requests.push(busyness(link, &body)?);
    Ok(requests)
}

/// The length to request, and what opens the store again.
fn closing(until: Option<Timestamp>, now: Timestamp) -> (Option<u32>, StoreChanged) {
    let Some(until) = until else {
        return (None, StoreChanged::LASTING);
    };
    let ends = |minutes: u32| Some(now.plus(Duration::from_secs(u64::from(minutes) * 60)));
    let (minutes, reopening) = match closing_timer(MINUTES, now, until) {
        ClosingTimer::Exact(minutes) => (Some(minutes), Reopening::Platform),
        ClosingTimer::Longer(minutes) => (Some(minutes), Reopening::Ours),
        ClosingTimer::None => (None, Reopening::Ours),
    };
    let result = StoreChanged {
        reopening,
        platform_until: minutes.and_then(ends),
    };
    (minutes, result)
}

fn close(minutes: Option<u32>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let body = minutes.map(|minutes| json!({ "timeOffAmount": minutes }));
    put(
        link,
        "status/close",
        Some(&body.unwrap_or_else(|| json!({}))),
        STATUS,
    )
}

fn busyness(link: &Link<'_>, body: &Value) -> Result<HttpRequest, PlatformError> {
    put(link, "delivery-duration/busyness", Some(body), BUSYNESS)
}

fn put(
    link: &Link<'_>,
    path: &str,
    body: Option<&Value>,
    limit: &'static str,
) -> Result<HttpRequest, PlatformError> {
    let url = format!("{}/restaurants/{path}", link.base);
    let plain = match body {
        Some(body) => with_json("PUT", url, body),
        None => request("PUT", url),
    };
    Ok(limited(write::with_token(plain, link)?, limit))
}
