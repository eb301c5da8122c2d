//! Validated opening hours: a week, special days and a time zone.

use super::day::Span;
use super::problem::HoursProblem;
use super::week::{Week, check_day};
use crate::time::{CalendarDay, DEFAULT_TIMEZONE, Zone};
use serde::{Deserialize, Serialize};

/// The largest number of special days of a restaurant: every day of two years.
pub const MAX_SPECIAL_DAYS: usize = 731;

/// A date whose hours replace those of its weekday.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecialDay {
    pub date: CalendarDay,
    /// The spans that open on this date; empty if closed.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// The name of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// When a restaurant is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Unchecked")]
pub struct OpeningHours {
    timezone: String,
    weekly: Week,
    special: Vec<SpecialDay>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unchecked {
    #[serde(default = "default_timezone")]
    timezone: String,
    #[serde(default)]
    weekly: Week,
    #[serde(default)]
    special: Vec<SpecialDay>,
}

fn default_timezone() -> String {
    DEFAULT_TIMEZONE.to_owned()
}

impl TryFrom<Unchecked> for OpeningHours {
    type Error = HoursProblem;

    fn try_from(given: Unchecked) -> Result<Self, HoursProblem> {
        Self::new(&given.timezone, given.weekly, given.special)
    }
}

impl OpeningHours {
    /// Validates the hours, and sorts special days by date.
    pub fn new(timezone: &str, weekly: Week, mut special: Vec<SpecialDay>) -> Result<Self, HoursProblem> {
        if Zone::named(timezone).is_none() {
            return Err(HoursProblem::UnknownTimezone);
        }
        weekly.check()?;
        if special.len() > MAX_SPECIAL_DAYS {
            return Err(HoursProblem::TooManySpecialDays);
        }
        special.sort_by_key(|day| day.date);
        if special
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.date == b.date))
        {
            return Err(HoursProblem::RepeatedDate);
        }
        for day in &special {
            check_day(&day.spans)?;
        }
        Ok(Self {
            timezone: timezone.to_owned(),
            weekly,
            special,
        })
    }

    /// A week without special days.
    pub fn weekly_in(timezone: &str, weekly: Week) -> Result<Self, HoursProblem> {
        Self::new(timezone, weekly, Vec::new())
    }

    #[must_use]
    pub fn timezone(&self) -> &str {
        &self.timezone
    }

    #[must_use]
    pub fn week(&self) -> &Week {
        &self.weekly
    }

    /// Sorted by date.
    #[must_use]
    pub fn special_days(&self) -> &[SpecialDay] {
        &self.special
    }

    #[must_use]
    pub fn zone(&self) -> Zone {
        Zone::named(&self.timezone).unwrap_or_else(Zone::istanbul)
    }
}
