//! Business days: days of the calendar that begin at an hour of the restaurant's choice, so that a night belongs to the evening.

use crate::time::{Timestamp, Zone};

/// The latest hour at which a business day may end.
pub const MAX_DAY_END: u8 = 12;

/// The hour at which a business day ends, from 0 (midnight) to [`MAX_DAY_END`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayEnd(u8);

impl DayEnd {
    /// All that there are, midnight first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=MAX_DAY_END).map(Self)
    }

    /// Reads `03:00`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        Self::all().find(|it| it.text() == text)
    }

    /// Such as `03:00`.
    #[must_use]
    pub fn text(self) -> String {
        format!("{:02}:00", self.0)
    }
}

/// The business days of a restaurant or an account. A day is named as the calendar day on which it begins.
#[derive(Clone, Debug)]
pub struct Calendar {
    zone: Zone,
    day_end: DayEnd,
}

impl Calendar {
    #[must_use]
    pub fn new(zone: Zone, day_end: DayEnd) -> Self {
        Self { zone, day_end }
    }

    /// The calendar of restaurants that choose nothing.
    #[must_use]
    pub fn istanbul() -> Self {
        Self::new(Zone::istanbul(), DayEnd::default())
    }

    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// When a day (`2026-03-01`) starts.
    #[must_use]
    pub fn start_of_day(&self, day: &str) -> Option<Timestamp> {
        self.zone.hour_of_day(day, self.day_end.0)
    }

    /// When a day ends: the start of the next one.
    #[must_use]
    pub fn end_of_day(&self, day: &str) -> Option<Timestamp> {
        match Zone::day_after(day) {
            Some(next) => self.start_of_day(&next),
            None => self.zone.end_of_day(day),
        }
    }

    /// The day that a timestamp belongs to.
    #[must_use]
    pub fn day_of(&self, at: Timestamp) -> String {
        let day = self.zone.write(at, "%Y-%m-%d");
        match self.start_of_day(&day) {
            Some(start) if at < start => Zone::day_before(&day).unwrap_or(day),
            _ => day,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar(zone: &str, day_end: &str) -> Calendar {
        Calendar::new(Zone::named(zone).unwrap(), DayEnd::read(day_end).unwrap())
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn night_belongs_to_the_evening_before() {
        let days = calendar("Europe/Istanbul", "03:00");
        assert_eq!(days.start_of_day("2026-03-01"), Some(at("2026-03-01T00:00:00Z")));
        assert_eq!(days.end_of_day("2026-03-01"), Some(at("2026-03-02T00:00:00Z")));
        assert_eq!(days.day_of(at("2026-03-01T23:59:59.999Z")), "2026-03-01");
        assert_eq!(days.day_of(at("2026-03-02T00:00:00Z")), "2026-03-02");
        assert_eq!(days.day_of(at("2025-12-31T23:00:00Z")), "2025-12-31");
    }

    #[test]
    fn midnight_is_the_default() {
        let days = Calendar::istanbul();
        assert_eq!(
            days.start_of_day("2026-03-01"),
            days.zone().start_of_day("2026-03-01")
        );
        assert_eq!(
            days.end_of_day("2026-03-01"),
            days.zone().end_of_day("2026-03-01")
        );
        assert_eq!(
            days.end_of_day("9999-12-31"),
            days.zone().end_of_day("9999-12-31")
        );
        assert_eq!(days.day_of(at("2026-02-28T21:00:00Z")), "2026-03-01");
        for wrong in ["2026-02-30", "", "2026-3-1"] {
            assert_eq!(
                (days.start_of_day(wrong), days.end_of_day(wrong)),
                (None, None),
                "{wrong}"
            );
        }
    }

    #[test]
    fn changes_of_the_clock_leave_no_gap() {
        for day_end in ["00:00", "02:00", "03:00", "12:00"] {
            let days = calendar("Europe/Berlin", day_end);
            let mut day = "2026-03-20".to_owned();
            for _ in 0..230 {
                let next = Zone::day_after(&day).unwrap();
                let (start, end) = (days.start_of_day(&day).unwrap(), days.end_of_day(&day).unwrap());
                assert_eq!(Some(end), days.start_of_day(&next));
                assert!(start < end);
                assert_eq!((days.day_of(start), days.day_of(end)), (day, next.clone()));
                day = next;
            }
        }
    }

    #[test]
    fn only_whole_hours_up_to_noon_end_a_day() {
        assert_eq!(DayEnd::read("00:00"), Some(DayEnd::default()));
        assert_eq!(DayEnd::read("12:00").map(DayEnd::text).as_deref(), Some("12:00"));
        for wrong in ["", "3:00", "03:30", "13:00", "03", "-1:00", "24:00"] {
            assert_eq!(DayEnd::read(wrong), None, "{wrong}");
        }
    }
}
