//! Timestamps: milliseconds since 1970, written as RFC 3339 in UTC with milliseconds.

use jiff::civil::Date;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The timezone of restaurants that do not name one.
pub const DEFAULT_TIMEZONE: &str = "Europe/Istanbul";

/// The first and the last timestamp that is accepted as input: years 1 to 9999.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_207_200_000;

/// Milliseconds since the start of 1970 (UTC).
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

    /// Adds a duration; saturates instead of wrapping.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Subtracts a duration.
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

/// The length of a formatted timestamp between the years 0 and 9999.
const TEXT_LENGTH: usize = "2026-01-01T00:00:00.000Z".len();
/// The years that are written with four digits.
const FOUR_DIGITS: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_207_200_000;

impl Timestamp {
    /// Formats by hand, because lists contain many timestamps. `None` outside the years 0 to 9999.
    #[must_use]
    pub fn text(self) -> Option<TimeText> {
        if !FOUR_DIGITS.contains(&self.0) {
            return None;
        }
        let day = u32::try_from(self.0.div_euclid(DAY) + DAYS_BEFORE_1970).ok()?;
        let in_day = u32::try_from(self.0.rem_euclid(DAY)).ok()?;
        // Years begin in March here, so that the leap day is the last of its year, and go in eras of 400.
        let (era, in_era) = (day / DAYS_OF_AN_ERA, day % DAYS_OF_AN_ERA);
        let year_of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * in_year + 2) / 153;
        let day_of_month = in_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 {
            march_month + 3
        } else {
            march_month - 9
        };
        let year = (era * 400 + year_of_era + u32::from(month <= 2)).checked_sub(400)?;
        let [a, b, c, d, e, f, g, h] = [
            pair(year / 100),
            pair(year % 100),
            pair(month),
            pair(day_of_month),
            pair(in_day / 3_600_000),
            pair(in_day / 60_000 % 60),
            pair(in_day / 1_000 % 60),
            pair(in_day % 1_000 / 10),
        ];
        let last = digit(in_day % 10);
        Some(TimeText([
            a[0], a[1], b[0], b[1], b'-', c[0], c[1], b'-', d[0], d[1], b'T', e[0], e[1], b':', f[0], f[1],
            b':', g[0], g[1], b'.', h[0], h[1], last, b'Z',
        ]))
    }
}

const DAY: i64 = 86_400_000;
const DAYS_OF_AN_ERA: u32 = 146_097;
/// From the first of March 400 years before the year 0.
const DAYS_BEFORE_1970: i64 = 719_468 + DAYS_OF_AN_ERA as i64;

fn pair(number: u32) -> [u8; 2] {
    [digit(number / 10), digit(number % 10)]
}

fn digit(number: u32) -> u8 {
    b'0'.wrapping_add(number.to_le_bytes()[0])
}

/// A formatted timestamp.
#[derive(Clone, Copy)]
pub struct TimeText([u8; TEXT_LENGTH]);

