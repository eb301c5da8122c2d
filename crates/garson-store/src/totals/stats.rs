//! Counts of orders by half hour of their arrival, so that the summary of a day costs the same with ten orders or ten million.
//! A row has the six half hours of three hours: a month of a restaurant is 240 rows.
//!
//! Each change of an order adds to rows of its account and its restaurant. Additions are deferred and written once for each
//! transaction. A row is read, changed and written, which requires the account's lock.

mod packed;

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::row::{each, value};
use crate::tables::{accounts, restaurants};
use crate::transaction::{Counts, StatKey, StatKind};
use crate::{ORDER_STATS, Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::Currency;
use garson_core::order::{Actor, Order, Status};
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The span of a slot, in milliseconds.
const SLOT: i64 = 30 * 60 * 1000;
/// The slots of a row.
const SLOTS: i64 = 6;
/// The starts of the ranges of times, in seconds. The migration that filled the table has the same.
const RANGES: [i64; 20] = [
    0, 15, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1500, 1800, 2700, 3600, 5400, 7200,
];
/// Longer reasons are cut.
const MAX_REASON: usize = 100;
/// How many restaurants one statement reads.
const PER_STATEMENT: usize = 32;

/// A number of orders and a sum: money in minor units, or milliseconds.
pub type Tally = (i64, i64);

/// Times of orders: how many and how long together, in milliseconds, by the start of their range in seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times(BTreeMap<i64, Tally>);

impl Times {
    #[must_use]
    pub fn count(&self) -> i64 {
        self.0.values().map(|(count, _)| count).sum()
    }

    /// The average in milliseconds.
    #[must_use]
    pub fn average(&self) -> Option<i64> {
        let took: i64 = self.0.values().map(|(_, took)| took).sum();
        (self.count() > 0).then(|| took / self.count())
    }

    /// The median in milliseconds, to the precision of the ranges: within its range it is interpolated.
    #[must_use]
    pub fn median(&self) -> Option<i64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let mut before = 0;
        for (start, (number, took)) in &self.0 {
            if 2 * (before + number) >= count && *number > 0 {
                let end = RANGES.into_iter().find(|next| next > start);
                // The last range has no end: its average stands for it.
                let Some(end) = end else {
                    return Some(took / number);
                };
                let width = (end - start) * 1000;
                let into = (count - 2 * before).max(0);
                return Some(start * 1000 + width * into / (2 * number));
            }
            before += number;
        }
        None
    }
}

/// What a cancellation counts under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CancelKey {
    pub provider: Provider,
    pub currency: Currency,
    /// The name of the actor, as `Actor::as_str` has it.
    pub by: String,
    /// The name of the reason; empty if none was given.
    pub reason: String,
}

/// The orders of a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub sales: BTreeMap<(Provider, PaymentType, Currency), Tally>,
    pub cancels: BTreeMap<CancelKey, Tally>,
    pub accept: Times,
    pub prepare: Times,
}

/// A label, read.
#[derive(Clone)]
enum Label {
    Sale((Provider, PaymentType, Currency)),
    Cancel(CancelKey),
    Accept(i64),
    Prepare(i64),
}

impl Label {
    fn read(kind: StatKind, text: &str) -> Option<Self> {
        Some(match kind {
            StatKind::Sale => Self::Sale(sale_key(text)?),
            StatKind::Cancel => Self::Cancel(cancel_key(text)?),
            StatKind::Accept => Self::Accept(time_key(text)?),
            StatKind::Prepare => Self::Prepare(time_key(text)?),
        })
    }
}

impl Stats {
    fn add(&mut self, label: &Label, (number, amount): Tally) {
        let tally = match label {
            Label::Sale(key) => self.sales.entry(*key).or_default(),
            Label::Cancel(key) => self.cancels.entry(key.clone()).or_default(),
            Label::Accept(start) => self.accept.0.entry(*start).or_default(),
            Label::Prepare(start) => self.prepare.0.entry(*start).or_default(),
        };
        tally.0 += number;
        tally.1 += amount;
    }

    /// Adds the orders of another period.
    pub fn add_all(&mut self, other: &Self) {
        let add = |tally: &mut Tally, more: &Tally| *tally = (tally.0 + more.0, tally.1 + more.1);
        for (key, more) in &other.sales {
            add(self.sales.entry(*key).or_default(), more);
        }
        for (key, more) in &other.cancels {
            add(self.cancels.entry(key.clone()).or_default(), more);
        }
        for (times, more) in [
            (&mut self.accept, &other.accept),
            (&mut self.prepare, &other.prepare),
        ] {
            for (start, more) in &more.0 {
                add(times.0.entry(*start).or_default(), more);
            }
        }
    }

    fn drop_empty(&mut self) {
        self.sales.retain(|_, (number, _)| *number > 0);
        self.cancels.retain(|_, (number, _)| *number > 0);
        for times in [&mut self.accept, &mut self.prepare] {
            times.0.retain(|_, (number, _)| *number > 0);
        }
    }
}

fn sale_key(label: &str) -> Option<(Provider, PaymentType, Currency)> {
    let mut parts = label.split('|');
    let provider = parts.next()?.parse().ok()?;
    let payment = PaymentType::named(parts.next()?)?;
    Some((provider, payment, parts.next()?.parse().ok()?))
}

fn cancel_key(label: &str) -> Option<CancelKey> {
    let mut parts = label.splitn(4, '|');
    Some(CancelKey {
        provider: parts.next()?.parse().ok()?,
        currency: parts.next()?.parse().ok()?,
        by: parts.next()?.to_owned(),
        reason: serde_json::from_str(parts.next()?).unwrap_or_default(),
    })
}

