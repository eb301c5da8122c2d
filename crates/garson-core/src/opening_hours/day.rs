//! Days of the week, times of day, and spans between two of them.

use jiff::civil;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

pub(super) const DAY: u32 = 24 * 60;

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    pub const ALL: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// Monday is 0.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The day with an index, where Monday is 0; wraps around.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        *Self::ALL.get(index % 7).unwrap_or(&Self::Monday)
    }

    #[must_use]
    pub fn next(self) -> Self {
        Self::from_index(self.index() + 1)
    }

    pub(super) fn of(date: civil::Date) -> Self {
        Self::from_index(usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or_default())
    }
}

/// A time of day to the minute: 00:00 to 24:00.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    pub const MIDNIGHT: Self = Self(0);
    /// 24:00, the end of a day.
    pub const END: Self = Self(24 * 60);

    /// The time `minutes` after midnight, at most 24:00.
    #[must_use]
    pub fn from_minutes(minutes: u32) -> Option<Self> {
        u16::try_from(minutes)
            .ok()
            .filter(|minutes| *minutes <= Self::END.0)
            .map(Self)
    }

    #[must_use]
    pub fn minutes(self) -> u32 {
        u32::from(self.0)
    }

    /// Reads `9:05`, `09:05`, `09:05:00`; seconds are dropped.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split(':');
        let number = |part: Option<&str>, max: u32| {
            let part = part?;
            let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            part.parse::<u32>()
                .ok()
                .filter(|number| is_number && *number <= max)
        };
        let hours = number(parts.next(), 24)?;
        let minutes = number(parts.next(), 59)?;
        match parts.next() {
            None => {}
            // Some platforms write fractions of a second.
            seconds => drop(number(seconds.and_then(|s| s.split('.').next()), 59)?),
        }
        if parts.next().is_some() {
            return None;
        }
        Self::from_minutes(hours * 60 + minutes)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl fmt::Debug for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TimeOfDay {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or("must be a time of day, such as 09:30")
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// From one time of day to another. If `closes` is not after `opens`, the span ends on the next day; `10:00` to `10:00` is 24 hours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    pub opens: TimeOfDay,
    pub closes: TimeOfDay,
}

impl Span {
    pub const ALL_DAY: Self = Self {
        opens: TimeOfDay::MIDNIGHT,
        closes: TimeOfDay::END,
    };

    #[must_use]
    pub const fn new(opens: TimeOfDay, closes: TimeOfDay) -> Self {
        Self { opens, closes }
    }

    /// Does it end on the next day? A span that ends at 24:00 does not.
    #[must_use]
    pub fn is_past_midnight(self) -> bool {
        self.closes <= self.opens
    }

    /// Minutes after the midnight before it opens; the end may be on the next day.
    pub(super) fn minutes(self) -> (u32, u32) {
        let (opens, closes) = (self.opens.minutes() % DAY, self.closes.minutes());
        // An opening at 24:00 would belong to the next day, so it is read as 00:00.
        let closes = if closes <= opens { closes + DAY } else { closes };
        (opens, closes)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.opens, self.closes)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_platforms_write_them() {
        for (text, minutes) in [
            ("9:05", 545),
            ("09:05", 545),
            ("09:05:00", 545),
            (" 09:05:59.999 ", 545),
            ("00:00", 0),
            ("24:00", 1_440),
            ("23:59:59", 1_439),
        ] {
            assert_eq!(
                TimeOfDay::parse(text).map(TimeOfDay::minutes),
                Some(minutes),
                "{text}"
            );
        }
        for wrong in [
            "", "9", "9:5:1:2", "24:01", "25:00", "12:60", "-1:00", "+1:00", "12.30", "a:b", "009:05",
            "12:00:61",
        ] {
            assert_eq!(TimeOfDay::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        assert_eq!(Weekday::Sunday.next(), Weekday::Monday);
        for (index, day) in Weekday::ALL.into_iter().enumerate() {
            assert_eq!((day.index(), Weekday::from_index(index + 7)), (index, day));
        }
    }
}
