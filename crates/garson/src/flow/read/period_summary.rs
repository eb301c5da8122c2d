//! The summary of some business days: sales by platform, restaurant, payment type, day and hour, times, and cancellations.

use super::day_summary::hours;
use super::period::{calendar, scope};
use super::reports::Days;
use crate::app::App;
use crate::flow::Fault;
use garson_core::calendar::Calendar;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::Currency;
use garson_core::time::Timestamp;
use garson_store::tables::restaurants;
use garson_store::totals::stats::{self, Stats, Tally};
use std::collections::BTreeMap;

/// The most days times restaurants of a summary, so that it is read in bounded time.
const MAX_RESTAURANT_DAYS: usize = 6_200;

pub struct PeriodSummary {
    pub calendar: Calendar,
    /// The first and the last day.
    pub from: String,
    pub to: String,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub stats: Stats,
    pub by_day: Vec<(String, Stats)>,
    /// By the hour of the day where the restaurant is, such as `09`.
    pub by_hour: BTreeMap<String, Stats>,
    /// The sales of each restaurant, with its name.
    pub by_restaurant: Vec<(RestaurantId, String, Currency, Tally)>,
}

/// The summary of the days from one to another, both included; without either, of today. Without the first day, it is that of the
/// last one.
pub async fn read(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    from: Option<String>,
    to: Option<String>,
) -> Result<PeriodSummary, Fault> {
    let now = app.now();
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            let calendar = calendar(tx, account, restaurant)?;
            let to = to.clone().unwrap_or_else(|| calendar.day_of(now));
            let from = from.clone().unwrap_or_else(|| to.clone());
            let days = Days::Between(from.clone(), to.clone()).each(&calendar, now)?;
            let mut names = restaurants::names(tx, account)?;
            names.retain(|(id, _)| restaurant.is_none_or(|only| only == *id));
            let most = MAX_RESTAURANT_DAYS
                .checked_div(names.len())
                .unwrap_or(usize::MAX)
                .max(1);
            if days.len() > most {
                return Err(Fault::invalid("to", FieldProblem::PeriodTooLong { days: most }));
            }
            let (bounds, labels) = hour_bounds(&calendar, &days)?;
            let by_bound = stats::between(tx, account, restaurant, &bounds)?;
            let (starts_at, ends_at) = match (bounds.first(), bounds.last()) {
                (Some(first), Some(last)) => (*first, *last),
                _ => return Err(not_a_day("from")),
            };
            let mut summary = PeriodSummary {
                by_restaurant: Vec::new(),
                from,
                to,
                starts_at,
                ends_at,
                stats: Stats::default(),
                by_day: days.into_iter().map(|day| (day, Stats::default())).collect(),
                by_hour: BTreeMap::new(),
                calendar,
            };
            for ((day, hour), found) in labels.into_iter().zip(&by_bound) {
                summary.stats.add_all(found);
                summary.by_hour.entry(hour).or_default().add_all(found);
                if let Some((_, stats)) = summary.by_day.get_mut(day) {
                    stats.add_all(found);
                }
            }
            let ids: Vec<RestaurantId> = names.iter().map(|(id, _)| *id).collect();
            let sales = stats::sales_of_restaurants(tx, &ids, (starts_at, ends_at))?;
            for (id, name) in names {
                let of = sales.iter().filter(|((restaurant, _), _)| *restaurant == id);
                let rows = of.map(|((_, currency), tally)| (id, name.clone(), *currency, *tally));
                summary.by_restaurant.extend(rows);
            }
            Ok(summary)
        })
        .await
}

fn not_a_day(field: &str) -> Fault {
    Fault::invalid(field, FieldProblem::NotDay)
}

/// A day by its number, and an hour of it.
type HourLabel = (usize, String);

/// The starts of all hours and the end of the last one, and a label for each hour.
fn hour_bounds(calendar: &Calendar, days: &[String]) -> Result<(Vec<Timestamp>, Vec<HourLabel>), Fault> {
    let (mut bounds, mut labels) = (Vec::new(), Vec::new());
    for (number, day) in days.iter().enumerate() {
        let field = if number == 0 { "from" } else { "to" };
        let both = calendar.start_of_day(day).zip(calendar.end_of_day(day));
        let (start, end) = both.ok_or_else(|| not_a_day(field))?;
        // The end of a day is the start of the next.
        bounds.pop();
        bounds.extend(hours(start, end));
        let starts = bounds.iter().skip(labels.len()).filter(|at| **at < end);
        labels.extend(starts.map(|at| (number, calendar.zone().write(*at, "%H"))));
    }
    Ok((bounds, labels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::calendar::DayEnd;
    use garson_core::time::Zone;

    #[test]
    fn hours_of_several_days_follow_each_other() {
        let zone = Zone::named("Europe/Berlin").unwrap_or_else(Zone::istanbul);
        let calendar = Calendar::new(zone, DayEnd::read("03:00").unwrap_or_default());
        // The clock is set forward in the night that belongs to the first day, at its end.
        let days = ["2026-03-28", "2026-03-29"].map(str::to_owned);
        let (bounds, labels) = hour_bounds(&calendar, &days).unwrap_or_default();
        assert_eq!((bounds.len(), labels.len()), (48, 47));
        assert!(bounds.is_sorted());
        assert_eq!(labels[0], (0, "03".to_owned()));
        assert_eq!(labels[23], (1, "03".to_owned()));
        assert_eq!(labels[46], (1, "02".to_owned()));
        assert!(hour_bounds(&calendar, &["2026-02-30".to_owned()]).is_err());
    }
}
