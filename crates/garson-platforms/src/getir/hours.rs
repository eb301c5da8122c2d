//! Working hours: one span for each of seven numbered days.

use super::names::DAY_ZERO;
use super::outcome::{CONFIG_BLOCK, command, value};
use super::wire::store::{DayHours, WorkingHours};
use super::write::{self, HOURS};
use crate::common::flag::is_set;
use crate::common::request::{limited, request, with_json};
use crate::common::soft::objects;
use crate::common::steps::{setting, single};
use garson_core::explanation::PlatformTask;
use garson_core::opening_hours::{HoursShape, Span, TimeOfDay, Week, Weekday};
use garson_core::platform::{CallError, HoursSupport, HttpResponse, Link, PlatformError, Step};
use serde_json::json;

pub const SUPPORT: HoursSupport = HoursSupport {
    shape: HoursShape {
        spans_per_day: 1,
        knows_24_00: false,
    },
};

fn url(link: &Link<'_>) -> String {
    format!("{}/restaurants/working-hours", link.base)
}

pub fn read_hours(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<Week>, PlatformError> {
    let ask = || {
        Ok(limited(
            write::with_token(request("GET", url(link)), link)?,
            HOURS,
        ))
    };
    single(ask, answers, |answer| read(link, answer))
}

fn read(link: &Link<'_>, answer: &HttpResponse) -> Result<Week, CallError> {
    let shown: WorkingHours<'_> = value(answer, CONFIG_BLOCK)?;
    let days: Vec<DayHours<'_>> = objects(&shown.restaurant_working_hours);
    let span = |day: &DayHours<'_>| {
        let weekday = weekday_of(link, day.day.as_ref()?.0)?;
        if is_set(day.closed) {
            return None;
        }
        let hours = day.working_hours.as_ref()?;
        let time = |text: &Option<super::wire::Text<'_>>| TimeOfDay::parse(&text.as_ref()?.0);
        Some((
            weekday,
            Span::new(time(&hours.start_time)?, time(&hours.end_time)?),
        ))
    };
    Ok(Week::new(days.iter().filter_map(span)))
}

pub fn write_hours(
    week: &Week,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<()>, PlatformError> {
    let ask = || {
        let week = week
            .shaped(SUPPORT.shape)
            .map_err(|_| PlatformError::Unsupported {
                what: PlatformTask::TheseHours,
            })?;
        let day = |number: usize| {
            let weekday = Weekday::from_index(number + zero(link).index());
            match week.day(weekday) {
                [span, ..] => json!({
                    "day": number,
                    "workingHours": { "startTime": span.opens, "endTime": span.closes },
                    "closed": false,
                }),
                [] => json!({ "day": number, "closed": true }),
            }
        };
        let body = json!({ "restaurantWorkingHours": (0..7).map(day).collect::<Vec<_>>() });
        let plain = with_json("PUT", url(link), &body);
        Ok(limited(write::with_token(plain, link)?, HOURS))
    };
    single(ask, answers, |answer| command(answer, CONFIG_BLOCK))
}

/// Which day is number 0 is not published: it is a setting.
fn zero(link: &Link<'_>) -> Weekday {
    match setting(link, DAY_ZERO) {
        Some("monday") => Weekday::Monday,
        _ => Weekday::Sunday,
    }
}

fn weekday_of(link: &Link<'_>, number: i64) -> Option<Weekday> {
    let number = usize::try_from(number).ok().filter(|number| *number < 7)?;
    Some(Weekday::from_index(number + zero(link).index()))
}
