//! The counts of a period, read: sales, cancellations and times.

use super::packed::{self, Tally};
use crate::transaction::StatKind;
use garson_core::money::Currency;
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use std::collections::BTreeMap;

/// The span of a slot, in milliseconds.
pub(super) const SLOT: i64 = 30 * 60 * 1000;
/// The slots of a row.
pub(super) const SLOTS: i64 = packed::SLOTS as i64;
/// The starts of the ranges of times, in seconds. The migration that filled the table has the same.
pub(super) const RANGES: [i64; 20] = [
    0, 15, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1500, 1800, 2700, 3600, 5400, 7200,
];

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

    /// The median in milliseconds: exact if no other time shares the range of those in the middle, precise to the range otherwise.
    #[must_use]
    pub fn median(&self) -> Option<i64> {
        let count = self.count();
        // Of an even number of times it is between the two in the middle.
        let (lower, upper) = (self.ranked((count + 1) / 2)?, self.ranked(count / 2 + 1)?);
        Some((lower + upper) / 2)
    }

    /// The time that so many are not above, counted from one. The times of a range are taken to lie evenly around its average, as
    /// wide as the range allows, so that they never contradict the average.
    fn ranked(&self, rank: i64) -> Option<i64> {
        let mut before = 0;
        for (start, (number, took)) in &self.0 {
            if *number > 0 && before + number >= rank {
                let average = took / number;
                let end = RANGES.into_iter().find(|next| next > start);
                // The last range has no end.
                let above = end.map_or(0, |end| end * 1000 - average);
                let spread = (average - start * 1000).min(above).max(0);
                let place = 2 * (rank - before) - 1 - number;
                return Some(average + spread * place / number);
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
pub(super) enum Label {
    Sale((Provider, PaymentType, Currency)),
    Cancel(CancelKey),
    Accept(i64),
    Prepare(i64),
}

impl Label {
    pub(super) fn read(kind: StatKind, text: &str) -> Option<Self> {
        Some(match kind {
            StatKind::Sale => Self::Sale(sale_key(text)?),
            StatKind::Cancel => Self::Cancel(cancel_key(text)?),
            StatKind::Accept => Self::Accept(time_key(text)?),
            StatKind::Prepare => Self::Prepare(time_key(text)?),
        })
    }
}

impl Stats {
    pub(super) fn add(&mut self, label: &Label, (number, amount): Tally) {
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
}

fn sale_key(label: &str) -> Option<(Provider, PaymentType, Currency)> {
    let mut parts = label.split('|');
    let provider = parts.next()?.parse().ok()?;
    let payment = PaymentType::named(parts.next()?)?;
    Some((provider, payment, parts.next()?.parse().ok()?))
}

pub(super) fn sale_currency(label: &str) -> Option<Currency> {
    let (_, currency) = label.rsplit_once('|')?;
    currency.parse().ok()
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
    fn average_and_median_are_exact_for_few_times() {
        assert_eq!((times(&[]).average(), times(&[]).median()), (None, None));
        let some = times(&[10, 20, 40, 100, 1000]);
        assert_eq!(some.average(), Some(234_000));
        for (seconds, median) in [
            ([10, 20, 40, 100, 1000].as_slice(), 40_000),
            (&[10, 20], 15_000),
            (&[7], 7_000),
            (&[1, 9], 5_000),
            (&[9000, 9000], 9_000_000),
        ] {
            assert_eq!(times(seconds).median(), Some(median), "{seconds:?}");
        }
    }

    #[test]
    fn median_does_not_contradict_the_average() {
        // All the same: average and median agree, at any number and at both ends of a range.
        for second in [0, 8, 14, 15, 600, 899, 7200] {
            for number in 1..20 {
                let same = times(&vec![second; number]);
                assert_eq!(same.median(), same.average(), "{second} {number}");
            }
        }
        // It stays within the range of the time in the middle.
        let mut seconds: Vec<i64> = (0..400).map(|number| number * number % 3001).collect();
        let found = times(&seconds).median().unwrap();
        seconds.sort_unstable();
        let exact = (seconds[199] + seconds[200]) / 2;
        let range = |second: i64| RANGES.into_iter().rposition(|start| start <= second);
        assert_eq!(range(found / 1000), range(exact), "{found} {exact}");
    }
}
