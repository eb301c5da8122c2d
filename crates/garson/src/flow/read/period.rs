//! The period that a list covers, in the time zone of a restaurant.

use crate::flow::Fault;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant::Config;
use garson_core::time::{Timestamp, Zone};
use garson_store::Tx;
use garson_store::lists::feed::Scope;
use garson_store::tables::restaurants;

/// A timestamp that a client gives, or a calendar day in the restaurant's time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    At(Timestamp),
    Day(String),
}

/// From when to when; a day given as the end is included.
#[derive(Clone, Debug, Default)]
pub struct Period {
    pub from: Option<Moment>,
    pub to: Option<Moment>,
}

/// Why a chosen period is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongPeriod {
    /// This field is not a calendar day.
    NotADay { field: String },
    /// It ends before it starts.
    Reversed,
}

impl Period {
    /// Checks a period that a person chose. The API accepts a period that ends before it starts, and returns nothing.
    pub fn check(&self) -> Result<(), WrongPeriod> {
        match self.bounds(&Zone::istanbul()) {
            Err(Fault::Invalid { field, .. }) => Err(WrongPeriod::NotADay { field }),
            Ok((Some(from), Some(to))) if to <= from => Err(WrongPeriod::Reversed),
            _ => Ok(()),
        }
    }

    pub(crate) fn bounds(&self, zone: &Zone) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
        let not_a_day = |field: &str| Fault::invalid(field, "is not a day of the calendar");
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

/// Whose orders are meant: the account's, or those of one of its restaurants.
pub(crate) fn scope(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<Scope, Fault> {
    match restaurant {
        None => Ok(Scope::Account(account)),
        Some(id) if restaurants::exists(tx, account, id)? => Ok(Scope::Restaurant(id)),
        Some(id) => Err(Fault::not_found("restaurant", id)),
    }
}

pub(crate) fn zone(tx: &mut Tx<'_>, restaurant: Option<RestaurantId>) -> Result<Zone, Fault> {
    let Some(id) = restaurant else {
        return Ok(Zone::istanbul());
    };
    let config = restaurants::config(tx, id)?;
    Ok(Config::read(config.as_deref()).unwrap_or_default().zone())
}
