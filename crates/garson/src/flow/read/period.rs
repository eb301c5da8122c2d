//! Periods of lists and reports, and the restaurants that they cover.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant::Config;
use garson_core::time::{Timestamp, Zone};
use garson_store::Tx;
use garson_store::lists::feed::Scope;
use garson_store::tables::restaurants;

/// A time that a client gives: a timestamp, or a calendar day in the time zone of the restaurant.
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
        match self.bounds(&Zone::istanbul()) {
            Err(Fault::Invalid { field, .. }) => Err(WrongPeriod::NotADay { field }),
            Ok((Some(from), Some(to))) if to <= from => Err(WrongPeriod::Reversed),
            _ => Ok(()),
        }
    }

    pub(crate) fn bounds(&self, zone: &Zone) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
        let not_a_day = |field: &str| Fault::invalid(field, FieldProblem::NotDay);
        let from = match &self.from {
            None => None,
            Some(Moment::At(at)) => Some(*at),
            Some(Moment::Day(day)) => Some(zone.start_of_day(day).ok_or_else(|| not_a_day("from"))?),
        };
        let to = match &self.to {
            None => None,
            Some(Moment::At(at)) => Some(*at),
            Some(Moment::Day(day)) => Some(zone.end_of_day(day).ok_or_else(|| not_a_day("to"))?),
        };
        Ok((from, to))
    }
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

pub(crate) fn zone(tx: &mut Tx<'_>, restaurant: Option<RestaurantId>) -> Result<Zone, Fault> {
    let Some(id) = restaurant else {
        return Ok(Zone::istanbul());
    };
    let config = restaurants::config(tx, id)?;
    Ok(Config::read(config.as_deref()).unwrap_or_default().zone())
}
