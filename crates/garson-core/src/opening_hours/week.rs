//! Weekly hours, with a canonical form so that the weeks of platforms can be compared.

use super::day::{DAY, Span, TimeOfDay, Weekday};
use super::problem::HoursProblem;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const WEEK: u32 = 7 * DAY;
/// The largest number of spans per day.
pub const MAX_SPANS_PER_DAY: usize = 6;

/// The spans of each day of a week, by the day on which they open. A day without spans is closed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Week([Vec<Span>; 7]);

/// What a platform's format for hours supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursShape {
    pub spans_per_day: usize,
    /// The last time of a day: 24:00, or 23:59 if the platform has no 24:00.
    pub knows_24_00: bool,
}

/// A day on which two weeks differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayDifference {
    pub day: Weekday,
    pub ours: Vec<Span>,
    pub theirs: Vec<Span>,
}

/// One span of a week in its serialised form.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct DaySpan {
    day: Weekday,
    opens: TimeOfDay,
    closes: TimeOfDay,
}

impl Week {
    /// Spans by day, in any order.
    #[must_use]
    pub fn new(spans: impl IntoIterator<Item = (Weekday, Span)>) -> Self {
        let mut week = Self::default();
        for (day, span) in spans {
            week.day_mut(day).push(span);
        }
        for day in &mut week.0 {
            day.sort_unstable();
        }
        week
    }

    /// The same span on every day.
    #[must_use]
    pub fn daily(span: Span) -> Self {
        Self::new(Weekday::ALL.map(|day| (day, span)))
    }

    #[must_use]
    pub fn day(&self, day: Weekday) -> &[Span] {
        self.0.get(day.index()).map_or(&[], Vec::as_slice)
    }

    fn day_mut(&mut self, day: Weekday) -> &mut Vec<Span> {
        let [monday, tuesday, wednesday, thursday, friday, saturday, sunday] = &mut self.0;
        match day {
            Weekday::Monday => monday,
            Weekday::Tuesday => tuesday,
            Weekday::Wednesday => wednesday,
            Weekday::Thursday => thursday,
            Weekday::Friday => friday,
            Weekday::Saturday => saturday,
            Weekday::Sunday => sunday,
        }
    }

    /// All spans with their days, in order.
    pub fn spans(&self) -> impl Iterator<Item = (Weekday, Span)> {
        Weekday::ALL
            .into_iter()
            .flat_map(|day| self.day(day).iter().map(move |span| (day, *span)))
    }

    /// Is it closed on every day?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    pub(super) fn check(&self) -> Result<(), HoursProblem> {
        for day in &self.0 {
            check_day(day)?;
        }
        let mut all: Vec<(u32, u32)> = self.spans().map(|(day, span)| in_week(day, span)).collect();
        all.sort_unstable();
        let overlaps = |(_, end): (u32, u32), (start, _): (u32, u32)| end > start;
        let is_wrong = all
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if overlaps(*a, *b)));
        let around = match (all.first(), all.last()) {
            (Some(first), Some(last)) if all.len() > 1 => overlaps(*last, (first.0 + WEEK, first.1 + WEEK)),
            _ => false,
        };
        if is_wrong || around {
            Err(HoursProblem::Overlap)
        } else {
            Ok(())
        }
    }

    /// The canonical form, in which weeks with the same hours are equal: adjacent and overlapping spans are merged, 23:59 becomes the end
    /// of the day, and spans longer than a day are split at midnight.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let joined = join(
            self.spans()
                .map(|(day, span)| in_week(day, to_end_of_day(span)))
                .collect(),
        );
        let mut week = Self::default();
        for (start, end) in joined {
            let mut from = start;
            while from < end {
                let midnight = (from / DAY + 1) * DAY;
                // A span past midnight that ends before the next opening time stays one span; one longer than a day is split.
                let to = if end - start <= DAY {
                    end
                } else {
                    end.min(midnight)
                };
                let day = Weekday::from_index(usize::try_from(from / DAY).unwrap_or_default());
                week.day_mut(day)
                    .push(Span::new(minute_of_day(from), end_of_span(from, to)));
                from = to;
            }
        }
        for day in &mut week.0 {
            day.sort_unstable();
        }
        week
    }

    /// The days on which the hours differ, independent of the platform's notation.
    #[must_use]
    pub fn differences(&self, theirs: &Self) -> Vec<DayDifference> {
        let (ours, theirs) = (self.canonical(), theirs.canonical());
        Weekday::ALL
            .into_iter()
            .filter(|day| ours.day(*day) != theirs.day(*day))
            .map(|day| DayDifference {
                day,
                ours: ours.day(day).to_vec(),
                theirs: theirs.day(day).to_vec(),
            })
            .collect()
    }

    /// The week in a form that the platform supports.
    pub fn shaped(&self, shape: HoursShape) -> Result<Self, HoursProblem> {
        let mut week = self.canonical();
        for day in &mut week.0 {
            if day.len() > shape.spans_per_day {
                return Err(HoursProblem::SeveralSpans);
            }
            for span in day.iter_mut().filter(|_| !shape.knows_24_00) {
                if span.closes == TimeOfDay::END {
                    span.closes = TimeOfDay::from_minutes(DAY - 1).unwrap_or(TimeOfDay::END);
                }
            }
        }
        Ok(week)
    }
}

