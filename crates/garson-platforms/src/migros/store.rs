//! Opening and closing the store: temporarily with an "off date", permanently by deactivating it.

use super::names::NEXT_SHIFT_OPTION;
use super::outcome::{command, data, parsed};
use super::wire::store::{StoreDetail, ViewStatus};
use super::wire::text;
use super::write::{self, Id, post};
use crate::common::flag::Flag;
use crate::common::number::{Loose, whole};
use crate::common::steps::setting;
use crate::common::text::{MAX_ID, MAX_NAME, keep, keep_some};
use garson_core::explanation::PlatformTask;
use garson_core::platform::{
    CallError, ClosingDurations, HttpRequest, HttpResponse, Link, PlatformError, Step, StoreSupport,
};
use garson_core::store_status::{
    ClosingEnd, ClosingTimer, ReasonCode, Reopening, StoreActor, StoreChange, StoreChanged, StoreReading,
    StoreState, StoreTarget, closing_timer,
};
use garson_core::time::Timestamp;
use serde::Serialize;
use std::time::Duration;

const MINUTES: &[u32] = &[60, 240];

pub const SUPPORT: StoreSupport = StoreSupport {
    durations: ClosingDurations::Minutes(MINUTES),
    until_next_opening: true,
    reasons: &[],
    busy_minutes: &[],
    shows_busy: false,
    closes_by_itself: false,
};

/// The name of "until the next shift" unless the operator sets one. Integrators report two.
const USUAL_NEXT_SHIFT: &str = "NEXT_SHIFT_START";

/// The data of the store that the calls need.
pub struct Detail {
    pub group: String,
    pub warehouse: Option<String>,
    is_active: bool,
    is_in_hours: bool,
}

/// The answer to `GetStoreDetail`.
pub fn detail(link: &Link<'_>, answer: &HttpResponse) -> Result<Detail, CallError> {
    let data = data(link, answer)?;
    let shown: StoreDetail = parsed(answer, &data)?;
    let id = |id: &Option<Loose>| keep(&id.as_ref()?.0, MAX_ID);
    // A missing value means that it is on.
    let is = |flag: Option<Flag>| flag.is_none_or(|flag| flag.0);
    Ok(Detail {
        group: id(&shown.store_group_id)
            .ok_or_else(|| super::outcome::unreadable(answer, "storeGroupId is empty"))?,
        warehouse: id(&shown.warehouse_id),
        is_active: is(shown.active),
        is_in_hours: is(shown.in_working_hours),
    })
}

pub fn ask_detail(link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    write::get(link, "/Store/GetStoreDetail")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfStore<'a> {
    store_id: Id<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_group_id: Option<Id<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warehouse_id: Option<Id<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_off_date_option: Option<&'a str>,
}

impl<'a> OfStore<'a> {
    fn new(link: &Link<'a>) -> Self {
        Self {
            store_id: Id(link.branch),
            store_group_id: None,
            warehouse_id: None,
            store_off_date_option: None,
        }
    }
}

