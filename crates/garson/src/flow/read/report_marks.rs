//! The stamp "reported": accounting has taken the order.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::find_order;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, OrderId};
use garson_core::order::{Order, Status};
use garson_core::permission::RestaurantScope;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::accounts::reserve_positions;
use garson_store::tables::orders;
use std::collections::{BTreeMap, BTreeSet};

/// The orders that staff mark as reported: those that are delivered. An unfinished order may still change, and a cancelled one is
/// not accounted for.
pub const REPORTABLE: [Status; 1] = [Status::Delivered];

/// Stamps delivered orders as reported, by our ids; says how many were not before. What is not there any more, or not delivered, is
/// left out.
pub async fn mark_each(app: &App, by: By, ids: Vec<OrderId>) -> Result<usize, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let mut marked = 0;
            for id in &ids {
                let found = orders::by_id(tx, *id)?.filter(|order| order.account_id == account);
                let is_due =
                    |order: &Order| order.reported_at.is_none() && REPORTABLE.contains(&order.status);
                if let Some(order) = found.filter(is_due) {
                    stamp(tx, &by, &order, now)?;
                    marked += 1;
                }
            }
            Ok(marked)
        })
        .await
}

/// Removes the stamps of orders, by our ids; says how many had one.
pub async fn unmark_each(app: &App, by: By, ids: Vec<OrderId>) -> Result<usize, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let mut unmarked = 0;
            for id in &ids {
                let found = orders::by_id(tx, *id)?.filter(|order| order.account_id == account);
                if let Some(order) = found.filter(|order| order.reported_at.is_some()) {
                    unstamp(tx, &by, &order, now)?;
                    unmarked += 1;
                }
            }
            Ok(unmarked)
        })
        .await
}

/// The order of these restaurants that an id names. What accounting names is the platform's id; ours is for orders that it cannot
/// tell apart.
fn named(tx: &mut Tx<'_>, account: AccountId, scope: &RestaurantScope, id: &str) -> Result<Order, Fault> {
    let mut found = orders::by_provider_order_id(tx, account, id)?;
    found.retain(|order| scope.has(order.restaurant_id));
    if found.is_empty() {
        found = orders::find(tx, account, id)?;
        found.retain(|order| scope.has(order.restaurant_id));
    }
    find_order::only_one(found, id)
}

/// Removes the stamp of an order, by the platform's id or, where that names several, by ours; says the platform's.
pub async fn unmark(app: &App, by: By, scope: RestaurantScope, id: String) -> Result<String, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let order = named(tx, account, &scope, &id)?;
            unstamp(tx, &by, &order, now)?;
            Ok(order.provider_order_id)
        })
        .await
}

fn recorded(verb: Verb, order: &Order) -> Recorded {
    Recorded::new(RecordKind::Order, verb)
        .id(order.id)
        .restaurant(order.restaurant_id)
}

fn unstamp(tx: &mut Tx<'_>, by: &By, order: &Order, now: Timestamp) -> Result<(), Fault> {
    if order.reported_at.is_some() {
        let mut places = reserve_positions(tx, order.account_id, 1, now)?;
        orders::unmark_reported(tx, order.id, places.at, places.take())?;
        by.record(tx, recorded(Verb::Unreported, order), now);
    }
    Ok(())
}

/// Stamps an order unless it is stamped.
fn stamp(tx: &mut Tx<'_>, by: &By, order: &Order, now: Timestamp) -> Result<(), Fault> {
    if order.reported_at.is_none() {
        let mut places = reserve_positions(tx, order.account_id, 1, now)?;
        orders::mark_reported(tx, order.id, places.at, places.take())?;
        by.record(tx, recorded(Verb::Reported, order), now);
    }
    Ok(())
}

/// Stamps an order as reported, by the platform's id or, where that names several, by ours; says the platform's.
pub async fn mark(app: &App, by: By, scope: RestaurantScope, id: String) -> Result<String, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let order = named(tx, account, &scope, &id)?;
            stamp(tx, &by, &order, now)?;
            Ok(order.provider_order_id)
        })
        .await
}

/// What came of stamping one of many orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamping {
    Marked(OrderId),
    /// It was stamped before.
    AlreadyMarked(OrderId),
    /// There is no such order in the account.
    Unknown,
    /// The platform's id names several orders.
    Ambiguous(Vec<OrderId>),
}

/// Stamps many orders of these restaurants as reported in one transaction, each by the platform's id or, where no order carries that,
/// by ours. What cannot be stamped stops no other.
pub async fn mark_many(
    app: &App,
    by: By,
    scope: RestaurantScope,
    ids: Vec<String>,
) -> Result<Vec<(String, Stamping)>, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let mut named: BTreeMap<String, Vec<Order>> = BTreeMap::new();
            for order in orders::by_provider_order_ids(tx, account, &ids)? {
                named
                    .entry(order.provider_order_id.clone())
                    .or_default()
                    .push(order);
            }
            let mut stamped = BTreeSet::new();
            let mut results = Vec::with_capacity(ids.len());
            for id in &ids {
                let mut found = match named.get(id) {
                    Some(found) => found.clone(),
                    None => orders::find(tx, account, id)?,
                };
                found.retain(|order| scope.has(order.restaurant_id));
                let stamping = match found.as_slice() {
                    [] => Stamping::Unknown,
                    [order] if order.reported_at.is_some() || !stamped.insert(order.id) => {
                        Stamping::AlreadyMarked(order.id)
                    }
                    [order] => {
                        stamp(tx, &by, order, now)?;
                        Stamping::Marked(order.id)
                    }
                    several => Stamping::Ambiguous(several.iter().map(|order| order.id).collect()),
                };
                results.push((id.clone(), stamping));
            }
            Ok(results)
        })
        .await
}
