//! The summary of a day: sales, cancellations and times, by hour, compared with the day before and the same weekday.

use super::period::{calendar, scope};
use crate::app::App;
use crate::flow::Fault;
use garson_core::calendar::Calendar;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::Currency;
use garson_core::time::{Timestamp, Zone};
use garson_store::tables::restaurants;
use garson_store::totals::stats::{self, Stats, Tally};
use std::collections::BTreeMap;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// A day has at most this many hours, even when the clock is set back.
const MAX_HOURS: usize = 26;
/// The most restaurants whose sales are read one by one.
const MAX_RESTAURANTS: usize = 1_000;

/// Which day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichDay {
    Today,
    Yesterday,
    /// Such as `2026-03-01`.
    Named(String),
}

pub struct DaySummary {
    pub zone: Zone,
    /// The day as it is called where the restaurant is, such as `2026-03-01`.
    pub day: String,
    pub starts_at: Timestamp,
    pub is_today: bool,
    pub stats: Stats,
    /// What is compared with other days: of today up to the last half hour that is over.
    pub comparable: Stats,
    /// The start of each hour, with its orders.
    pub hours: Vec<(Timestamp, Stats)>,
    /// Other days, to compare with: up to the same time of day if the summary is of today.
    pub day_before: Stats,
    pub week_before: Stats,
    /// The sales of each restaurant; only for all restaurants of an account.
    pub restaurants: BTreeMap<(RestaurantId, Currency), Tally>,
}

/// The summary of a business day of an account or of one of its restaurants.
pub async fn read(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    day: WhichDay,
) -> Result<DaySummary, Fault> {
    let now = app.now();
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            let calendar = calendar(tx, account, restaurant)?;
            let today = calendar.day_of(now);
            let day = match &day {
                WhichDay::Today => today.clone(),
                WhichDay::Yesterday => days_before(&today, 1)?,
                WhichDay::Named(day) => day.clone(),
            };
            let is_today = day == today;
            let (starts_at, ends_at) = bounds(&calendar, &day)?;
            let hours = hours(starts_at, ends_at);
            let by_hour = stats::between(tx, account, restaurant, &hours)?;
            let mut whole = Stats::default();
            by_hour.iter().for_each(|hour| whole.add_all(hour));
            let passed = is_today.then(|| stats::slot_start(now).since(starts_at));
            let mut until_now = |from: Timestamp, to: Timestamp| -> Result<Stats, Fault> {
                let to = passed.map_or(to, |passed| to.min(from.plus(passed)));
                let mut found = stats::between(tx, account, restaurant, &[from, to])?;
                Ok(found.pop().unwrap_or_default())
            };
            let mut other = |days: usize| -> Result<Stats, Fault> {
                let (from, to) = bounds(&calendar, &days_before(&day, days)?)?;
                until_now(from, to)
            };
            let (day_before, week_before) = (other(1)?, other(7)?);
            let comparable = if is_today {
                until_now(starts_at, ends_at)?
            } else {
                whole.clone()
            };
            let restaurants = match restaurant {
                Some(_) => BTreeMap::new(),
                None => {
                    let mut ids: Vec<RestaurantId> = restaurants::names(tx, account)?
                        .into_iter()
                        .map(|(id, _)| id)
                        .collect();
                    ids.truncate(MAX_RESTAURANTS);
                    stats::sales_of_restaurants(tx, &ids, (starts_at, ends_at))?
                }
            };
            Ok(DaySummary {
                day,
                starts_at,
                is_today,
                stats: whole,
                comparable,
                hours: hours.into_iter().zip(by_hour).collect(),
                day_before,
                week_before,
                restaurants,
                zone: calendar.zone().clone(),
            })
        })
        .await
}

fn not_a_day() -> Fault {
    Fault::invalid("day", FieldProblem::NotDay)
}

fn bounds(calendar: &Calendar, day: &str) -> Result<(Timestamp, Timestamp), Fault> {
    let both = calendar.start_of_day(day).zip(calendar.end_of_day(day));
    both.ok_or_else(not_a_day)
}

fn days_before(day: &str, days: usize) -> Result<String, Fault> {
    let mut day = day.to_owned();
    for _ in 0..days {
        day = Zone::day_before(&day).ok_or_else(not_a_day)?;
    }
    Ok(day)
}

/// The starts of the hours of a day, and its end.
pub(super) fn hours(starts_at: Timestamp, ends_at: Timestamp) -> Vec<Timestamp> {
    let mut hours = vec![starts_at];
    while let Some(last) = hours.last()
        && hours.len() <= MAX_HOURS
    {
        let next = last.plus(HOUR).min(ends_at);
        if next == *last {
            break;
        }
        hours.push(next);
    }
    hours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_has_its_hours_and_neighbours() {
        let calendar = Calendar::istanbul();
        let (start, end) = bounds(&calendar, "2026-03-01")
            .map_err(|_| ())
            .unwrap_or_default();
        let hours = hours(start, end);
        assert_eq!((hours.len(), hours[0], hours[24]), (25, start, end));
        let before = |days| days_before("2026-03-01", days).map_err(|_| ());
        assert_eq!(before(1), Ok("2026-02-28".to_owned()));
        assert_eq!(before(7), Ok("2026-02-22".to_owned()));
        assert!(bounds(&calendar, "2026-02-30").is_err());
    }
}