pub fn read_store(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<StoreReading>, PlatformError> {
    match answers {
        [] => ask_detail(link).map(Step::Ask),
        [_] => post(link, "/Store/GetStoreViewStatus", &OfStore::new(link)).map(Step::Ask),
        [store, view, ..] => reading(link, store, view)
            .map(Step::Done)
            .map_err(PlatformError::Answered),
    }
}

fn reading(link: &Link<'_>, store: &HttpResponse, view: &HttpResponse) -> Result<StoreReading, CallError> {
    let detail = detail(link, store)?;
    let data = data(link, view)?;
    let shown: ViewStatus<'_> = parsed(view, &data)?;
    let word = keep_some(text(&shown.status), MAX_NAME);
    let state = match word.as_deref() {
        Some(word) if word.eq_ignore_ascii_case("OPEN") => StoreState::Open,
        Some(word) if word.eq_ignore_ascii_case("CLOSED") => StoreState::Closed,
        _ => StoreState::Unknown,
    };
    let mut reading = StoreReading {
        word,
        ..StoreReading::of(state)
    };
    if state == StoreState::Closed {
        reading.until = shown
            .opening_time
            .as_ref()
            .filter(|_| detail.is_active)
            .and_then(|time| unix(&time.0));
        if detail.is_active && !detail.is_in_hours {
            reading.by = Some(StoreActor::Schedule);
            reading.reason = Some(ReasonCode::OutsideHours.into());
        }
    }
    Ok(reading)
}

/// Unix time, in seconds or in milliseconds.
fn unix(text: &str) -> Option<Timestamp> {
    const SECONDS_UNTIL: i64 = 100_000_000_000;
    let number = whole(text).filter(|number| *number > 0)?;
    let millis = if number < SECONDS_UNTIL {
        number * 1_000
    } else {
        number
    };
    Some(Timestamp::from_millis(millis))
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
    let Some((store, calls)) = answers.split_first() else {
        return ask_detail(link).map(Step::Ask);
    };
    let detail = detail(link, store).map_err(PlatformError::Answered)?;
    match change.to {
        StoreTarget::Closed { end, .. } => close(end, change.now, &detail, link, calls),
        StoreTarget::Open | StoreTarget::Busy { .. } => open(&detail, link, calls),
    }
}

/// A deactivated store may also have an off date, and would then stay closed.
fn open(
    detail: &Detail,
    link: &Link<'_>,
    calls: &[HttpResponse],
) -> Result<Step<StoreChanged>, PlatformError> {
    let activations = usize::from(!detail.is_active);
    for (index, answer) in calls.iter().enumerate() {
        match command(link, answer) {
            // After an activation there may be no off date to remove.
            Err(CallError::Refused { .. }) if index > 0 => {}
            other => other.map_err(PlatformError::Answered)?,
        }
    }
    match calls.len() {
        0 if activations == 1 => {
            let body = OfStore {
                warehouse_id: detail.warehouse.as_deref().map(Id),
                ..OfStore::new(link)
            };
            post(link, "/Store/ActivateStore", &body).map(Step::Ask)
        }
        sent if sent == activations => {
            let body = OfStore {
                store_group_id: Some(Id(&detail.group)),
                ..OfStore::new(link)
            };
            post(link, "/Store/RemoveStoreOffDate", &body).map(Step::Ask)
        }
        _ => Ok(Step::Done(StoreChanged::LASTING)),
    }
}

fn close(
    end: ClosingEnd,
    now: Timestamp,
    detail: &Detail,
    link: &Link<'_>,
    calls: &[HttpResponse],
) -> Result<Step<StoreChanged>, PlatformError> {
    let (option, result) = closing(end, now, link);
    if let Some(answer) = calls.first() {
        command(link, answer).map_err(PlatformError::Answered)?;
        return Ok(Step::Done(result));
    }
    let request = match option {
        Some(option) => {
            let body = OfStore {
                store_group_id: Some(Id(&detail.group)),
                store_off_date_option: Some(option),
                ..OfStore::new(link)
            };
            post(link, "/Store/AddStoreOffDate", &body)
        }
        None => {
            let body = OfStore {
                warehouse_id: detail.warehouse.as_deref().map(Id),
                ..OfStore::new(link)
            };
            post(link, "/Store/DeActivateStore", &body)
        }
    };
    request.map(Step::Ask)
}

/// The option of a temporary closing, or none for a permanent one, and what opens the store again.
fn closing<'a>(end: ClosingEnd, now: Timestamp, link: &Link<'a>) -> (Option<&'a str>, StoreChanged) {
    let timed = |minutes: u32, reopening| {
        let option = if minutes == 60 { "ONE_HOUR" } else { "FOUR_HOUR" };
        let changed = StoreChanged {
            reopening,
            platform_until: Some(now.plus(Duration::from_secs(u64::from(minutes) * 60))),
        };
        (Some(option), changed)
    };
    match end {
        ClosingEnd::Never => (None, StoreChanged::LASTING),
        ClosingEnd::NextOpening(at) => {
            let changed = StoreChanged {
                reopening: Reopening::Platform,
                platform_until: at,
            };
            (
                Some(setting(link, NEXT_SHIFT_OPTION).unwrap_or(USUAL_NEXT_SHIFT)),
                changed,
            )
        }
        ClosingEnd::At(until) => match closing_timer(MINUTES, now, until) {
            ClosingTimer::Exact(minutes) => timed(minutes, Reopening::Platform),
            ClosingTimer::Longer(minutes) => timed(minutes, Reopening::Ours),
            ClosingTimer::None => {
                let changed = StoreChanged {
                    reopening: Reopening::Ours,
                    platform_until: None,
                };
                (None, changed)
            }
        },
    }
}
