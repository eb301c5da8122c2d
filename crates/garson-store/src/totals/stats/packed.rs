//! Counts as the text of one column, a line `kind|number|amount|label` for each.

use crate::transaction::{Counts, StatKind};
use crate::{Result, StoreError};
use std::fmt::Write;

pub fn pack(counts: &Counts) -> String {
    let mut text = String::with_capacity(40 * counts.len());
    for ((kind, label), (number, amount)) in counts {
        let end = if text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{end}{}|{number}|{amount}|{label}", kind.as_str());
    }
    text
}

pub fn unpack(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    each(text, |kind, label, tally| {
        counts.insert((kind, label.to_owned()), tally);
    })?;
    Ok(counts)
}

/// Calls a function with each count.
pub fn each(text: &str, mut take: impl FnMut(StatKind, &str, (i64, i64))) -> Result<()> {
    for line in text.lines() {
        let damaged = || StoreError::corrupt("stored counts of orders are damaged");
        let (kind, label, tally) = one(line).ok_or_else(damaged)?;
        take(kind, label, tally);
    }
    Ok(())
}

fn one(line: &str) -> Option<(StatKind, &str, (i64, i64))> {
    let mut parts = line.splitn(4, '|');
    let kind = StatKind::named(parts.next()?)?;
    let number = parts.next()?.parse().ok()?;
    let amount = parts.next()?.parse().ok()?;
    Some((kind, parts.next()?, (number, amount)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_counts_are_unpacked_unchanged() {
        let mut counts = Counts::new();
        assert_eq!(unpack(&pack(&counts)).unwrap(), counts);
        counts.insert((StatKind::Sale, "getir|cash|TRY".to_owned()), (3, -4500));
        counts.insert(
            (StatKind::Cancel, "getir|TRY|account|\"a|b\"".to_owned()),
            (1, i64::MAX),
        );
        counts.insert((StatKind::Accept, "15".to_owned()), (2, 40_000));
        assert_eq!(unpack(&pack(&counts)).unwrap(), counts);
    }

    #[test]
    fn damaged_text_is_an_error() {
        for text in ["sale", "sale|1|2", "sale|x|2|l", "gold|1|2|l"] {
            assert!(unpack(text).is_err(), "{text}");
        }
    }
}
