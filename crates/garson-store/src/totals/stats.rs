//! Counts of orders by half hour of their arrival, so that the summary of a day costs the same with ten orders or ten million.
//! A row has the six half hours of three hours: a month of a restaurant is 240 rows.
//!
//! Each change of an order adds to rows of its account and its restaurant. Additions are deferred and written once for each
//! transaction. A row is read, changed and written, which requires the account's lock.

mod packed;
mod periods;
mod summary;

pub use packed::Tally;
pub use periods::{between, sales_of_restaurants, slot_start};
pub use summary::{CancelKey, Stats, Times};

use self::summary::{RANGES, SLOT, SLOTS};
use crate::tables::accounts;
use crate::tables::row::{each, value};
use crate::transaction::{Counts, StatKey, StatKind};
use crate::{ORDER_STATS, Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::{Actor, Order, Status};
use garson_core::time::Timestamp;

/// Longer reasons are cut.
const MAX_REASON: usize = 100;

/// What an order counts as.
fn share(order: &Order) -> (StatKind, String, Tally) {
    let (provider, currency) = (order.provider.as_str(), order.currency.as_str());
    let tally = (1, order.total.0);
    if !order.status.is_cancelled() {
        let label = format!("{provider}|{}|{currency}", order.payment_type.as_str());
        return (StatKind::Sale, label, tally);
    }
    let cancellation = order.cancellation.as_ref();
    let otherwise = if order.status == Status::CancelledByPlatform {
        Actor::Platform
    } else {
        Actor::Account
    };
    let by = cancellation.map_or(otherwise, |it| it.by).as_str();
    // Free text may name a customer, and counts stay when the customer is erased.
    let reason = cancellation.and_then(|it| it.reason.as_ref());
    let reason = reason.filter(|reason| !reason.is_free_text());
    // As JSON it has no line break.
    let reason = reason.map_or_else(String::new, |reason| {
        let shown: String = reason.name.chars().take(MAX_REASON).collect();
        serde_json::Value::String(shown).to_string()
    });
    (
        StatKind::Cancel,
        format!("{provider}|{currency}|{by}|{reason}"),
        tally,
    )
}

/// Adds a new order.
pub fn add_order(tx: &mut Tx<'_>, order: &Order) {
    add_share(tx, order, 1);
}

/// Replaces what an order counted as by what it counts as now, and adds the times of the steps that it has made.
pub fn update_order(tx: &mut Tx<'_>, before: &Order, after: &Order) -> Result<()> {
    if share(before) != share(after) {
        accounts::lock(tx, after.account_id)?;
        add_share(tx, before, -1);
        add_share(tx, after, 1);
    }
    let is_accepted = before.status == Status::New && after.status == Status::Preparing;
    if is_accepted && after.scheduled_for.is_none() {
        accounts::lock(tx, after.account_id)?;
        add_time(tx, after, StatKind::Accept, after.created_at, after.updated_at);
    }
    add_ready(tx, before, after)
}

/// Adds the time of preparation of an order that has become ready.
pub fn add_ready(tx: &mut Tx<'_>, before: &Order, after: &Order) -> Result<()> {
    if before.ready_at.is_none()
        && let Some(ready_at) = after.ready_at
    {
        let sql = "SELECT MIN(at) FROM order_timeline WHERE order_id = ?1 AND to_status = ?2";
        let accepted_at: Option<Option<Timestamp>> =
            tx.query_opt(sql, params![&after.id, Status::Preparing], value)?;
        if let Some(accepted_at) = accepted_at.flatten() {
            accounts::lock(tx, after.account_id)?;
            add_time(tx, after, StatKind::Prepare, accepted_at, ready_at);
        }
    }
    Ok(())
}

fn add_share(tx: &mut Tx<'_>, order: &Order, sign: i64) {
    let (kind, label, (number, amount)) = share(order);
    add(tx, order, kind, &label, (sign * number, sign * amount));
}

fn add_time(tx: &mut Tx<'_>, order: &Order, kind: StatKind, from: Timestamp, to: Timestamp) {
    let took = to.as_millis() - from.as_millis();
    if took > 0 {
        let start = RANGES.into_iter().rev().find(|start| start * 1000 <= took);
        add(tx, order, kind, &start.unwrap_or_default().to_string(), (1, took));
    }
}

fn add(tx: &mut Tx<'_>, order: &Order, kind: StatKind, label: &str, (number, amount): Tally) {
    let slot = order.created_at.as_millis().div_euclid(SLOT);
    let span = slot.div_euclid(SLOTS);
    // At most five.
    let slot = u8::try_from(slot.rem_euclid(SLOTS)).unwrap_or_default();
    for scope in [order.account_id.0, order.restaurant_id.0] {
        let counts = tx.deferred().stats.entry(StatKey { scope, span }).or_default();
        let tally = counts.entry((kind, label.to_owned(), slot)).or_default();
        tally.0 += number;
        tally.1 += amount;
    }
}

/// Adds counts to a row.
pub fn write(tx: &mut Tx<'_>, key: StatKey, added: &Counts) -> Result<()> {
    let place = params![key.scope.as_bytes().as_slice(), key.span];
    let sql = "SELECT counts FROM order_stats WHERE scope = ?1 AND span = ?2";
    let stored = tx.on(ORDER_STATS).query_opt(sql, place, value::<String>)?;
    let mut counts = packed::unpack(stored.as_deref().unwrap_or_default())?;
    for (key, (number, amount)) in added {
        let tally = counts.entry(key.clone()).or_default();
        tally.0 += number;
        tally.1 += amount;
    }
    counts.retain(|_, tally| *tally != (0, 0));
    let counts = packed::pack(&counts);
    tx.on(ORDER_STATS).write(
        "INSERT INTO order_stats (scope, span, counts) VALUES (?1, ?2, ?3)
         ON CONFLICT (scope, span) DO UPDATE SET counts = excluded.counts",
        params![key.scope.as_bytes().as_slice(), key.span, &counts],
    )
}

/// Subtracts some of a deleted restaurant's rows from its account's, and returns how many rows it removed.
pub fn sweep(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    let rows: Vec<(i64, Counts)> = tx.on(ORDER_STATS).query(
        "SELECT span, counts FROM order_stats WHERE scope = ?1 ORDER BY span LIMIT ?2",
        params![&restaurant, limit],
        each(|cells| Ok((cells.read()?, packed::unpack(cells.text()?)?))),
    )?;
    for (span, mut counts) in rows.iter().cloned() {
        for (number, amount) in counts.values_mut() {
            (*number, *amount) = (-*number, -*amount);
        }
        let key = StatKey {
            scope: account.0,
            span,
        };
        write(tx, key, &counts)?;
        tx.on(ORDER_STATS).execute(
            "DELETE FROM order_stats WHERE scope = ?1 AND span = ?2 AND counts = ''",
            params![&account, span],
        )?;
        tx.on(ORDER_STATS).execute(
            "DELETE FROM order_stats WHERE scope = ?1 AND span = ?2",
            params![&restaurant, span],
        )?;
    }
    Ok(rows.len() as u64)
}
