//! The end of a restaurant's business day, when products that are sold out for the day become available again.

use garson_core::calendar::{Calendar, DayEnd};
use garson_core::opening_hours::OpeningHours;
use garson_core::restaurant::Config;
use garson_core::time::Timestamp;
use std::time::Duration;

/// The default end of the business day: for kitchens that close after midnight, the night still belongs to the evening.
const MORNING: &str = "06:00";

/// The end of the business day that contains a time. If the restaurant is still open at that end, the day ends when it closes.
#[must_use]
pub fn end_of_day(config: &Config, hours: Option<&OpeningHours>, now: Timestamp) -> Timestamp {
    let is_set = config.day_ends_at != DayEnd::default();
    let morning = DayEnd::read(MORNING).filter(|_| !is_set);
    let days = Calendar::new(config.zone(), morning.unwrap_or(config.day_ends_at));
    let end = days.end_of_day(&days.day_of(now));
    let end = end.unwrap_or_else(|| now.plus(Duration::from_secs(86_400)));
    let closing = hours
        .filter(|hours| hours.is_open_at(end))
        .and_then(|hours| hours.next_change_after(end));
    closing.map_or(end, |change| change.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::opening_hours::{Span, Week, Weekday};

    fn ends(config: &Config, hours: Option<&OpeningHours>, now: &str) -> String {
        end_of_day(config, hours, now.parse().unwrap()).to_string()
    }

    #[test]
    fn business_day_ends_in_the_morning() {
        let config = Config::default();
        for (now, end) in [
            ("2026-11-18T12:00:00.000+03:00", "2026-11-19T03:00:00.000Z"),
            ("2026-11-18T23:59:00.000+03:00", "2026-11-19T03:00:00.000Z"),
            ("2026-11-19T02:00:00.000+03:00", "2026-11-19T03:00:00.000Z"),
            ("2026-11-19T06:00:00.000+03:00", "2026-11-20T03:00:00.000Z"),
        ] {
            assert_eq!(ends(&config, None, now), end, "{now}");
        }
    }

    #[test]
    fn business_day_of_the_restaurant_counts() {
        let config = Config::read(Some(r#"{"dayEndsAt": "03:00", "timezone": "Europe/Berlin"}"#)).unwrap();
        assert_eq!(
            ends(&config, None, "2026-11-18T23:00:00Z"),
            "2026-11-19T02:00:00.000Z"
        );
    }

    #[test]
    fn day_of_a_restaurant_that_is_open_then_ends_when_it_closes() {
        let span = Span::new("18:00".parse().unwrap(), "08:00".parse().unwrap());
        let week = Week::new(Weekday::ALL.iter().map(|day| (*day, span)));
        let hours = OpeningHours::weekly_in("Europe/Istanbul", week).unwrap();
        let end = ends(&Config::default(), Some(&hours), "2026-11-18T22:00:00+03:00");
        assert_eq!(end, "2026-11-19T05:00:00.000Z");
    }
}
