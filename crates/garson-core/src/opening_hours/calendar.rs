//! Hours on real days: whether a restaurant is open at a time, and when that changes next.

use super::day::{Span, Weekday};
use super::hours::OpeningHours;
use crate::time::{CalendarDay, Timestamp, Zone};

/// How far ahead the next change is searched; all special days are within this period.
const HORIZON_DAYS: u32 = 800;

/// The next time at which a restaurant opens or closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursChange {
    pub at: Timestamp,
    /// Whether it opens or closes at that time.
    pub opens: bool,
}

impl OpeningHours {
    /// The spans that open on a date.
    #[must_use]
    pub fn spans_on(&self, date: CalendarDay) -> &[Span] {
        let special = self.special_days().binary_search_by_key(&date, |day| day.date);
        match special.ok().and_then(|index| self.special_days().get(index)) {
            Some(day) => &day.spans,
            None => self.week().day(Weekday::of(date.date())),
        }
    }

    /// Is the restaurant open at that time?
    #[must_use]
    pub fn is_open_at(&self, at: Timestamp) -> bool {
        let zone = self.zone();
        let Some(today) = zone.day_of(at) else {
            return false;
        };
        [today.yesterday(), Some(today)]
            .into_iter()
            .flatten()
            .flat_map(|date| self.on(&zone, date))
            .any(|(from, to)| from <= at && at < to)
    }

    /// The next time it opens or closes; `None` if it never does.
    #[must_use]
    pub fn next_change_after(&self, at: Timestamp) -> Option<HoursChange> {
        let zone = self.zone();
        let is_open = self.is_open_at(at);
        let today = zone.day_of(at)?;
        let mut date = today.yesterday().unwrap_or(today);
        let mut open_until = at;
        for _ in 0..HORIZON_DAYS {
            for (from, to) in self.on(&zone, date) {
                if !is_open && from > at {
                    return Some(HoursChange {
                        at: from,
                        opens: true,
                    });
                }
                if is_open && from > open_until {
                    return Some(HoursChange {
                        at: open_until,
                        opens: false,
                    });
                }
                open_until = open_until.max(to);
            }
            let Some(next) = date.tomorrow() else { break };
            date = next;
            // No later day can open: all special days are before it, and the week repeats.
            let is_past_special = self.special_days().last().is_none_or(|last| last.date < date);
            if self.week().is_empty() && is_past_special {
                break;
            }
        }
        let horizon = zone.start(date)?;
        (is_open && open_until < horizon).then_some(HoursChange {
            at: open_until,
            opens: false,
        })
    }

    /// The next opening after a time, even if the restaurant is open at that time.
    #[must_use]
    pub fn next_opening_after(&self, at: Timestamp) -> Option<Timestamp> {
        let change = self.next_change_after(at)?;
        if change.opens {
            return Some(change.at);
        }
        self.next_change_after(change.at)
            .filter(|next| next.opens)
            .map(|next| next.at)
    }

    /// The spans of a date as timestamps, in order. A local time that a clock change skips is moved to its end; of a repeated hour, the
    /// first one is used.
    fn on(&self, zone: &Zone, date: CalendarDay) -> Vec<(Timestamp, Timestamp)> {
        let time = |minutes: u32| zone.at_minute(date, minutes);
        let mut spans: Vec<(Timestamp, Timestamp)> = self
            .spans_on(date)
            .iter()
            .map(|span| span.minutes())
            .filter_map(|(opens, closes)| Some((time(opens)?, time(closes)?)))
            .filter(|(from, to)| from < to)
            .collect();
        spans.sort_unstable();
        spans
    }
}
