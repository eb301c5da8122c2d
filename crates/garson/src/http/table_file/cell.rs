//! Values of tables that are written to files.

use garson_core::money::Minor;
use garson_core::time::{Timestamp, Zone};

/// From the first day of spreadsheets' calendar, 30 December 1899, to 1 January 1970.
const EPOCH_DAYS: i64 = 25_569;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Never read as a number, a date or a formula.
    Text(String),
    /// A time where the restaurant is: as text, and as spreadsheets count it.
    Time {
        text: String,
        serial: f64,
    },
    Amount(Minor),
    Number(i64),
    Empty,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A time where the zone is, with the text for files that have no type for it.
    pub fn time(text: String, zone: &Zone, at: Timestamp) -> Self {
        Self::Time {
            text,
            serial: serial_time(zone, at),
        }
    }

    /// The text, or nothing.
    pub fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.into()))
    }
}

/// A time as spreadsheets count it: days since the start of their calendar, where the zone is.
fn serial_time(zone: &Zone, at: Timestamp) -> f64 {
    let written = zone.write(at, "%Y %m %d %H %M %S");
    let parts: Vec<i64> = written.split(' ').filter_map(|part| part.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = parts[..] else {
        return 0.0;
    };
    let seconds = hour * 3600 + minute * 60 + second;
    let days = days_since_1970(year, month, day) + EPOCH_DAYS;
    // Both are far below the numbers that a double cannot represent.
    #[allow(clippy::cast_precision_loss)]
    let (days, seconds) = (days as f64, seconds as f64);
    days + seconds / 86_400.0
}

/// The days of the Gregorian calendar. Years begin in March here, so that the leap day is the last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_days() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap_or_default();
        let zone = Zone::istanbul();
        assert_eq!(serial_time(&zone, at("2026-02-28T21:00:00Z")), 46_082.0);
        assert_eq!(serial_time(&zone, at("2026-03-01T09:00:00Z")), 46_082.5);
        assert_eq!(serial_time(&zone, at("2024-02-29T09:00:00Z")), 45_351.5);
    }
}
