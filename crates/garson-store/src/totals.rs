//! Payment totals: running sums, so that asking for them costs the same with ten orders or ten million.
//!
//! A sum is kept for all time, for each day and for each quarter of an hour (UTC), of each account and restaurant.
//! Every timezone's midnight falls on a quarter, so days anywhere are sums of whole buckets; an odd moment adds the
//! orders of one quarter at each end.

use crate::engine::{Param, Tx};
use crate::feed::{Scope, places_between};
use crate::{Result, params, restaurants};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::Currency;
use garson_core::order::Order;
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;
use std::collections::BTreeMap;

const QUARTER: i64 = 15 * 60 * 1000;
const QUARTERS_A_DAY: i64 = 96;
const ALL_TIME: i64 = 0;
const DAYS: i64 = 1;
const QUARTERS: i64 = 2;

/// Count and sum by payment type and currency.
pub type Sums = BTreeMap<(PaymentType, Currency), (i64, i64)>;

/// Does the order count?
fn counts(order: &Order) -> bool {
    !order.status.is_cancelled()
}

/// Adds a new order to the sums.
pub fn add_new(tx: &mut Tx<'_>, order: &Order) -> Result<()> {
    if counts(order) {
        shift(tx, order, 1)
    } else {
        Ok(())
    }
}

/// Follows an order from one state to the next: a cancelled one is taken out.
pub fn follow(tx: &mut Tx<'_>, before: &Order, after: &Order) -> Result<()> {
    match (counts(before), counts(after)) {
        (true, false) => shift(tx, before, -1),
        (false, true) => shift(tx, after, 1),
        _ => Ok(()),
    }
}

fn shift(tx: &mut Tx<'_>, order: &Order, sign: i64) -> Result<()> {
    let quarter = order.created_at.as_millis().div_euclid(QUARTER);
    let day = quarter.div_euclid(QUARTERS_A_DAY);
    tx.execute(
        "INSERT INTO payment_totals (scope, level, bucket, payment_type, currency, count, total)
         VALUES (?1, 0, 0, ?3, ?4, ?5, ?6), (?1, 1, ?7, ?3, ?4, ?5, ?6), (?1, 2, ?8, ?3, ?4, ?5, ?6),
                (?2, 0, 0, ?3, ?4, ?5, ?6), (?2, 1, ?7, ?3, ?4, ?5, ?6), (?2, 2, ?8, ?3, ?4, ?5, ?6)
         ON CONFLICT (scope, level, bucket, payment_type, currency)
         DO UPDATE SET count = payment_totals.count + excluded.count, total = payment_totals.total + excluded.total",
        params![
            &order.account_id,
            &order.restaurant_id,
            order.payment_type,
            &order.currency,
            sign,
            sign * order.total.0,
            day,
            quarter,
        ],
    )?;
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
    let of_account = Param::from(&account);
    match &restaurant {
        Some(id) => add_range(
            tx,
            account,
            Scope::Restaurant(*id),
            Param::from(id),
            (from, to),
            1,
            &mut sums,
        )?,
        None => {
            add_range(
                tx,
                account,
                Scope::Account(account),
                of_account,
                (from, to),
                1,
                &mut sums,
            )?;
            // What is being deleted is gone already, though its share is still in the account's sums.
            for id in restaurants::being_swept(tx, account)? {
                add_range(
                    tx,
                    account,
                    Scope::Restaurant(id),
                    Param::from(&id),
                    (from, to),
                    -1,
                    &mut sums,
                )?;
            }
        }
    }
    sums.retain(|_, (count, _)| *count > 0);
    Ok(sums)
}

fn add_range(
    tx: &mut Tx<'_>,
    account: AccountId,
    scope: Scope,
    scope_id: Param<'_>,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    if from.is_none() && to.is_none() {
        return add_buckets(tx, scope_id, ALL_TIME, (0, 1), sign, sums);
    }
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Ok(());
    }
    let first = from.map(|t| t.as_millis());
    let last = to.map(|t| t.as_millis());
    // Whole quarters from `start` on and before `end`.
    let start = first.map_or(i64::MIN / QUARTER, |ms| -(-ms).div_euclid(QUARTER));
    let end = last.map_or(i64::MAX / QUARTER, |ms| ms.div_euclid(QUARTER));
    if start > end {
        // Both ends lie in one quarter.
        return add_orders(tx, account, scope, (from, to), sign, sums);
    }
    let at_quarter = |quarter: i64| Timestamp::from_millis(quarter.saturating_mul(QUARTER));
    if first.is_some_and(|ms| ms % QUARTER != 0) {
        add_orders(tx, account, scope, (from, Some(at_quarter(start))), sign, sums)?;
    }
    if last.is_some_and(|ms| ms % QUARTER != 0) {
        add_orders(tx, account, scope, (Some(at_quarter(end)), to), sign, sums)?;
    }
    // Whole days in the middle, quarters before and after them.
    let first_day = -(-start).div_euclid(QUARTERS_A_DAY);
    let last_day = end.div_euclid(QUARTERS_A_DAY);
    if first_day >= last_day {
        return add_buckets(tx, scope_id, QUARTERS, (start, end), sign, sums);
    }
    add_buckets(
        tx,
        scope_id,
        QUARTERS,
        (start, first_day * QUARTERS_A_DAY),
        sign,
        sums,
    )?;
    add_buckets(tx, scope_id, DAYS, (first_day, last_day), sign, sums)?;
    add_buckets(
        tx,
        scope_id,
        QUARTERS,
        (last_day * QUARTERS_A_DAY, end),
        sign,
        sums,
    )
}