/// Minutes of the week; the end may be in the next week.
fn in_week(day: Weekday, span: Span) -> (u32, u32) {
    let start = u32::try_from(day.index()).unwrap_or_default() * DAY;
    let (opens, closes) = span.minutes();
    (start + opens, start + closes)
}

/// Platforms without 24:00 write the end of a day as 23:59.
fn to_end_of_day(span: Span) -> Span {
    let is_last_minute = span.closes.minutes() == DAY - 1 && span.opens < span.closes;
    Span {
        closes: if is_last_minute {
            TimeOfDay::END
        } else {
            span.closes
        },
        ..span
    }
}

/// Merges adjacent and overlapping spans, also across the end of the week. The first span starts within the week.
fn join(mut all: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    all.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::with_capacity(all.len());
    for (start, end) in all {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    // The last span may extend into the first days of the next week.
    while let (Some(&(first_start, first_end)), Some(&(last_start, last_end))) =
        (joined.first(), joined.last())
    {
        if joined.len() < 2 || last_end < first_start + WEEK {
            break;
        }
        joined.remove(0);
        if let Some(last) = joined.last_mut() {
            *last = (last_start, last_end.max(first_end + WEEK));
        }
    }
    match joined.as_slice() {
        [(start, end)] if end - start >= WEEK => vec![(0, WEEK)],
        _ => joined,
    }
}

fn minute_of_day(minute: u32) -> TimeOfDay {
    TimeOfDay::from_minutes(minute % DAY).unwrap_or(TimeOfDay::MIDNIGHT)
}

/// The end of a span that starts at `from`; midnight is 24:00 of the starting day.
fn end_of_span(from: u32, to: u32) -> TimeOfDay {
    if to == (from / DAY + 1) * DAY {
        TimeOfDay::END
    } else {
        minute_of_day(to)
    }
}

pub(super) fn check_day(spans: &[Span]) -> Result<(), HoursProblem> {
    if spans.len() > MAX_SPANS_PER_DAY {
        return Err(HoursProblem::TooManySpans);
    }
    let mut all: Vec<(u32, u32)> = spans.iter().map(|span| span.minutes()).collect();
    all.sort_unstable();
    if all.windows(2).any(|pair| matches!(pair, [a, b] if a.1 > b.0)) {
        return Err(HoursProblem::Overlap);
    }
    Ok(())
}

impl std::fmt::Debug for Week {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.spans()).finish()
    }
}

impl Serialize for Week {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.spans().map(|(day, span)| DaySpan {
            day,
            opens: span.opens,
            closes: span.closes,
        }))
    }
}

impl<'de> Deserialize<'de> for Week {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spans = Vec::<DaySpan>::deserialize(deserializer)?;
        Ok(Self::new(
            spans
                .into_iter()
                .map(|span| (span.day, Span::new(span.opens, span.closes))),
        ))
    }
}
