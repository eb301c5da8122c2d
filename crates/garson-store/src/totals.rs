//! Payment totals: running sums, so that asking for them costs the same with ten orders or ten million.
//!
//! What arrived before a moment is a few rows (see `running`), and a period the difference of its two ends. Every
//! timezone's midnight falls on five minutes; an odd moment adds the orders between it and the nearest five, one by one.

mod packed;
mod running;

use crate::engine::Param;
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

/// Does the order count?
fn counts(order: &Order) -> bool {
    !order.status.is_cancelled()
}

/// Adds a new order to the sums. Its account must be locked, as it is since the order's place was reserved.
pub fn add_new(tx: &mut Tx<'_>, order: &Order) -> Result<()> {
    if counts(order) {
        running::shift(tx, order, 1);
        Ok(())
    } else {
        Ok(())
    }
}

/// Follows an order from one state to the next: a cancelled one is taken out, and one that costs something else or is paid in
/// another way counts as it is now.
pub fn follow(tx: &mut Tx<'_>, before: &Order, after: &Order) -> Result<()> {
    let share = |order: &Order| counts(order).then_some((order.payment_type, order.currency, order.total));
    if share(before) == share(after) {
        return Ok(());
    }
    accounts::lock(tx, after.account_id)?;
    if counts(before) {
        running::shift(tx, before, -1);
    }
    if counts(after) {
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
        // What is being deleted is gone already, though its share is still in the account's sums.
        for id in restaurants::being_swept(tx, account)? {
            add_period(tx, account, Some(id), (from, to), -1, &mut sums)?;
        }
    }
    sums.retain(|_, (count, _)| *count > 0);
    Ok(sums)
}

/// The sums of periods that follow each other, each from one of the moments to the next.
pub fn sums_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    moments: &[Timestamp],
) -> Result<Vec<Sums>> {
    let mut periods = vec![Sums::new(); moments.len().saturating_sub(1)];
    add_between(tx, account, restaurant, moments, 1, &mut periods)?;
    if restaurant.is_none() {
        for id in restaurants::being_swept(tx, account)? {
            add_between(tx, account, Some(id), moments, -1, &mut periods)?;
        }
    }
    for sums in &mut periods {
        sums.retain(|_, (count, _)| *count > 0);
    }
    Ok(periods)
}

/// What lies before a moment ends one period and begins the next.
fn add_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    moments: &[Timestamp],
    sign: i64,
    periods: &mut [Sums],
) -> Result<()> {
    let mut walk = running::Walk::new(scope(&account, restaurant.as_ref()));
    for (number, moment) in moments.iter().enumerate() {
        let (unit, mut before) = (next_to(*moment), Sums::new());
        walk.add_before(tx, unit, &mut before)?;
        add_edge(tx, account, restaurant, (unit, *moment), 1, &mut before)?;
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

/// Whose running sums.
fn scope<'a>(account: &'a AccountId, restaurant: Option<&'a RestaurantId>) -> Param<'a> {
    restaurant.map_or_else(|| Param::from(account), Param::from)
}

/// Adds what arrived before a moment: all before the unit that begins next to it, and the orders in between.
fn add_before(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    moment: Timestamp,
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    let unit = next_to(moment);
    running::add_before(tx, scope(&account, restaurant.as_ref()), unit, sign, sums)?;
    add_edge(tx, account, restaurant, (unit, moment), sign, sums)
}

/// The unit that begins next to a moment.
fn next_to(moment: Timestamp) -> i64 {
    moment.as_millis().saturating_add(UNIT / 2).div_euclid(UNIT)
}

/// Adds the orders between the beginning of a unit and a moment, or takes them out where the unit begins later.
fn add_edge(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    (unit, moment): (i64, Timestamp),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    let edge = Timestamp::from_millis(unit.saturating_mul(UNIT));
    match edge.cmp(&moment) {
        Ordering::Less => add_orders(tx, account, restaurant, (edge, moment), sign, sums),
        Ordering::Equal => Ok(()),
        Ordering::Greater => add_orders(tx, account, restaurant, (moment, edge), -sign, sums),
    }
}

/// Adds the orders of a short time, one by one. Those of other restaurants are left out here, not by the statement,
/// which would lead an engine to look through all that a restaurant ever had.
fn add_orders(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    (from, to): (Timestamp, Timestamp),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    tx.query(
        "SELECT restaurant_id, payment_type, currency, total FROM orders
         WHERE account_id = ?1 AND created_at >= ?2 AND created_at < ?3 AND status < 1500",
        params![&account, from, to],
        |row| {
            let of: RestaurantId = row.get(0)?;
            if restaurant.is_none_or(|id| id == of) {
                add(
                    sums,
                    (row.get(1)?, row.get(2)?),
                    (sign, sign * row.get::<i64>(3)?),
                );
            }
            Ok(())
        },
    )?;
    Ok(())
}
