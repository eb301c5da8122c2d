//! Time slots: one for each day of the week, with Turkish names of days.

use super::outcome::{command, data, parsed};
use super::wire::store::TimeSlot;
use super::wire::text;
use super::write::{Id, post};
use crate::common::soft::objects;
use crate::common::steps::single;
use garson_core::explanation::PlatformTask;
use garson_core::opening_hours::{HoursShape, Span, TimeOfDay, Week, Weekday};
use garson_core::platform::{CallError, HoursSupport, HttpResponse, Link, PlatformError, Step};
use serde::Serialize;
use serde_json::value::RawValue;

/// It is unknown whether a day can have several slots.
pub const SUPPORT: HoursSupport = HoursSupport {
    shape: HoursShape {
        spans_per_day: 1,
        knows_24_00: false,
    },
};

const DAYS: [(&str, Weekday); 7] = [
    ("PAZARTESİ", Weekday::Monday),
    ("SALI", Weekday::Tuesday),
    ("ÇARŞAMBA", Weekday::Wednesday),
    ("PERŞEMBE", Weekday::Thursday),
    ("CUMA", Weekday::Friday),
    ("CUMARTESİ", Weekday::Saturday),
    ("PAZAR", Weekday::Sunday),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AskSlots<'a> {
    store_id: Id<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpsertSlots<'a> {
    store_id: Id<'a>,
    time_slot_ids: Vec<Slot>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Slot {
    start_day: &'static str,
    start_hour: TimeOfDay,
    end_hour: TimeOfDay,
    active: bool,
}

pub fn read_hours(link: &Link<'_>, answers: &[HttpResponse]) -> Result<Step<Week>, PlatformError> {
    let ask = || {
        let body = AskSlots {
            store_id: Id(link.branch),
        };
        post(link, "/WorkingHour/GetStoreTimeSlot", &body)
    };
    single(ask, answers, |answer| read(link, answer))
}

fn read(link: &Link<'_>, answer: &HttpResponse) -> Result<Week, CallError> {
    let data = data(link, answer)?;
    let listed: Vec<&RawValue> = match data.trim_ascii_start().first() {
        Some(b'n') | None => Vec::new(),
        Some(_) => parsed(answer, &data)?,
    };
    let slots: Vec<TimeSlot<'_>> = objects(&listed);
    let span = |slot: &TimeSlot<'_>| {
        if slot.active.is_some_and(|active| !active.0) {
            return None;
        }
        let day = weekday(text(&slot.start_day)?)?;
        let opens = TimeOfDay::parse(text(&slot.start_hour)?)?;
        let closes = TimeOfDay::parse(text(&slot.end_hour)?)?;
        Some((day, Span::new(opens, closes)))
    };
    Ok(Week::new(slots.iter().filter_map(span)))
}

/// Names of days are compared without the marks of Turkish letters, which some programs lose when they change the case.
fn weekday(word: &str) -> Option<Weekday> {
    let plain = |word: &str| -> String {
        let letter = |c: char| match c {
            'İ' | 'ı' | 'i' | 'I' => Some('i'),
            'ş' | 'Ş' => Some('s'),
            'ç' | 'Ç' => Some('c'),
            c if c.is_ascii_alphabetic() => Some(c.to_ascii_lowercase()),
            _ => None,
        };
        word.chars().filter_map(letter).collect()
    };
    let word = plain(word);
    let known = DAYS.iter().find(|(name, _)| plain(name) == word);
    known.map(|(_, day)| *day)
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
        let slot = |(start_day, day): &(&'static str, Weekday)| {
            let span = week.day(*day).first();
            // An inactive slot has hours too.
            let hours = span.copied().unwrap_or(Span::new(
                TimeOfDay::MIDNIGHT,
                TimeOfDay::from_minutes(24 * 60 - 1).unwrap_or(TimeOfDay::END),
            ));
            Slot {
                start_day,
                start_hour: hours.opens,
                end_hour: hours.closes,
                active: span.is_some(),
            }
        };
        let body = UpsertSlots {
            store_id: Id(link.branch),
            time_slot_ids: DAYS.iter().map(slot).collect(),
        };
        post(link, "/WorkingHour/UpsertStoreTimeSlot", &body)
    };
    single(ask, answers, |answer| command(link, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_however_their_letters_are_written() {
        for (word, day) in [
            ("PAZARTESİ", Weekday::Monday),
            ("PAZARTESI", Weekday::Monday),
            ("Pazartesi", Weekday::Monday),
            ("çarşamba", Weekday::Wednesday),
            ("CARSAMBA", Weekday::Wednesday),
            ("PAZAR", Weekday::Sunday),
        ] {
            assert_eq!(weekday(word), Some(day), "{word}");
        }
        assert_eq!(weekday("MONDAY"), None);
    }
}
