//! Special days: when the service closes or opens a store by its hours, because no platform supports special days.

use super::desired::{Desired, DesiredState, Requester};
use crate::opening_hours::OpeningHours;
use crate::store_status::{ReasonCode, StoreActor};
use crate::time::Timestamp;

/// What the opening hours require now, and when to evaluate them again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleStep {
    pub desired: Option<Desired>,
    pub evaluate_at: Option<Timestamp>,
}

/// Evaluates the hours of a store, given the previous result. Platforms follow the weekly hours by themselves, so only the differences
/// of a special day matter: closed while the week says open, until the next opening; open while the week says closed.
#[must_use]
pub fn schedule_step(hours: &OpeningHours, before: Option<&Desired>, now: Timestamp) -> ScheduleStep {
    let Ok(week) = OpeningHours::weekly_in(hours.timezone(), hours.week().clone()) else {
        return ScheduleStep {
            desired: None,
            evaluate_at: None,
        };
    };
    let next = |hours: &OpeningHours| hours.next_change_after(now).map(|change| change.at);
    let evaluate_at = if hours.special_days().is_empty() {
        before.and_then(|before| before.until)
    } else {
        [next(hours), next(&week)].into_iter().flatten().min()
    };
    let desired = match (hours.is_open_at(now), week.is_open_at(now)) {
        (true, true) => None,
        (false, true) => Some(closed(hours, before, now)),
        (true, false) => Some(opened(before, now)),
        // A closing lasts until the next opening, and a store that a special day opened is closed at its end.
        (false, false) => before
            .filter(|before| {
                before.state == DesiredState::Open || before.until.is_none_or(|until| until > now)
            })
            .map(|_| closed(hours, before, now)),
    };
    ScheduleStep { desired, evaluate_at }
}

fn closed(hours: &OpeningHours, before: Option<&Desired>, now: Timestamp) -> Desired {
    let until = hours.next_opening_after(now);
    match before {
        Some(before) if before.state == DesiredState::Closed && before.until == until => before.clone(),
        // Not "until the next opening": the platform would use the next opening of a regular week.
        _ => Desired {
            until,
            reason: Some(ReasonCode::Closed),
            ..Desired::new(
                DesiredState::Closed,
                now,
                StoreActor::Schedule,
                Requester::Service,
            )
        },
    }
}

fn opened(before: Option<&Desired>, now: Timestamp) -> Desired {
    match before {
        Some(before) if before.state == DesiredState::Open => before.clone(),
        _ => Desired::new(DesiredState::Open, now, StoreActor::Schedule, Requester::Service),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening_hours::{Span, SpecialDay, TimeOfDay, Week};
    use crate::time::Zone;

    fn span(opens: &str, closes: &str) -> Span {
        Span::new(
            TimeOfDay::parse(opens).unwrap(),
            TimeOfDay::parse(closes).unwrap(),
        )
    }

    fn special(date: &str, spans: Vec<Span>) -> SpecialDay {
        SpecialDay {
            date: date.parse().unwrap(),
            spans,
            name: None,
        }
    }

    fn hours(zone: &str, week: Span, special: Vec<SpecialDay>) -> OpeningHours {
        OpeningHours::new(zone, Week::daily(week), special).unwrap()
    }

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// Follows the schedule from one evaluation to the next and collects the desired states.
    fn follow(hours: &OpeningHours, from: &str, until: &str) -> Vec<(String, Option<DesiredState>)> {
        let zone = Zone::named(hours.timezone()).unwrap();
        let (mut now, until) = (time(from), time(until));
        let mut before: Option<Desired> = None;
        let mut seen = Vec::new();
        while now < until {
            let step = schedule_step(hours, before.as_ref(), now);
            let state = step.desired.as_ref().map(|desired| desired.state);
            if seen.last().is_none_or(|(_, last)| *last != state) {
                seen.push((zone.write(now, "%d %H:%M"), state));
            }
            before = step.desired;
            let Some(next) = step.evaluate_at else { break };
            assert!(next > now);
            now = next;
        }
        seen
    }

    #[test]
    fn week_without_special_days_needs_nothing() {
        let hours = hours("Europe/Istanbul", span("10:00", "22:00"), Vec::new());
        let step = schedule_step(&hours, None, time("2026-03-01T09:00:00Z"));
        assert_eq!((step.desired, step.evaluate_at), (None, None));
    }

    #[test]
    fn closed_day_lasts_until_the_next_opening() {
        let hours = hours(
            "Europe/Istanbul",
            span("10:00", "22:00"),
            vec![special("2026-03-02", Vec::new())],
        );
        assert_eq!(
            follow(&hours, "2026-03-01T09:00:00Z", "2026-03-04T09:00:00Z"),
            [
                ("01 12:00".to_owned(), None),
                ("02 10:00".to_owned(), Some(DesiredState::Closed)),
                ("03 10:00".to_owned(), None),
            ]
        );
    }

    #[test]
    fn shorter_day_past_midnight_closes_earlier() {
        let hours = hours(
            "Europe/Istanbul",
            span("18:00", "03:00"),
            vec![special("2026-03-02", vec![span("18:00", "01:00")])],
        );
        assert_eq!(
            follow(&hours, "2026-03-02T12:00:00Z", "2026-03-04T09:00:00Z"),
            [
                ("02 15:00".to_owned(), None),
                ("03 01:00".to_owned(), Some(DesiredState::Closed)),
                ("03 18:00".to_owned(), None),
            ]
        );
    }

    #[test]
    fn longer_day_opens_and_closes() {
        let hours = hours(
            "Europe/Istanbul",
            span("12:00", "20:00"),
            vec![special("2026-03-02", vec![span("12:00", "23:00")])],
        );
        assert_eq!(
            follow(&hours, "2026-03-02T07:00:00Z", "2026-03-04T07:00:00Z"),
            [
                ("02 10:00".to_owned(), None),
                ("02 20:00".to_owned(), Some(DesiredState::Open)),
                ("02 23:00".to_owned(), Some(DesiredState::Closed)),
                ("03 12:00".to_owned(), None),
            ]
        );
    }

    #[test]
    fn clock_change_moves_no_opening() {
        // On 29 March 2026 clocks in Berlin go from 02:00 to 03:00.
        let hours = hours(
            "Europe/Berlin",
            span("01:00", "05:00"),
            vec![special("2026-03-29", vec![span("01:00", "02:30")])],
        );
        assert_eq!(
            follow(&hours, "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z"),
            [
                ("28 13:00".to_owned(), None),
                ("29 03:30".to_owned(), Some(DesiredState::Closed)),
                ("30 01:00".to_owned(), None),
            ]
        );
    }

    #[test]
    fn restart_within_a_closed_day_finds_the_same_end() {
        let hours = hours(
            "Europe/Istanbul",
            span("10:00", "22:00"),
            vec![special("2026-03-02", Vec::new())],
        );
        let step = schedule_step(&hours, None, time("2026-03-02T15:00:00Z"));
        let desired = step.desired.unwrap();
        assert_eq!(desired.until, Some(time("2026-03-03T07:00:00Z")));
        let again = schedule_step(&hours, Some(&desired), time("2026-03-02T20:30:00Z"));
        assert_eq!(again.desired, Some(desired));
    }
}
