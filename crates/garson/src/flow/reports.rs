//! Lists, the stamp "reported", and sums by payment type.

use super::{Fault, act};
use crate::app::App;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::Status;
use garson_core::restaurant::Config;
use garson_core::time::{Timestamp, Zone};
use garson_store::feed::{Page, PageRequest, Scope, places_between};
use garson_store::orders::{self, OrderSummary};
use garson_store::totals::{self, Sums};
use garson_store::{Tx, restaurants};

/// A moment that a client gives: an instant, or a calendar day where the restaurant is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    At(Timestamp),
    Day(String),
}

/// From when to when; a day given as the end is part of it.
#[derive(Clone, Debug, Default)]
pub struct Period {
    pub from: Option<Moment>,
    pub to: Option<Moment>,
}

impl Period {
    fn bounds(&self, zone: &Zone) -> Result<(Option<Timestamp>, Option<Timestamp>), Fault> {
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

fn scope(tx: &mut Tx<'_>, account: AccountId, restaurant: Option<RestaurantId>) -> Result<Scope, Fault> {
    match restaurant {
        None => Ok(Scope::Account(account)),
        Some(id) if restaurants::exists(tx, account, id)? => Ok(Scope::Restaurant(id)),
        Some(id) => Err(Fault::not_found("restaurant", id)),
    }
}

fn zone(tx: &mut Tx<'_>, restaurant: Option<RestaurantId>) -> Result<Zone, Fault> {
    let Some(id) = restaurant else {
        return Ok(Zone::istanbul());
    };
    let config = restaurants::config(tx, id)?;
    Ok(Config::read(config.as_deref()).unwrap_or_default().zone())
}

/// A page of all orders, read and made into something in one go.
pub async fn list<T: Send + 'static>(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    request: PageRequest,
    read: fn(&mut Tx<'_>, Scope, PageRequest) -> garson_store::Result<T>,
) -> Result<T, Fault> {
    app.store
        .read(move |tx| {
            let scope = scope(tx, account, restaurant)?;
            Ok(read(tx, scope, request)?)
        })
        .await
}

/// A page of the orders that wait to be reported.
pub async fn list_pending(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    statuses: Vec<Status>,
    period: Period,
    request: PageRequest,
) -> Result<Page<OrderSummary>, Fault> {
    app.store
        .read(move |tx| {
            let scope = scope(tx, account, restaurant)?;
            let (from, to) = period.bounds(&zone(tx, restaurant)?)?;
            match places_between(tx, account, from, to)? {
                Some(between) => Ok(orders::list_pending(tx, scope, &statuses, between, request)?),
                None => Ok(Page::empty(request)),
            }
        })
        .await
}

/// A page of all orders of a period, reported or not.
pub async fn list_period(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    period: Period,
    request: PageRequest,
) -> Result<Page<OrderSummary>, Fault> {
    app.store
        .read(move |tx| {
            let scope = scope(tx, account, restaurant)?;
            let (from, to) = period.bounds(&zone(tx, restaurant)?)?;
            match places_between(tx, account, from, to)? {
                Some(between) => Ok(orders::list_between(tx, scope, between, request)?),
                None => Ok(Page::empty(request)),
            }
        })
        .await
}

/// Stamps orders as reported, by our ids; says how many were not before. What is not there any more is left out.
pub async fn mark_each(app: &App, account: AccountId, ids: Vec<OrderId>) -> Result<usize, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            let mut marked = 0;
            for id in &ids {
                let found = orders::by_id(tx, *id)?.filter(|order| order.account_id == account);
                if found.is_some_and(|order| order.reported_at.is_none()) {
                    orders::mark_reported(tx, *id, now)?;
                    marked += 1;
                }
            }
            Ok(marked)
        })
        .await
}

/// Stamps an order as reported, by the platform's id or, where that names several, by ours; says the platform's.
pub async fn mark(app: &App, account: AccountId, id: String) -> Result<String, Fault> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            // What accounting names is the platform's id; ours is for orders that it cannot tell apart.
            let order = match orders::by_provider_order_id(tx, account, &id)? {
                none if none.is_empty() => act::find_one(tx, account, &id)?,
                found => act::only_one(found, &id)?,
            };
            orders::mark_reported(tx, order.id, now)?;
            Ok(order.provider_order_id)
        })
        .await
}

/// Sums by payment type and currency.
pub async fn payments(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    period: Period,
) -> Result<Sums, Fault> {
    app.store
        .read(move |tx| {
            scope(tx, account, restaurant)?;
            let (from, to) = period.bounds(&zone(tx, restaurant)?)?;
            Ok(totals::sums(tx, account, restaurant, from, to)?)
        })
        .await
}