impl TimeText {
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only digits and the marks between them are ever in it.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.text(), jiff::Timestamp::from_millisecond(self.0)) {
            (Some(text), _) => f.write_str(text.as_str()),
            (None, Ok(moment)) => write!(f, "{moment:.3}"),
            (None, Err(_)) => write!(f, "{} ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not an RFC 3339 timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a timestamp in RFC 3339, such as 2026-03-01T12:00:00Z")
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
        match self.text() {
            Some(text) => serializer.serialize_str(text.as_str()),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Timestamp {
    /// As the `Date` header of HTTP has it, in whole seconds. `None` outside the years 0 to 9999.
    #[must_use]
    pub fn http_date(self) -> Option<String> {
        let at = jiff::Timestamp::from_millisecond(self.0).ok()?;
        DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok()
    }

    /// Reads a `Date` header.
    #[must_use]
    pub fn from_http_date(text: &str) -> Option<Self> {
        let at = DateTimeParser::new().parse_timestamp(text).ok()?;
        Some(Self(at.as_millisecond())).filter(|it| RANGE.contains(&it.0))
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

    /// When a calendar day (`2026-03-01`) starts in this zone.
    #[must_use]
    pub fn start_of_day(&self, day: &str) -> Option<Timestamp> {
        self.hour(parse_day(day)?, 0)
    }

    /// An hour of a calendar day in this zone; where the clock skips it, the first hour after that.
    #[must_use]
    pub fn hour_of_day(&self, day: &str, hour: u8) -> Option<Timestamp> {
        self.hour(parse_day(day)?, hour)
    }

    /// The calendar day after another one; none after the last.
    #[must_use]
    pub fn day_after(day: &str) -> Option<String> {
        parse_day(day)?.tomorrow().ok().map(|day| day.to_string())
    }

    /// The calendar day before another one; none before the first.
    #[must_use]
    pub fn day_before(day: &str) -> Option<String> {
        parse_day(day)?.yesterday().ok().map(|day| day.to_string())
    }

    /// When a calendar day ends in this zone: the start of the next one.
    #[must_use]
    pub fn end_of_day(&self, day: &str) -> Option<Timestamp> {
        let day = parse_day(day)?;
        // The calendar ends after its last day.
        day.tomorrow()
            .map_or(Some(Timestamp::from_millis(*RANGE.end())), |next| {
                self.hour(next, 0)
            })
    }

    /// Formats a timestamp in this zone, with `strftime`.
    #[must_use]
    pub fn write(&self, at: Timestamp, form: &str) -> String {
        jiff::Timestamp::from_millisecond(at.0).map_or_else(
            |_| at.to_string(),
            |moment| moment.to_zoned(self.0.clone()).strftime(form).to_string(),
        )
    }

    /// The calendar day of a timestamp in this zone.
    #[must_use]
    pub fn day_of(&self, at: Timestamp) -> Option<CalendarDay> {
        let moment = jiff::Timestamp::from_millisecond(at.0).ok()?;
        Some(CalendarDay(moment.to_zoned(self.0.clone()).date()))
    }

    /// When a calendar day starts in this zone.
    #[must_use]
    pub fn start(&self, day: CalendarDay) -> Option<Timestamp> {
        self.hour(day.0, 0)
    }

    /// The time on the clock so many minutes after midnight, up to the end of the next day. A time that the clock skips is moved
    /// behind the gap; of one that it shows twice, the first counts.
    pub(crate) fn at_minute(&self, day: CalendarDay, minutes: u32) -> Option<Timestamp> {
        const DAY: u32 = 24 * 60;
        let date = (0..minutes / DAY).try_fold(day.0, |date, _| date.tomorrow().ok())?;
        let minutes = i16::try_from(minutes % DAY).ok()?;
        let (hour, minute) = (i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?);
        let moment = date.at(hour, minute, 0, 0).to_zoned(self.0.clone()).ok()?;
        Some(Timestamp::from_millis(moment.timestamp().as_millisecond()))
    }

    fn hour(&self, day: Date, hour: u8) -> Option<Timestamp> {
        let hour = i8::try_from(hour).ok().filter(|hour| (0..24).contains(hour))?;
        let start = day.at(hour, 0, 0, 0).to_zoned(self.0.clone()).ok()?;
        Some(Timestamp::from_millis(start.timestamp().as_millisecond()))
    }
}

/// A day of the calendar, such as `2026-03-01`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarDay(Date);

impl CalendarDay {
    #[must_use]
    pub fn tomorrow(self) -> Option<Self> {
        self.0.tomorrow().ok().map(Self)
    }

    #[must_use]
    pub fn yesterday(self) -> Option<Self> {
        self.0.yesterday().ok().map(Self)
    }

    pub(crate) fn date(self) -> Date {
        self.0
    }
}

impl FromStr for CalendarDay {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_day(text).map(Self).ok_or(NotADay)
    }
}

impl fmt::Display for CalendarDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CalendarDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for CalendarDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CalendarDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The text is not a day of the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotADay;

impl fmt::Display for NotADay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a day, such as 2026-03-01")
    }
}

impl std::error::Error for NotADay {}

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
    fn http_dates_are_written_and_read() {
        let at = Timestamp::from_millis(1_767_225_600_007);
        let text = at.http_date().unwrap();
        assert_eq!(text, "Thu, 01 Jan 2026 00:00:00 GMT");
        assert_eq!(
            Timestamp::from_http_date(&text),
            Some(Timestamp::from_millis(1_767_225_600_000))
        );
        for wrong in ["", "now", "Thu, 32 Jan 2026 00:00:00 GMT", "2026-01-01T00:00:00Z"] {
            assert_eq!(Timestamp::from_http_date(wrong), None, "{wrong}");
        }
    }

    /// Every day from the year 0 to 9999, each at another time of day, and the timestamps around each end.
    #[test]
    fn is_written_as_the_library_writes_it() {
        let (first, last) = (*FOUR_DIGITS.start(), *FOUR_DIGITS.end());
        let days = (first..=last).step_by(86_400_000 + 7_919);
        let ends = [
            first,
            first + 1,
            -1,
            0,
            1,
            999,
            1_000,
            59_999,
            60_000,
            last - 1,
            last,
        ];
        for millis in days.chain(ends) {
            let moment = jiff::Timestamp::from_millisecond(millis).unwrap();
            let text = Timestamp::from_millis(millis).text().unwrap();
            assert_eq!(text.as_str(), format!("{moment:.3}"), "{millis}");
        }
        for outside in [first - 1, last + 1, i64::MIN, i64::MAX] {
            assert!(Timestamp::from_millis(outside).text().is_none());
            assert!(!Timestamp::from_millis(outside).to_string().is_empty());
        }
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