fn time_key(label: &str) -> Option<i64> {
    label.parse().ok()
}

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
    let reason = cancellation.and_then(|it| it.reason.as_ref());
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

/// The orders of an account or one of its restaurants in consecutive periods, each from one of the timestamps to the next. The
/// timestamps are taken to the half hour: midnight of nearly every time zone is one.
pub fn between(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    bounds: &[Timestamp],
) -> Result<Vec<Stats>> {
    let slots: Vec<i64> = bounds.iter().map(|bound| nearest_slot(*bound)).collect();
    let mut periods = vec![Stats::default(); slots.len().saturating_sub(1)];
    read(
        tx,
        restaurant.map_or(account.0, |id| id.0),
        &slots,
        1,
        &mut periods,
    )?;
    if restaurant.is_none() {
        // Deleted restaurants no longer count, but their orders are in the account's rows until the sweep.
        for id in restaurants::pending_sweep(tx, account)? {
            read(tx, id.0, &slots, -1, &mut periods)?;
        }
    }
    periods.iter_mut().for_each(Stats::drop_empty);
    Ok(periods)
}

/// The start of the half hour that contains a timestamp.
#[must_use]
pub fn slot_start(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(SLOT).saturating_mul(SLOT))
}

fn nearest_slot(at: Timestamp) -> i64 {
    at.as_millis().saturating_add(SLOT / 2).div_euclid(SLOT)
}

fn read(tx: &mut Tx<'_>, scope: Uuid, slots: &[i64], sign: i64, periods: &mut [Stats]) -> Result<()> {
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else {
        return Ok(());
    };
    let (from, to) = spans(*first, *last);
    tx.on(ORDER_STATS).query(
        "SELECT span, counts FROM order_stats WHERE scope = ?1 AND span >= ?2 AND span < ?3",
        params![scope.as_bytes().as_slice(), from, to],
        each(|cells| {
            let first: i64 = cells.read::<i64>()? * SLOTS;
            let (mut text, mut label) = (None, None);
            packed::each(cells.text()?, |line| {
                let slot = first + i64::from(line.slot);
                let period = slots.partition_point(|start| *start <= slot).checked_sub(1);
                let Some(stats) = period.and_then(|number| periods.get_mut(number)) else {
                    return;
                };
                if text != Some((line.kind, line.label)) {
                    text = Some((line.kind, line.label));
                    label = Label::read(line.kind, line.label);
                }
                if let Some(label) = &label {
                    let (number, amount) = line.tally;
                    stats.add(label, (sign * number, sign * amount));
                }
            })
        }),
    )?;
    Ok(())
}

/// The rows with the slots from one to before another.
fn spans(first: i64, last: i64) -> (i64, i64) {
    (first.div_euclid(SLOTS), (last - 1).div_euclid(SLOTS) + 1)
}

/// The sales of each of these restaurants in a period, by currency.
pub fn sales_of_restaurants(
    tx: &mut Tx<'_>,
    restaurants: &[RestaurantId],
    (from, to): (Timestamp, Timestamp),
) -> Result<BTreeMap<(RestaurantId, Currency), Tally>> {
    let sql = format!(
        "SELECT scope, span, counts FROM order_stats WHERE span >= ?1 AND span < ?2 AND scope IN ({})",
        marks(3, PER_STATEMENT)
    );
    let slots = nearest_slot(from)..nearest_slot(to);
    let (from, to) = spans(slots.start, slots.end);
    let mut sales: BTreeMap<(RestaurantId, Currency), Tally> = BTreeMap::new();
    for chunk in restaurants.chunks(PER_STATEMENT) {
        let mut params: Vec<Param<'_>> = params![from, to].to_vec();
        params.extend(filled(chunk, PER_STATEMENT).map(Param::from));
        let read = each(|cells| {
            let scope: RestaurantId = cells.read()?;
            let first: i64 = cells.read::<i64>()? * SLOTS;
            let (mut text, mut currency) = ("", None);
            packed::each(cells.text()?, |line| {
                let is_counted = line.kind == StatKind::Sale && line.tally.0 > 0;
                if !is_counted || !slots.contains(&(first + i64::from(line.slot))) {
                    return;
                }
                if text != line.label {
                    text = line.label;
                    currency = sale_key(text).map(|(_, _, currency)| currency);
                }
                if let Some(currency) = currency {
                    let tally = sales.entry((scope, currency)).or_default();
                    tally.0 += line.tally.0;
                    tally.1 += line.tally.1;
                }
            })
        });
        tx.on(ORDER_STATS).query(&sql, &params, read)?;
    }
    Ok(sales)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn times(seconds: &[i64]) -> Times {
        let mut times = Times::default();
        for second in seconds {
            let start = RANGES.into_iter().rev().find(|start| start <= second).unwrap();
            let tally = times.0.entry(start).or_default();
            tally.0 += 1;
            tally.1 += second * 1000;
        }
        times
    }

    #[test]
    fn average_is_exact_and_median_is_within_its_range() {
        assert_eq!((times(&[]).average(), times(&[]).median()), (None, None));
        let some = times(&[10, 20, 40, 100, 1000]);
        assert_eq!(some.average(), Some(234_000));
        let median = some.median().unwrap();
        assert!((30_000..45_000).contains(&median), "{median}");
        assert_eq!(times(&[9000, 9000]).median(), Some(9_000_000));
        let even = times(&[10, 20]).median().unwrap();
        assert!((10_000..20_000).contains(&even), "{even}");
    }
}
