//! Opening and closing the restaurant. The state is read first, because it lists what may be changed; that may take a while.

use super::names::{CHAIN_CODE, PLATFORM_KEY};
use super::outcome::{command, question};
use super::soft::{Text, text};
use super::store_reasons::{reason_of, word_of};
use super::wire::store::Vendor;
use super::write::authorized;
use crate::common::flag::is_set;
use crate::common::number::Count;
use crate::common::request::{request, segment, with_json};
use crate::common::soft::objects;
use crate::common::steps::setting;
use crate::common::text::{MAX_NAME, keep_some};
use garson_core::explanation::{Explanation, PlatformFailure, PlatformTask};
use garson_core::platform::{
    CallError, ClosingDurations, HttpRequest, HttpResponse, Link, PlatformError, Step, StoreSupport,
};
use garson_core::store_status::{
    ClosingEnd, ClosingTimer, ReasonCode, Reopening, StoreActor, StoreChange, StoreChanged, StoreOffer,
    StoreReading, StoreReason, StoreState, StoreTarget, closing_timer,
};
use garson_core::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use std::time::Duration;

pub const SUPPORT: StoreSupport = StoreSupport {
    durations: ClosingDurations::Asked(&[30, 60, 120, 240, 720]),
    until_next_opening: true,
    reasons: &[
        ReasonCode::KitchenBusy,
        ReasonCode::NoCouriers,
        ReasonCode::MenuUpdate,
        ReasonCode::TechnicalProblem,
        ReasonCode::Closed,
        ReasonCode::Other,
    ],
    busy_minutes: &[],
    shows_busy: false,
    closes_by_itself: true,
};

/// "Ask again in a couple of seconds."
const PAUSE: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(60);

fn url(link: &Link<'_>) -> Result<String, PlatformError> {
    let chain = segment(link.credential(CHAIN_CODE)?);
    let branch = segment(link.branch);
    Ok(format!(
        "{}/v2/chains/{chain}/remoteVendors/{branch}/availability",
        link.base
    ))
}

pub fn ask(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    authorized(request("GET", url(link)?), link)
}

/// The branch on each platform of the group, or on the one that the operator has set.
pub fn vendors<'a>(link: &Link<'_>, answer: &'a HttpResponse) -> Result<Vec<Vendor<'a>>, CallError> {
    question(answer)?;
    if answer.status == 204 || answer.body.trim_ascii().is_empty() {
        return Err(CallError::NotYet {
            message: PlatformFailure::NoResultYet.into(),
            pause: PAUSE,
            patience: PATIENCE,
        });
    }
    let listed: Vec<&RawValue> = serde_json::from_slice(&answer.body).map_err(|error| {
        CallError::later(Explanation::AnsweredUnreadable {
            status: answer.status,
            error: error.to_string(),
        })
    })?;
    let mut vendors: Vec<Vendor<'_>> = objects(&listed);
    if let Some(key) = setting(link, PLATFORM_KEY) {
        vendors.retain(|vendor| text(vendor.platform_key.as_ref()) == Some(key));
    }
    if vendors.is_empty() {
        return Err(CallError::refused(PlatformFailure::StoreMissing));
    }
    Ok(vendors)
}

