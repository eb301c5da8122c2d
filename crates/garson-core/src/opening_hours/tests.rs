//! Tests of hours on real days, and of comparing weeks.

use super::*;
use crate::time::{CalendarDay, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

fn span(opens: &str, closes: &str) -> Span {
    Span::new(opens.parse().unwrap(), closes.parse().unwrap())
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn day(text: &str) -> CalendarDay {
    text.parse().unwrap()
}

/// Evenings until two o'clock at night, except Mondays; closed on New Year's Day.
fn evenings() -> OpeningHours {
    let open = Weekday::ALL.into_iter().filter(|day| *day != Weekday::Monday);
    let special = vec![SpecialDay {
        date: day("2026-01-01"),
        spans: Vec::new(),
        name: Some("Yılbaşı".to_owned()),
    }];
    let week = Week::new(open.map(|day| (day, span("18:00", "02:00"))));
    OpeningHours::new("Europe/Istanbul", week, special).unwrap()
}

#[test]
fn span_past_midnight_belongs_to_the_day_on_which_it_opens() {
    let hours = evenings();
    // Wednesday, the last day of the year, in Istanbul.
    assert!(!hours.is_open_at(at("2025-12-31T14:59:00Z")));
    assert!(hours.is_open_at(at("2025-12-31T15:00:00Z")));
    assert!(
        hours.is_open_at(at("2025-12-31T22:59:00Z")),
        "into the special day"
    );
    assert!(!hours.is_open_at(at("2025-12-31T23:00:00Z")));
    assert!(
        !hours.is_open_at(at("2026-01-01T16:00:00Z")),
        "the special day is closed"
    );
    assert!(hours.is_open_at(at("2026-01-02T16:00:00Z")));
    // Sunday's evening ends on Monday.
    assert!(hours.is_open_at(at("2026-01-04T22:30:00Z")));
    assert!(!hours.is_open_at(at("2026-01-05T16:00:00Z")));
}

#[test]
fn next_change_skips_days_that_are_closed() {
    let hours = evenings();
    let next = |from: &str| {
        hours
            .next_change_after(at(from))
            .map(|next| (next.at.to_string(), next.opens))
    };
    assert_eq!(
        next("2025-12-31T16:00:00Z"),
        Some(("2025-12-31T23:00:00.000Z".to_owned(), false))
    );
    assert_eq!(
        next("2025-12-31T23:00:00Z"),
        Some(("2026-01-02T15:00:00.000Z".to_owned(), true))
    );
    assert_eq!(
        next("2026-01-05T12:00:00Z"),
        Some(("2026-01-06T15:00:00.000Z".to_owned(), true))
    );
    assert_eq!(
        hours.next_opening_after(at("2025-12-31T16:00:00Z")),
        Some(at("2026-01-02T15:00:00Z"))
    );
}

#[test]
fn what_never_changes_has_no_next_change() {
    let always = OpeningHours::weekly_in("Europe/Istanbul", Week::daily(Span::ALL_DAY)).unwrap();
    assert!(always.is_open_at(at("2026-03-03T03:03:03Z")));
    assert_eq!(always.next_change_after(at("2026-03-03T03:03:03Z")), None);
    let never = OpeningHours::weekly_in("Europe/Istanbul", Week::default()).unwrap();
    assert!(!never.is_open_at(at("2026-03-03T03:03:03Z")));
    assert_eq!(never.next_change_after(at("2026-03-03T03:03:03Z")), None);
    // A special day a year ahead is found.
    let special = vec![SpecialDay {
        date: day("2027-03-01"),
        spans: vec![span("10:00", "12:00")],
        name: None,
    }];
    let once = OpeningHours::new("Europe/Istanbul", Week::default(), special).unwrap();
    let next = once.next_change_after(at("2026-03-03T03:03:03Z")).unwrap();
    assert_eq!((next.at, next.opens), (at("2027-03-01T07:00:00Z"), true));
    assert_eq!(
        once.next_change_after(at("2027-03-01T08:00:00Z")).unwrap().at,
        at("2027-03-01T09:00:00Z")
    );
    assert_eq!(once.next_change_after(at("2027-03-01T09:00:00Z")), None);
}

#[test]
fn hours_follow_the_clock_when_it_is_changed() {
    let hours = OpeningHours::weekly_in("Europe/Berlin", Week::daily(span("22:00", "03:00"))).unwrap();
    // Spring: the night is an hour shorter. Autumn: an hour longer.
    let length = |from: &str| {
        let opens = hours.next_change_after(at(from)).unwrap();
        assert!(opens.opens);
        let closes = hours.next_change_after(opens.at).unwrap();
        closes.at.since(opens.at)
    };
    assert_eq!(length("2026-03-28T12:00:00Z"), Duration::from_secs(4 * 3_600));
    assert_eq!(length("2026-10-24T12:00:00Z"), Duration::from_secs(6 * 3_600));
    assert_eq!(length("2026-06-01T12:00:00Z"), Duration::from_secs(5 * 3_600));
    // A span within the skipped hour has no duration.
    let gone = OpeningHours::weekly_in("Europe/Berlin", Week::daily(span("02:00", "02:30"))).unwrap();
    let next = gone.next_change_after(at("2026-03-29T00:00:00Z")).unwrap();
    assert_eq!(gone.is_open_at(next.at), next.opens);
}

#[test]
fn weeks_are_the_same_however_they_are_written() {
    let ours = Week::new([
        (Weekday::Monday, span("18:00", "02:00")),
        (Weekday::Sunday, span("20:00", "24:00")),
    ]);
    let split = Week::new([
        (Weekday::Monday, span("18:00", "23:59")),
        (Weekday::Tuesday, span("00:00", "02:00")),
        (Weekday::Sunday, span("20:00", "23:59")),
    ]);
    assert_eq!(ours.differences(&split), []);
    assert_eq!(split.canonical(), ours.canonical());
    // Around the end of the week.
    let night = Week::new([(Weekday::Sunday, span("20:00", "04:00"))]);
    let cut = Week::new([
        (Weekday::Sunday, span("20:00", "24:00")),
        (Weekday::Monday, span("00:00", "04:00")),
    ]);
    assert_eq!(night.differences(&cut), []);
    let all = Week::daily(Span::ALL_DAY);
    assert_eq!(all.differences(&Week::daily(span("00:00", "23:59"))), []);
    assert_eq!(all.differences(&Week::daily(span("10:00", "10:00"))), []);
    assert_eq!(all.differences(&ours).len(), 7);
}

#[test]
fn wrong_hours_are_refused() {
    let new = |week, special| OpeningHours::new("Europe/Istanbul", week, special).map(|_| ());
    let closed = |date| SpecialDay {
        date: day(date),
        spans: Vec::new(),
        name: None,
    };
    assert_eq!(
        OpeningHours::weekly_in("Mars/Olympus", Week::default()).map(|_| ()),
        Err(HoursProblem::UnknownTimezone)
    );
    for spans in [
        vec![
            (Weekday::Monday, span("10:00", "14:00")),
            (Weekday::Monday, span("13:00", "15:00")),
        ],
        vec![
            (Weekday::Monday, span("18:00", "04:00")),
            (Weekday::Tuesday, span("03:00", "15:00")),
        ],
        vec![
            (Weekday::Sunday, span("18:00", "04:00")),
            (Weekday::Monday, span("03:00", "15:00")),
        ],
        vec![(Weekday::Monday, span("10:00", "14:00")); 2],
    ] {
        assert_eq!(
            new(Week::new(spans.clone()), Vec::new()),
            Err(HoursProblem::Overlap),
            "{spans:?}"
        );
    }
    let many = (0..7).map(|hour| {
        (
            Weekday::Monday,
            span(&format!("{hour}:00"), &format!("{hour}:30")),
        )
    });
    assert_eq!(new(Week::new(many), Vec::new()), Err(HoursProblem::TooManySpans));
    let twice = vec![closed("2026-01-01"), closed("2026-01-01")];
    assert_eq!(new(Week::default(), twice), Err(HoursProblem::RepeatedDate));
    let touching = vec![
        (Weekday::Monday, span("10:00", "14:00")),
        (Weekday::Monday, span("14:00", "15:00")),
    ];
    assert_eq!(new(Week::new(touching), Vec::new()), Ok(()));
}

#[test]
fn hours_are_stored_and_read_again() {
    let hours = evenings();
    let text = serde_json::to_string(&hours).unwrap();
    assert!(
        text.contains(r#"{"day":"tuesday","opens":"18:00","closes":"02:00"}"#),
        "{text}"
    );
    assert!(text.contains(r#""date":"2026-01-01""#), "{text}");
    assert_eq!(serde_json::from_str::<OpeningHours>(&text).unwrap(), hours);
    let wrong = text.replace("18:00", "25:00");
    assert!(serde_json::from_str::<OpeningHours>(&wrong).is_err());
}

#[test]
fn week_takes_the_form_that_a_platform_can_hold() {
    let one = HoursShape {
        spans_per_day: 1,
        knows_24_00: false,
    };
    let shaped = Week::daily(span("10:00", "24:00")).shaped(one).unwrap();
    assert_eq!(shaped.day(Weekday::Monday), [span("10:00", "23:59")]);
    let lunch = Week::new([
        (Weekday::Monday, span("11:00", "14:00")),
        (Weekday::Monday, span("18:00", "22:00")),
    ]);
    assert_eq!(lunch.shaped(one), Err(HoursProblem::SeveralSpans));
    let two = HoursShape {
        spans_per_day: 2,
        knows_24_00: true,
    };
    assert_eq!(lunch.shaped(two), Ok(lunch));
}

/// Spans in steps of five minutes, so that none ends at 23:59.
fn weeks() -> impl Strategy<Value = Week> {
    let time = || (0u32..288).prop_map(|step| TimeOfDay::from_minutes(step * 5).unwrap());
    let span = (0usize..7, time(), time())
        .prop_map(|(day, opens, closes)| (Weekday::from_index(day), Span::new(opens, closes)));
    prop::collection::vec(span, 0..8).prop_map(Week::new)
}

/// Is the minute of the week within a span? Sunday's nights reach into Monday.
fn is_open(week: &Week, minute: u32) -> bool {
    const DAY: u32 = 1_440;
    week.spans().any(|(day, span)| {
        let start = u32::try_from(day.index()).unwrap() * DAY + span.opens.minutes();
        let closes = u32::try_from(day.index()).unwrap() * DAY + span.closes.minutes();
        let end = if span.closes <= span.opens {
            closes + DAY
        } else {
            closes
        };
        (start..end).contains(&minute) || (start..end).contains(&(minute + 7 * DAY))
    })
}

proptest! {
    #[test]
    fn canonical_weeks_have_the_same_hours(week in weeks(), minute in 0u32..10_080) {
        let canonical = week.canonical();
        prop_assert_eq!(is_open(&week, minute), is_open(&canonical, minute));
        prop_assert_eq!(canonical.canonical(), canonical.clone());
        prop_assert_eq!(week.differences(&canonical), vec![]);
        prop_assert_eq!(canonical.check(), Ok(()));
    }

    #[test]
    fn next_change_is_where_the_state_changes(
        week in weeks(),
        // From a week before the clock changes to a week after, in spring and in autumn.
        minutes in 0i64..20_160,
        autumn in any::<bool>(),
    ) {
        let hours = OpeningHours::weekly_in("Europe/Berlin", week.canonical()).unwrap();
        let start = at(if autumn { "2026-10-18T00:00:00Z" } else { "2026-03-22T00:00:00Z" });
        let from = Timestamp::from_millis(start.as_millis() + minutes * 60_000);
        let is_open = hours.is_open_at(from);
        let Some(next) = hours.next_change_after(from) else {
            for step in 0..20_160 {
                let later = from.plus(Duration::from_secs(step * 60));
                prop_assert_eq!(hours.is_open_at(later), is_open);
            }
            return Ok(());
        };
        prop_assert!(next.at > from);
        prop_assert_eq!(next.opens, !is_open);
        prop_assert_eq!(hours.is_open_at(next.at), next.opens);
        let mut between = from;
        while between < next.at {
            prop_assert_eq!(hours.is_open_at(between), is_open, "{}", between);
            between = between.plus(Duration::from_secs(300));
        }
    }
}
