//! Moments: milliseconds since 1970, written as RFC 3339 in UTC with milliseconds.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The timezone of restaurants that do not name one.
pub const DEFAULT_TIMEZONE: &str = "Europe/Istanbul";

/// The first and the last moment that is taken from outside: years 1 to 9999.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_207_200_000;

/// A moment in milliseconds since the start of 1970 (UTC).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This moment and a duration; stops at the end of time instead of wrapping.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// This moment less a duration.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not a moment in RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a moment in RFC 3339, such as 2026-03-01T12:00:00Z")
    }
}

impl std::error::Error for NotATime {}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let looks_right = text.is_ascii() && (20..=64).contains(&text.len()) && !text.contains('[');
        if !looks_right {
            return Err(NotATime);
        }
        let moment: jiff::Timestamp = text.parse().map_err(|_| NotATime)?;
        let millis = moment.as_millisecond();
        if RANGE.contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(NotATime)
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A timezone by its IANA name.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of that name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self)
    }

    /// The zone of restaurants that do not name one.
    #[must_use]
    pub fn istanbul() -> Self {
        Self::named(DEFAULT_TIMEZONE).unwrap_or(Self(TimeZone::UTC))
    }

    /// The moment at which a calendar day (`2026-03-01`) starts here.
    #[must_use]
    pub fn start_of_day(&self, day: &str) -> Option<Timestamp> {
        self.midnight(parse_day(day)?)
    }

    /// The moment at which a calendar day ends here: the start of the next one.
    #[must_use]
    pub fn end_of_day(&self, day: &str) -> Option<Timestamp> {
        let day = parse_day(day)?;
        // The calendar ends after its last day.
        day.tomorrow()
            .map_or(Some(Timestamp::from_millis(*RANGE.end())), |next| {
                self.midnight(next)
            })
    }

    fn midnight(&self, day: Date) -> Option<Timestamp> {
        let start = day.to_zoned(self.0.clone()).ok()?;
        Some(Timestamp::from_millis(start.timestamp().as_millisecond()))
    }
}

fn parse_day(text: &str) -> Option<Date> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, b)| {
            if at == 4 || at == 7 {
                b == b'-'
            } else {
                b.is_ascii_digit()
            }
        });
    if shape { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_with_milliseconds_in_utc() {
        assert_eq!(
            Timestamp::from_millis(1_767_225_600_000).to_string(),
            "2026-01-01T00:00:00.000Z"
        );
        assert_eq!(
            Timestamp::from_millis(1_767_225_600_007).to_string(),
            "2026-01-01T00:00:00.007Z"
        );
    }

    #[test]
    fn offsets_are_read_and_nonsense_is_refused() {
        let noon: Result<Timestamp, _> = "2026-01-01T03:00:00+03:00".parse();
        assert_eq!(noon, Ok(Timestamp::from_millis(1_767_225_600_000)));
        for wrong in [
            "",
            "yesterday",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-13-01T00:00:00Z",
        ] {
            assert_eq!(wrong.parse::<Timestamp>(), Err(NotATime), "{wrong}");
        }
    }

    #[test]
    fn a_day_in_istanbul_starts_at_nine_in_the_evening_before() {
        let zone = Zone::istanbul();
        let start = zone.start_of_day("2026-01-01").map(|t| t.to_string());
        assert_eq!(start.as_deref(), Some("2025-12-31T21:00:00.000Z"));
        let end = zone.end_of_day("2026-01-01").map(|t| t.to_string());
        assert_eq!(end.as_deref(), Some("2026-01-01T21:00:00.000Z"));
        assert!(zone.start_of_day("2026-02-30").is_none());
        assert!(zone.start_of_day("2026-2-3").is_none());
    }
}