pub fn read_store(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<StoreReading>, PlatformError> {
    let Some(answer) = answers.first() else {
        return ask(link).map(Step::Ask);
    };
    let vendors = vendors(link, answer).map_err(PlatformError::Answered)?;
    // A branch that is closed on one of several platforms is shown as closed, because that needs attention.
    let is_open = |vendor: &&Vendor<'_>| state(vendor) == StoreState::Open;
    let shown = vendors.iter().find(|vendor| !is_open(vendor)).or(vendors.first());
    Ok(Step::Done(shown.map(reading).unwrap_or_default()))
}

fn word<'a>(vendor: &'a Vendor<'_>) -> Option<&'a str> {
    text(vendor.availability_state.as_ref()).map(str::trim)
}

fn state(vendor: &Vendor<'_>) -> StoreState {
    match word(vendor) {
        Some("OPEN") => StoreState::Open,
        Some("CLOSED" | "CLOSED_UNTIL" | "CLOSED_TODAY" | "INACTIVE") => StoreState::Closed,
        _ => StoreState::Unknown,
    }
}

fn reading(vendor: &Vendor<'_>) -> StoreReading {
    let state = state(vendor);
    let is_inactive = word(vendor) == Some("INACTIVE");
    let needs_check_in = vendor.checkin_at.is_some() && state != StoreState::Open;
    let closed_reason = keep_some(text(vendor.closed_reason.as_ref()), MAX_NAME);
    let reason = match closed_reason {
        _ if state == StoreState::Open => None,
        Some(word) => Some(StoreReason {
            code: reason_of(&word),
            word: Some(word),
        }),
        None if needs_check_in => Some(ReasonCode::CheckInRequired.into()),
        None if is_inactive => Some(ReasonCode::Inactive.into()),
        None => None,
    };
    let can_change = is_set(vendor.changeable) && !needs_check_in;
    StoreReading {
        state,
        word: keep_some(word(vendor), MAX_NAME),
        since: None,
        until: (state == StoreState::Closed)
            .then(|| vendor.closed_until.or(vendor.next_opening_at))
            .flatten()
            .map(|at| at.0),
        by: match &reason {
            Some(reason) => closed_by(reason.code),
            None => None,
        },
        reason,
        can_change,
        offer: Some(offer(vendor)),
    }
}

/// A reason that an account can give means the account, any other the platform. The general reasons are ambiguous.
fn closed_by(code: ReasonCode) -> Option<StoreActor> {
    match code {
        ReasonCode::Closed | ReasonCode::Other | ReasonCode::Unknown => None,
        code if SUPPORT.reasons.contains(&code) => Some(StoreActor::Account),
        _ => Some(StoreActor::Platform),
    }
}

fn offers(vendor: &Vendor<'_>, state: &str) -> bool {
    let states = vendor.availability_states.as_deref().unwrap_or_default();
    states.iter().any(|word| is_word(word, state))
}

fn is_word(raw: &RawValue, word: &str) -> bool {
    serde_json::from_str::<Text<'_>>(raw.get()).is_ok_and(|text| text.as_str().trim() == word)
}

fn minutes(vendor: &Vendor<'_>) -> Vec<u32> {
    let listed = vendor.closing_minutes.as_deref().unwrap_or_default().iter();
    let mut minutes: Vec<u32> = listed
        .filter_map(|raw| serde_json::from_str::<Count>(raw.get()).ok())
        .filter_map(|count| u32::try_from(count.0).ok())
        .collect();
    minutes.sort_unstable();
    minutes
}

fn reason_words<'a>(vendor: &Vendor<'a>) -> Vec<Text<'a>> {
    let listed = vendor.closing_reasons.as_deref().unwrap_or_default().iter();
    listed
        .filter_map(|raw| serde_json::from_str(raw.get()).ok())
        .collect()
}

fn offer(vendor: &Vendor<'_>) -> StoreOffer {
    let mut reasons: Vec<ReasonCode> = Vec::new();
    for word in reason_words(vendor) {
        let code = reason_of(word.as_str().trim());
        if code != ReasonCode::Unknown && !reasons.contains(&code) {
            reasons.push(code);
        }
    }
    let has_timer = offers(vendor, "CLOSED_UNTIL");
    StoreOffer {
        can_open: offers(vendor, "OPEN"),
        can_close: has_timer || offers(vendor, "CLOSED") || offers(vendor, "CLOSED_TODAY"),
        can_close_for_today: offers(vendor, "CLOSED_TODAY"),
        minutes: if has_timer { minutes(vendor) } else { Vec::new() },
        reasons,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    availability_state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform_restaurant_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closing_minutes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_until: Option<Timestamp>,
}

pub fn change_store(
    change: &StoreChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<StoreChanged>, PlatformError> {
    if let StoreTarget::Busy { .. } = change.to {
        return Err(PlatformError::Unsupported {
            what: PlatformTask::BusyMode,
        });
    }
    let Some((shown, puts)) = answers.split_first() else {
        return ask(link).map(Step::Ask);
    };
    let vendors = vendors(link, shown).map_err(PlatformError::Answered)?;
    for answer in puts {
        command(answer).map_err(PlatformError::Answered)?;
    }
    let (updates, result) = updates(change, &vendors).map_err(PlatformError::Answered)?;
    match updates.get(puts.len()) {
        Some(update) => authorized(with_json("PUT", url(link)?, update), link).map(Step::Ask),
        None => Ok(Step::Done(result)),
    }
}

/// One update for each platform that needs one and accepts changes; a refusal if none accepts them.
fn updates<'a>(
    change: &StoreChange,
    vendors: &'a [Vendor<'_>],
) -> Result<(Vec<Update<'a>>, StoreChanged), CallError> {
    let StoreTarget::Closed { end, reason } = change.to else {
        let closed = vendors.iter().filter(|vendor| state(vendor) != StoreState::Open);
        let updates = changeable(closed.collect(), |vendor| {
            Some((update(vendor, "OPEN"), StoreChanged::LASTING))
        })?;
        return Ok((
            updates.into_iter().map(|(update, _)| update).collect(),
            StoreChanged::LASTING,
        ));
    };
    let updates = changeable(vendors.iter().collect(), |vendor| {
        let (closing, changed) = closing(vendor, end, change.now)?;
        let closed_reason = reason_word(vendor, reason.unwrap_or(ReasonCode::Other));
        Some((
            Update {
                closed_reason,
                ..closing
            },
            changed,
        ))
    })?;
    let result = updates
        .first()
        .map_or(StoreChanged::LASTING, |(_, changed)| *changed);
    Ok((updates.into_iter().map(|(update, _)| update).collect(), result))
}

