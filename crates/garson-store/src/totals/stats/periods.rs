//! Reads the counts of periods. A month of a busy restaurant has thousands of counts with a few labels, so each label is read once.

use super::packed::{self, Tally};
use super::summary::{Label, SLOT, SLOTS, Stats, sale_currency};
use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::restaurants;
use crate::tables::row::each;
use crate::transaction::StatKind;
use crate::{ORDER_STATS, Result, Tx, params};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::money::Currency;
use garson_core::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

/// How many restaurants one statement reads.
const PER_STATEMENT: usize = 32;

/// The orders of an account or one of its restaurants in consecutive periods, each from one of the timestamps to the next. The
/// timestamps are taken to the half hour: midnight of nearly every time zone is one.
pub fn between(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: Option<RestaurantId>,
    bounds: &[Timestamp],
) -> Result<Vec<Stats>> {
    let slots: Vec<i64> = bounds.iter().map(|bound| nearest_slot(*bound)).collect();
    let mut sums = PeriodSums::new(slots);
    sums.read(tx, restaurant.map_or(account.0, |id| id.0), 1)?;
    if restaurant.is_none() {
        // Deleted restaurants no longer count, but their orders are in the account's rows until the sweep.
        for id in restaurants::pending_sweep(tx, account)? {
            sums.read(tx, id.0, -1)?;
        }
    }
    Ok(sums.into_stats())
}

/// The start of the half hour that contains a timestamp.
#[must_use]
pub fn slot_start(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(SLOT).saturating_mul(SLOT))
}

fn nearest_slot(at: Timestamp) -> i64 {
    at.as_millis().saturating_add(SLOT / 2).div_euclid(SLOT)
}

/// The rows with the slots from one to before another.
fn spans(first: i64, last: i64) -> (i64, i64) {
    (first.div_euclid(SLOTS), (last - 1).div_euclid(SLOTS) + 1)
}

/// The sums of consecutive periods.
struct PeriodSums {
    /// The first slot of each period, and the end of the last one.
    slots: Vec<i64>,
    labels: Vec<(StatKind, String)>,
    /// The sums of each period, by the place of their label.
    sums: Vec<Vec<Tally>>,
}

impl PeriodSums {
    fn new(slots: Vec<i64>) -> Self {
        Self {
            sums: vec![Vec::new(); slots.len().saturating_sub(1)],
            labels: Vec::new(),
            slots,
        }
    }

    /// Adds the rows of an account or a restaurant.
    fn read(&mut self, tx: &mut Tx<'_>, scope: Uuid, sign: i64) -> Result<()> {
        let (Some(first), Some(last)) = (self.slots.first(), self.slots.last()) else {
            return Ok(());
        };
        let (from, to) = spans(*first, *last);
        tx.on(ORDER_STATS).query(
            "SELECT span, counts FROM order_stats WHERE scope = ?1 AND span >= ?2 AND span < ?3",
            params![scope.as_bytes().as_slice(), from, to],
            each(|cells| {
                let first: i64 = cells.read::<i64>()? * SLOTS;
                self.add_row(first, cells.text()?, sign)
            }),
        )?;
        Ok(())
    }

    fn add_row(&mut self, first: i64, counts: &str, sign: i64) -> Result<()> {
        // The number of periods that have begun at each slot.
        let mut begun = [0; packed::SLOTS];
        for (slot, begun) in (first..).zip(&mut begun) {
            *begun = self.slots.partition_point(|start| *start <= slot);
        }
        // The labels of all rows have the same order.
        let mut expected = 0;
        packed::each(counts, |line| {
            let label = self.label(expected, line.kind, line.label);
            expected = label + 1;
            for (begun, (number, amount)) in begun.iter().zip(line.tallies) {
                let period = begun.checked_sub(1).and_then(|place| self.sums.get_mut(place));
                let Some(period) = period.filter(|_| (number, amount) != (0, 0)) else {
                    continue;
                };
                if period.len() <= label {
                    period.resize(label + 1, (0, 0));
                }
                if let Some(tally) = period.get_mut(label) {
                    tally.0 += sign * number;
                    tally.1 += sign * amount;
                }
            }
        })
    }

    /// The place of a label, which is probably the expected one or follows it.
    fn label(&mut self, expected: usize, kind: StatKind, text: &str) -> usize {
        let is_it = |(known, label): &(StatKind, String)| *known == kind && label == text;
        let after = self.labels.get(expected..).unwrap_or_default();
        if let Some(place) = after.iter().position(is_it) {
            return expected + place;
        }
        self.labels.iter().position(is_it).unwrap_or_else(|| {
            self.labels.push((kind, text.to_owned()));
            self.labels.len() - 1
        })
    }

    fn into_stats(self) -> Vec<Stats> {
        let labels: Vec<Option<Label>> = self
            .labels
            .iter()
            .map(|(kind, text)| Label::read(*kind, text))
            .collect();
        let stats = self.sums.into_iter().map(|sums| {
            let mut stats = Stats::default();
            for (label, tally) in labels.iter().zip(sums) {
                if let Some(label) = label.as_ref().filter(|_| tally.0 > 0) {
                    stats.add(label, tally);
                }
            }
            stats
        });
        stats.collect()
    }
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
            packed::each(cells.text()?, |line| {
                let sale = Some(line.label).filter(|_| line.kind == StatKind::Sale);
                let Some(currency) = sale.and_then(sale_currency) else {
                    return;
                };
                let counted = (first..).zip(line.tallies);
                let counted = counted.filter(|(slot, (number, _))| slots.contains(slot) && *number > 0);
                let (mut number, mut amount) = (0, 0);
                for (_, (more, of_these)) in counted {
                    (number, amount) = (number + more, amount + of_these);
                }
                if number > 0 {
                    let tally = sales.entry((scope, currency)).or_default();
                    *tally = (tally.0 + number, tally.1 + amount);
                }
            })
        });
        tx.on(ORDER_STATS).query(&sql, &params, read)?;
    }
    Ok(sales)
}
