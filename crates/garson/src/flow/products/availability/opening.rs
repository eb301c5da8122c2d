//! The restaurant's next opening, as the end of the time for which a product is off.

use super::day_end::end_of_day;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::products::list::check_restaurant;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::opening_hours::OpeningHours;
use garson_core::restaurant::Config;
use garson_core::time::Timestamp;
use garson_store::tables::{restaurants, store_settings};
use std::time::Duration;

/// An opening this shortly before the end of the business day belongs to the next one.
const EARLY: Duration = Duration::from_secs(3 * 3_600);

/// When the restaurant opens after this business day; none if it has no opening hours.
pub async fn tomorrows_opening(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Option<Timestamp>, Fault> {
    let (now, vault) = (app.now(), app.vault.clone());
    app.store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            let Some(hours) = store_settings::find(tx, restaurant)?.hours else {
                return Ok(None);
            };
            let found = restaurants::find(tx, &vault, account, restaurant)?;
            let config = Config::read(found.and_then(|it| it.fields.config).as_deref());
            Ok(next_day_opening(&config.unwrap_or_default(), &hours, now))
        })
        .await
}

fn next_day_opening(config: &Config, hours: &OpeningHours, now: Timestamp) -> Option<Timestamp> {
    hours.next_opening_after(end_of_day(config, None, now).minus(EARLY).max(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::opening_hours::{Span, Week, Weekday};

    #[test]
    fn a_break_in_the_afternoon_is_not_the_next_day() {
        let span = |opens: &str, closes: &str| Span::new(opens.parse().unwrap(), closes.parse().unwrap());
        let spans = [span("10:00", "14:00"), span("17:00", "02:00")];
        let week = Week::new(Weekday::ALL.iter().flat_map(|day| spans.map(|span| (*day, span))));
        let hours = OpeningHours::weekly_in("Europe/Istanbul", week).unwrap();
        for (now, opens) in [
            ("2026-11-18T12:00:00.000+03:00", "2026-11-19T10:00:00.000+03:00"),
            ("2026-11-18T15:00:00.000+03:00", "2026-11-19T10:00:00.000+03:00"),
            ("2026-11-19T01:00:00.000+03:00", "2026-11-19T10:00:00.000+03:00"),
        ] {
            let (now, opens): (Timestamp, Timestamp) = (now.parse().unwrap(), opens.parse().unwrap());
            assert_eq!(
                next_day_opening(&Config::default(), &hours, now),
                Some(opens),
                "{now}"
            );
        }
    }
}