fn changeable<'a, 'b, T>(
    wanted: Vec<&'a Vendor<'b>>,
    make: impl Fn(&'a Vendor<'b>) -> Option<T>,
) -> Result<Vec<T>, CallError> {
    let Some(first) = wanted.first() else {
        return Ok(Vec::new());
    };
    let takes: Vec<_> = wanted
        .iter()
        .filter(|vendor| reading(vendor).can_change)
        .collect();
    if takes.is_empty() {
        let reading = reading(first);
        let reason = reading.reason.map(|reason| {
            let code = reason.code.as_str().to_owned();
            reason.word.unwrap_or(code)
        });
        return Err(CallError::refused(PlatformFailure::StoreNotChangeable { reason }));
    }
    let made: Vec<T> = takes.into_iter().filter_map(|vendor| make(vendor)).collect();
    if made.is_empty() {
        return Err(CallError::refused(PlatformFailure::NotOffered));
    }
    Ok(made)
}

fn update<'a>(vendor: &'a Vendor<'_>, availability_state: &'static str) -> Update<'a> {
    Update {
        availability_state,
        platform_key: text(vendor.platform_key.as_ref()),
        platform_restaurant_id: text(vendor.platform_restaurant_id.as_ref()),
        closed_reason: None,
        closing_minutes: None,
        closed_until: None,
    }
}

/// The closing that this platform offers and that fits the end best; none if it offers none.
fn closing<'a>(
    vendor: &'a Vendor<'_>,
    end: ClosingEnd,
    now: Timestamp,
) -> Option<(Update<'a>, StoreChanged)> {
    let has_timer = offers(vendor, "CLOSED_UNTIL");
    let lasting = if offers(vendor, "CLOSED") {
        Some("CLOSED")
    } else {
        offers(vendor, "CLOSED_TODAY").then_some("CLOSED_TODAY")
    };
    let changed = |reopening, platform_until| StoreChanged {
        reopening,
        platform_until,
    };
    match end {
        ClosingEnd::NextOpening(at) if offers(vendor, "CLOSED_TODAY") => {
            Some((update(vendor, "CLOSED_TODAY"), changed(Reopening::Platform, at)))
        }
        ClosingEnd::At(until) | ClosingEnd::NextOpening(Some(until)) if has_timer => {
            Some(timed(vendor, now, until))
        }
        ClosingEnd::At(_) | ClosingEnd::NextOpening(_) => {
            let reopening = end.at().map_or(Reopening::None, |_| Reopening::Ours);
            Some((update(vendor, lasting?), changed(reopening, None)))
        }
        ClosingEnd::Never => match (lasting, minutes(vendor).last()) {
            (Some(state), _) => Some((update(vendor, state), StoreChanged::LASTING)),
            // The longest offered length: the store has to be closed again after it.
            (None, Some(longest)) if has_timer => {
                let until = now.plus(Duration::from_secs(u64::from(*longest) * 60));
                let closing = Update {
                    closing_minutes: Some(*longest),
                    ..update(vendor, "CLOSED_UNTIL")
                };
                Some((closing, changed(Reopening::None, Some(until))))
            }
            _ => None,
        },
    }
}

/// One of the offered lengths if it fits; otherwise the time itself.
fn timed<'a>(vendor: &'a Vendor<'_>, now: Timestamp, until: Timestamp) -> (Update<'a>, StoreChanged) {
    let update = update(vendor, "CLOSED_UNTIL");
    let closing = match closing_timer(&minutes(vendor), now, until) {
        ClosingTimer::Exact(minutes) => Update {
            closing_minutes: Some(minutes),
            ..update
        },
        ClosingTimer::Longer(_) | ClosingTimer::None => Update {
            closed_until: Some(until),
            ..update
        },
    };
    let changed = StoreChanged {
        reopening: Reopening::Platform,
        platform_until: Some(until),
    };
    (closing, changed)
}

/// The platform's word for the reason if it offers it; otherwise another one that it offers.
fn reason_word(vendor: &Vendor<'_>, reason: ReasonCode) -> Option<String> {
    let offered = reason_words(vendor);
    let find = |word: &str| offered.iter().find(|text| text.as_str().trim() == word);
    let wanted = word_of(reason).and_then(find);
    let chosen = wanted.or_else(|| find("OTHER")).or(offered.first());
    chosen.map(|word| word.as_str().trim().to_owned())
}
