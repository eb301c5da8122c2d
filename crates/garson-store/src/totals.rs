//! Payment totals: running sums, so that reading them costs the same with ten orders or ten million.
//!
//! The sums before a timestamp are a few rows (see `running`), and a period is the difference of its two ends. Midnight of every
//! time zone is a multiple of five minutes; other timestamps add the orders between them and the nearest multiple, one by one.

mod packed;
mod running;
pub mod stats;

use crate::engine::Param;
use crate::tables::orders::IS_NOT_CANCELLED;
use crate::tables::row::tuple;
use crate::tables::{accounts, restaurants};
use crate::transaction::{add, add_all};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::Order;
use garson_core::time::Timestamp;
use running::UNIT;
use std::cmp::Ordering;

pub use crate::transaction::Sums;
pub(crate) use running::{sweep, write};

fn is_counted(order: &Order) -> bool {
    !order.status.is_cancelled()
}

/// Adds a new order to the sums. Its account is locked since the order's position was reserved.
pub fn add_order(tx: &mut Tx<'_>, order: &Order) -> Result<()> {
    if is_counted(order) {
        running::shift(tx, order, 1);
    }
    stats::add_order(tx, order);
    Ok(())
}

/// Updates the sums after a change of an order: removes a cancelled order, and replaces a changed amount or payment type.
pub fn update_order(tx: &mut Tx<'_>, before: &Order, after: &Order) -> Result<()> {
    stats::update_order(tx, before, after)?;
    let share =
        |order: &Order| is_counted(order).then_some((order.payment_type, order.currency, order.total));
    if share(before) == share(after) {
        return Ok(());
    }
    accounts::lock(tx, after.account_id)?;
    if is_counted(before) {
        running::shift(tx, before, -1);
    }
    if is_counted(after) {
        running::shift(tx, after, 1);
    }
    Ok(())
}

/// The sums of an account or of one of its restaurants, of the orders that arrived from `from` on and before `to`.
pub fn sums(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Sums> {
    let mut sums = Sums::new();
    if from.is_some_and(|from| to.is_some_and(|to| from >= to)) {
        return Ok(sums);
    }
    add_period(tx, account, restaurant, (from, to), 1, &mut sums)?;
    if restaurant.is_none() {
        // Deleted restaurants no longer count, but their orders are in the account's sums until the sweep.
        for id in restaurants::pending_sweep(tx, account)? {
            add_period(tx, account, Some(id), (from, to), -1, &mut sums)?;
        }
    }
    sums.retain(|_, (count, _)| *count > 0);
    Ok(sums)
}

/// The sums of consecutive periods, each from one of the timestamps to the next.
pub fn sums_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    bounds: &[Timestamp],
) -> Result<Vec<Sums>> {
    let mut periods = vec![Sums::new(); bounds.len().saturating_sub(1)];
    add_between(tx, account, restaurant, bounds, 1, &mut periods)?;
    if restaurant.is_none() {
        for id in restaurants::pending_sweep(tx, account)? {
            add_between(tx, account, Some(id), bounds, -1, &mut periods)?;
        }
    }
    for sums in &mut periods {
        sums.retain(|_, (count, _)| *count > 0);
    }
    Ok(periods)
}

/// The sums before each bound end one period and begin the next.
fn add_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    bounds: &[Timestamp],
    sign: i64,
    periods: &mut [Sums],
) -> Result<()> {
    let mut walk = running::Walk::new(scope(&account, restaurant.as_ref()));
    for (number, bound) in bounds.iter().enumerate() {
        let (unit, mut before) = (nearest_unit(*bound), Sums::new());
        walk.add_before(tx, unit, &mut before)?;
        add_edge(tx, account, restaurant, (unit, *bound), 1, &mut before)?;
        let ended = number.checked_sub(1);
        for (of, sign) in [(ended, sign), (Some(number), -sign)] {
            if let Some(sums) = of.and_then(|number| periods.get_mut(number)) {
                add_all(sums, &before, sign);
            }
        }
    }
    Ok(())
}

fn add_period(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    if let Some(from) = from {
        add_before(tx, account, restaurant, from, -sign, sums)?;
    }
    match to {
        Some(to) => add_before(tx, account, restaurant, to, sign, sums),
        None => running::add_all_time(tx, scope(&account, restaurant.as_ref()), sign, sums),
    }
}

/// The key of an account's or a restaurant's running sums.
fn scope<'a>(account: &'a AccountId, restaurant: Option<&'a RestaurantId>) -> Param<'a> {
    restaurant.map_or_else(|| Param::from(account), Param::from)
}

/// Adds the sums before a timestamp: all before the nearest unit, and the orders in between.
fn add_before(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    at: Timestamp,
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    let unit = nearest_unit(at);
    running::add_before(tx, scope(&account, restaurant.as_ref()), unit, sign, sums)?;
    add_edge(tx, account, restaurant, (unit, at), sign, sums)
}

/// The unit whose start is nearest to a timestamp.
fn nearest_unit(at: Timestamp) -> i64 {
    at.as_millis().saturating_add(UNIT / 2).div_euclid(UNIT)
}

/// Adds the orders between the start of a unit and a timestamp, or subtracts them if the unit starts later.
fn add_edge(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    (unit, at): (i64, Timestamp),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    let edge = Timestamp::from_millis(unit.saturating_mul(UNIT));
    match edge.cmp(&at) {
        Ordering::Less => add_orders(tx, account, restaurant, (edge, at), sign, sums),
        Ordering::Equal => Ok(()),
        Ordering::Greater => add_orders(tx, account, restaurant, (at, edge), -sign, sums),
    }
}

/// Adds the orders of a short period one by one. Filters by restaurant here: with a condition a planner might read all orders of
/// the restaurant.
fn add_orders(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    (from, to): (Timestamp, Timestamp),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    let sql = format!(
        "SELECT restaurant_id, payment_type, currency, total FROM orders
         WHERE account_id = ?1 AND created_at >= ?2 AND created_at < ?3 AND {IS_NOT_CANCELLED}"
    );
    tx.query(&sql, params![&account, from, to], |row| {
        let (of, kind, currency, total): (RestaurantId, _, _, i64) = tuple(row)?;
        if restaurant.is_none_or(|id| id == of) {
            add(sums, (kind, currency), (sign, sign * total));
        }
        Ok(())
    })?;
    Ok(())
}
