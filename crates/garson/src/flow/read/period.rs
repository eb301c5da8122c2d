//! Periods of lists and reports, and the restaurants that they cover.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::calendar::{Calendar, DayEnd};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant::Config;
use garson_core::time::{Timestamp, Zone};
use garson_store::Tx;
use garson_store::lists::feed::Scope;
use garson_store::tables::restaurants;

/// A time that a client gives: a timestamp, or a business day of the restaurant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    At(Timestamp),
    Day(String),
}

/// A range of time; a day given as its end is part of it.
#[derive(Clone, Debug, Default)]
pub struct Period {
    pub from: Option<Moment>,
    pub to: Option<Moment>,
}

/// What is wrong with a period that a user has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongPeriod {
    /// The value of this field is not a calendar day.
    NotADay { field: String },
    /// It ends before it begins.
    Reversed,
}

impl Period {
    /// Can there be orders in it at all? API clients may ask for a reversed period and get an empty list; for a user it is a
    /// mistake.
    pub fn check(&self) -> Result<(), WrongPeriod> {
        match self.bounds(&Calendar::istanbul()) {
            Err(Fault::Invalid { field, .. }) => Err(WrongPeriod::NotADay { field }),
            Ok((Some(from), Some(to))) if to <= from => Err(WrongPeriod::Reversed),
            _ => Ok(()),
        }
    }

    /// The period as timestamps, by the business days of a restaurant or of all of an account's.
    pub(crate) fn resolve(
        &self,
        tx: &mut Tx<'_>,
        account: AccountId,
        restaurant: Option<RestaurantId>,
    ) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
        let names_day = |it: &Option<Moment>| matches!(it, Some(Moment::Day(_)));
        let days = if names_day(&self.from) || names_day(&self.to) {
            calendar(tx, account, restaurant)?
        } else {
            Calendar::istanbul()
        };
        self.bounds(&days)
    }

    fn bounds(&self, days: &Calendar) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
        let not_a_day = |field: &str| Fault::invalid(field, FieldProblem::NotDay);
        let from = match &self.from {
            None => None,
            Some(Moment::At(at)) => Some(*at),
            Some(Moment::Day(day)) => Some(days.start_of_day(day).ok_or_else(|| not_a_day("from"))?),
        };
        let to = match &self.to {
            None => None,
            Some(Moment::At(at)) => Some(*at),
            Some(Moment::Day(day)) => Some(days.end_of_day(day).ok_or_else(|| not_a_day("to"))?),
        };
        Ok((from, to))
    }
}

/// A period as timestamps, by the business days of all of an account's restaurants.
pub async fn resolve_period(
    app: &App,
    account: AccountId,
    period: Period,
) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
    app.store.read(move |tx| period.resolve(tx, account, None)).await
}

/// The orders of the account, or of one of its restaurants.
pub(crate) fn scope(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<Scope, Fault> {
    match restaurant {
        None => Ok(Scope::Account(account)),
        Some(id) if restaurants::exists(tx, account, id)? => Ok(Scope::Restaurant(id)),
        Some(id) => Err(Fault::not_found(Thing::Restaurant, id)),
    }
}

/// The key of `config` that says when a business day ends.
const DAY_END: &str = "dayEndsAt";

/// The business days of a restaurant. Those of a whole account are counted in Istanbul; they end when the days of all its
/// restaurants do, or at midnight if these differ.
pub(crate) fn calendar(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<Calendar, Fault> {
    if let Some(id) = restaurant {
        let config = restaurants::config(tx, id)?;
        return Ok(Config::read(config.as_deref()).unwrap_or_default().calendar());
    }
    let (configs, count) = restaurants::configs_with(tx, account, DAY_END)?;
    let mut ends = configs
        .iter()
        .map(|config| Config::read(Some(config)).unwrap_or_default().day_ends_at);
    let first = ends.next().unwrap_or_default();
    let is_common =
        i64::try_from(configs.len()).is_ok_and(|found| found == count) && ends.all(|end| end == first);
    let end = if is_common { first } else { DayEnd::default() };
    Ok(Calendar::new(Zone::istanbul(), end))
}

/// The business days of a restaurant or of an account.
pub async fn read_calendar(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<Calendar, Fault> {
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            calendar(tx, account, restaurant)
        })
        .await
}