fn add_buckets(
    tx: &mut Tx<'_>,
    scope: Param<'_>,
    level: i64,
    (from, to): (i64, i64),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    if from >= to {
        return Ok(());
    }
    let rows = tx.query(
        "SELECT payment_type, currency, CAST(SUM(count) AS BIGINT), CAST(SUM(total) AS BIGINT) FROM payment_totals
         WHERE scope = ?1 AND level = ?2 AND bucket >= ?3 AND bucket < ?4 GROUP BY payment_type, currency",
        &[scope, level.into(), from.into(), to.into()],
        |row| Ok(((row.get(0)?, row.get(1)?), (row.get::<i64>(2)?, row.get::<i64>(3)?))),
    )?;
    add(sums, rows, sign);
    Ok(())
}

/// The orders of a short time, one by one.
fn add_orders(
    tx: &mut Tx<'_>,
    account: AccountId,
    scope: Scope,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
    sign: i64,
    sums: &mut Sums,
) -> Result<()> {
    let Some((low, high)) = places_between(tx, account, from, to)? else {
        return Ok(());
    };
    let (column, id) = match &scope {
        Scope::Account(id) => ("account_id", Param::from(id)),
        Scope::Restaurant(id) => ("restaurant_id", Param::from(id)),
        Scope::Order(id) => ("id", Param::from(id)),
    };
    let sql = format!(
        "SELECT payment_type, currency, COUNT(*), CAST(SUM(total) AS BIGINT) FROM orders
         WHERE {column} = ?1 AND position > ?2 AND position < ?3 AND status < 1500 GROUP BY payment_type, currency"
    );
    let rows = tx.query(&sql, &[id, low.into(), high.into()], |row| {
        Ok((
            (row.get(0)?, row.get(1)?),
            (row.get::<i64>(2)?, row.get::<i64>(3)?),
        ))
    })?;
    add(sums, rows, sign);
    Ok(())
}

fn add(sums: &mut Sums, rows: Vec<((PaymentType, Currency), (i64, i64))>, sign: i64) {
    for (key, (count, total)) in rows {
        let sum = sums.entry(key).or_default();
        sum.0 += sign * count;
        sum.1 += sign * total;
    }
}

/// Takes a chunk of a deleted restaurant's sums out of its account's; says how many rows it removed.
pub(crate) fn sweep(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    limit: i64,
) -> Result<u64> {
    let rows = tx.query(
        "SELECT level, bucket, payment_type, currency, count, total FROM payment_totals WHERE scope = ?1 LIMIT ?2",
        params![&restaurant, limit],
        |row| {
            Ok((
                (row.get::<i64>(0)?, row.get::<i64>(1)?),
                (row.get::<PaymentType>(2)?, row.get::<Currency>(3)?),
                (row.get::<i64>(4)?, row.get::<i64>(5)?),
            ))
        },
    )?;
    for ((level, bucket), (payment_type, currency), (count, total)) in &rows {
        let of = |scope| {
            [
                scope,
                (*level).into(),
                (*bucket).into(),
                (*payment_type).into(),
                currency.into(),
            ]
        };
        let mut change = of(Param::from(&account)).to_vec();
        change.extend_from_slice(params![*count, *total]);
        tx.execute(
            "UPDATE payment_totals SET count = count - ?6, total = total - ?7
             WHERE scope = ?1 AND level = ?2 AND bucket = ?3 AND payment_type = ?4 AND currency = ?5",
            &change,
        )?;
        tx.execute(
            "DELETE FROM payment_totals
             WHERE scope = ?1 AND level = ?2 AND bucket = ?3 AND payment_type = ?4 AND currency = ?5",
            &of(Param::from(&restaurant)),
        )?;
    }
    Ok(rows.len() as u64)
}
