//! Counts as the text of one column, a line `kind|slot|number|amount|label` for each. A slot is a half hour of the row.

use crate::transaction::{Counts, StatKind};
use crate::{Result, StoreError};
use std::fmt::Write;

pub fn pack(counts: &Counts) -> String {
    let mut text = String::with_capacity(40 * counts.len());
    for ((kind, label, slot), (number, amount)) in counts {
        let end = if text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{end}{}|{slot}|{number}|{amount}|{label}", kind.as_str());
    }
    text
}

pub fn unpack(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    each(text, |line| {
        counts.insert((line.kind, line.label.to_owned(), line.slot), line.tally);
    })?;
    Ok(counts)
}

/// A count.
pub struct Line<'a> {
    pub kind: StatKind,
    pub slot: u8,
    pub tally: (i64, i64),
    pub label: &'a str,
}

/// Calls a function with each count. Counts with the same label follow each other.
pub fn each<'a>(text: &'a str, mut take: impl FnMut(Line<'a>)) -> Result<()> {
    for line in text.lines() {
        let damaged = || StoreError::corrupt("stored counts of orders are damaged");
        take(one(line).ok_or_else(damaged)?);
    }
    Ok(())
}

fn one(line: &str) -> Option<Line<'_>> {
    let mut parts = line.splitn(5, '|');
    Some(Line {
        kind: StatKind::named(parts.next()?)?,
        slot: parts.next()?.parse().ok()?,
        tally: (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?),
        label: parts.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_counts_are_unpacked_unchanged() {
        let mut counts = Counts::new();
        assert_eq!(unpack(&pack(&counts)).unwrap(), counts);
        counts.insert((StatKind::Sale, "getir|cash|TRY".to_owned(), 5), (3, -4500));
        counts.insert(
            (StatKind::Cancel, "getir|TRY|account|\"a|b\"".to_owned(), 0),
            (1, i64::MAX),
        );
        counts.insert((StatKind::Accept, "15".to_owned(), 1), (2, 40_000));
        assert_eq!(unpack(&pack(&counts)).unwrap(), counts);
    }

    #[test]
    fn damaged_text_is_an_error() {
        for text in [
            "sale",
            "sale|0|1|2",
            "sale|0|x|2|l",
            "sale|x|1|2|l",
            "gold|0|1|2|l",
        ] {
            assert!(unpack(text).is_err(), "{text}");
        }
    }
}
