//! The value of `<input type="datetime-local">`, in a time zone.

use garson_core::time::{Timestamp, Zone};
use std::time::Duration;

const FORM: &str = "%Y-%m-%dT%H:%M";

pub fn write(zone: &Zone, at: Timestamp) -> String {
    zone.write(at, FORM)
}

/// None if it is no date and time.
pub fn parse(zone: &Zone, text: &str) -> Option<Timestamp> {
    let (day, time) = text.split_once('T')?;
    let (hours, rest) = time.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
    let number = |text: &str, below: u8| text.parse::<u8>().ok().filter(|number| *number < below);
    let (hours, minutes, seconds) = (number(hours, 24)?, number(minutes, 60)?, number(seconds, 60)?);
    let start = zone.hour_of_day(day, hours)?;
    Some(start.plus(Duration::from_secs(u64::from(minutes) * 60 + u64::from(seconds))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datetimes_are_in_the_zone() {
        let at = |text| parse(&Zone::istanbul(), text).map(|at| at.to_string());
        assert_eq!(
            at("2026-03-01T12:30").as_deref(),
            Some("2026-03-01T09:30:00.000Z")
        );
        assert_eq!(
            at("2026-03-01T00:00:05").as_deref(),
            Some("2026-02-28T21:00:05.000Z")
        );
        for wrong in [
            "",
            "T",
            "2026-03-01",
            "2026-02-30T10:00",
            "2026-03-01T24:00",
            "2026-03-01T10:-1",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
        let noon = parse(&Zone::istanbul(), "2026-03-01T12:30").unwrap();
        assert_eq!(write(&Zone::istanbul(), noon), "2026-03-01T12:30");
    }
}
