//! Opening and closing a store and its hours. One list shows all stores of a seller; there is no call for one of them.

use super::names::{STORE_STATUS, STORES, WORKING_HOURS};
use super::wire::store::{Store, StorePage, StoreSpan};
use super::wire::text;
use super::write::{address, answered, command, signed, store, unreadable};
use crate::common::parse;
use crate::common::request::{limited, request, segment, with_json};
use crate::common::soft::objects;
use crate::common::steps::single;
use crate::common::text::{MAX_NAME, keep};
use garson_core::explanation::{PlatformFailure, PlatformTask};
use garson_core::opening_hours::{HoursShape, Span, TimeOfDay, Week, Weekday};
use garson_core::platform::{
    CallError, ClosingDurations, HoursSupport, HttpRequest, HttpResponse, Link, PlatformError, Step,
    StoreSupport,
};
use garson_core::store_status::{
    Reopening, StoreChange, StoreChanged, StoreReading, StoreState, StoreTarget,
};
use serde_json::json;

pub const SUPPORT: StoreSupport = StoreSupport {
    durations: ClosingDurations::None,
    until_next_opening: false,
    reasons: &[],
    busy_minutes: &[],
    shows_busy: false,
    closes_by_itself: false,
};

pub const HOURS_SUPPORT: HoursSupport = HoursSupport {
    shape: HoursShape {
        spans_per_day: 6,
        knows_24_00: false,
    },
};

const PAGE_SIZE: usize = 100;
/// The largest number of pages; no seller has more stores.
const MAX_PAGES: usize = 50;

const DAYS: [(&str, Weekday); 7] = [
    ("MONDAY", Weekday::Monday),
    ("TUESDAY", Weekday::Tuesday),
    ("WEDNESDAY", Weekday::Wednesday),
    ("THURSDAY", Weekday::Thursday),
    ("FRIDAY", Weekday::Friday),
    ("SATURDAY", Weekday::Saturday),
    ("SUNDAY", Weekday::Sunday),
];

/// Goes through the pages of the list until the store is found.
fn find<T>(
    link: &Link<'_>,
    answers: &[HttpResponse],
    read: impl Fn(&Store<'_>) -> T,
) -> Result<Step<T>, PlatformError> {
    let wanted = store(link)?;
    let mut is_complete = false;
    for (page, answer) in answers.iter().enumerate() {
        answered(answer).map_err(PlatformError::Answered)?;
        let shown: StorePage<'_> =
            parse(&answer.body).map_err(|found| PlatformError::Answered(unreadable(&found)))?;
        let stores: Vec<Store<'_>> = objects(&shown.restaurants);
        if let Some(store) = stores.iter().find(|store| text(&store.id) == Some(wanted)) {
            return Ok(Step::Done(read(store)));
        }
        let is_last = match shown
            .total_pages
            .as_ref()
            .and_then(|pages| usize::try_from(pages.0).ok())
        {
            Some(pages) => page + 1 >= pages,
            None => shown.restaurants.len() < PAGE_SIZE,
        };
        is_complete |= is_last || shown.restaurants.is_empty();
    }
    if is_complete || answers.len() >= MAX_PAGES {
        let missing = CallError::refused(PlatformFailure::StoreMissing);
        return Err(PlatformError::Answered(missing));
    }
    let query = format!("stores?page={}&size={PAGE_SIZE}", answers.len());
    let url = address(link, "store", &query)?;
    signed(limited(request("GET", url), STORES), link).map(Step::Ask)
}

pub fn read_store(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<StoreReading>, PlatformError> {
    find(link, answers, |store| {
        let word = text(&store.working_status);
        let state = match word.map(str::trim) {
            Some(word) if word.eq_ignore_ascii_case("OPEN") => StoreState::Open,
            Some(word) if word.eq_ignore_ascii_case("CLOSED") => StoreState::Closed,
            _ => StoreState::Unknown,
        };
        StoreReading {
            word: word.and_then(|word| keep(word, MAX_NAME)),
            ..StoreReading::of(state)
        }
    })
}

pub fn read_hours(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<Week>, PlatformError> {
    find(link, answers, |store| {
        let spans: Vec<StoreSpan<'_>> = objects(store.working_hours.as_deref().unwrap_or_default());
        let span = |span: &StoreSpan<'_>| {
            let word = text(&span.day_of_week)?.trim();
            let (_, day) = DAYS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name))?;
            let opens = TimeOfDay::parse(text(&span.opening_time)?)?;
            let closes = TimeOfDay::parse(text(&span.closing_time)?)?;
            Some((*day, Span::new(opens, closes)))
        };
        Week::new(spans.iter().filter_map(span))
    })
}

pub fn change_store(
    change: &StoreChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<StoreChanged>, PlatformError> {
    let (status, reopening) = match change.to {
        StoreTarget::Open => ("OPEN", Reopening::None),
        StoreTarget::Closed { end, .. } if end.at().is_some() => ("CLOSED", Reopening::Ours),
        StoreTarget::Closed { .. } => ("CLOSED", Reopening::None),
        StoreTarget::Busy { .. } => {
            return Err(PlatformError::Unsupported {
                what: PlatformTask::BusyMode,
            });
        }
    };
    let ask = || put(link, "status", &json!({ "status": status }), STORE_STATUS);
    single(ask, answers, |answer| {
        command(answer)?;
        Ok(StoreChanged {
            reopening,
            platform_until: None,
        })
    })
}

pub fn write_hours(
    week: &Week,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<()>, PlatformError> {
    let ask = || {
        let week = week
            .shaped(HOURS_SUPPORT.shape)
            .map_err(|_| PlatformError::Unsupported {
                what: PlatformTask::TheseHours,
            })?;
        let time = |time: TimeOfDay| format!("{time}:00");
        let span = |(day, span): (Weekday, Span)| {
            let name = DAYS
                .iter()
                .find(|(_, known)| *known == day)
                .map(|(name, _)| *name);
            json!({
                "dayOfWeek": name,
                "openingTime": time(span.opens),
                "closingTime": time(span.closes),
            })
        };
        let body = json!({ "workingHours": week.spans().map(span).collect::<Vec<_>>() });
        put(link, "working-hours", &body, WORKING_HOURS)
    };
    single(ask, answers, command)
}

fn put(
    link: &Link<'_>,
    what: &str,
    body: &serde_json::Value,
    limit: &'static str,
) -> Result<HttpRequest, PlatformError> {
    let store = segment(store(link)?);
    let url = address(link, "store", &format!("stores/{store}/{what}"))?;
    signed(limited(with_json("PUT", url, body), limit), link)
}
