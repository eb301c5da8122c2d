//! Counts as the text of one column, a line `kind|slot:number:amount,…|label` for each label. A slot is a half hour of the row.
//! Rows that have not changed for long have a line for each slot: `kind|slot|number|amount|label`.

use crate::transaction::{Counts, StatKind};
use crate::{Result, StoreError};
use std::fmt::Write;

/// The slots of a row.
pub const SLOTS: usize = 6;

/// A number of orders and a sum: money in minor units, or milliseconds.
pub type Tally = (i64, i64);

pub fn pack(counts: &Counts) -> String {
    let mut text = String::with_capacity(40 * counts.len());
    let mut line = None;
    // Writing to a string cannot fail.
    for ((kind, label, slot), (number, amount)) in counts {
        if line == Some((kind, label)) {
            let _ = write!(text, ",{slot}:{number}:{amount}");
            continue;
        }
        if let Some((_, label)) = line {
            let _ = writeln!(text, "|{label}");
        }
        let _ = write!(text, "{}|{slot}:{number}:{amount}", kind.as_str());
        line = Some((kind, label));
    }
    if let Some((_, label)) = line {
        let _ = write!(text, "|{label}");
    }
    text
}

pub fn unpack(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    each(text, |line| {
        for (slot, tally) in (0..).zip(line.tallies).filter(|(_, tally)| *tally != (0, 0)) {
            counts.insert((line.kind, line.label.to_owned(), slot), tally);
        }
    })?;
    Ok(counts)
}

/// The counts of a label, by slot.
pub struct Line<'a> {
    pub kind: StatKind,
    pub label: &'a str,
    pub tallies: [Tally; SLOTS],
}

/// Calls a function with each line. A month of a busy restaurant has thousands of counts: they are cut byte by byte, which is faster
/// for short parts than the search of the standard library.
pub fn each<'a>(text: &'a str, mut take: impl FnMut(Line<'a>)) -> Result<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let line = cut(&mut rest, b'\n').unwrap_or_else(|| std::mem::take(&mut rest));
        let damaged = || StoreError::corrupt("stored counts of orders are damaged");
        take(one(line).ok_or_else(damaged)?);
    }
    Ok(())
}

fn one(mut line: &str) -> Option<Line<'_>> {
    let kind = StatKind::named(cut(&mut line, b'|')?)?;
    let counts = cut(&mut line, b'|')?;
    let mut tallies = [(0, 0); SLOTS];
    if counts.contains(':') {
        let mut rest = counts.as_bytes();
        while !rest.is_empty() {
            let slot = usize::try_from(number(&mut rest, b':')?).ok()?;
            let count = number(&mut rest, b':')?;
            *tallies.get_mut(slot)? = (count, number(&mut rest, b',')?);
        }
    } else {
        let (slot, mut part) = (counts.parse::<usize>().ok()?, || cut(&mut line, b'|'));
        *tallies.get_mut(slot)? = (part()?.parse().ok()?, part()?.parse().ok()?);
    }
    Some(Line {
        kind,
        label: line,
        tallies,
    })
}

/// Takes a whole number and the separator after it, which may be missing at the end. In one pass over the bytes, which takes a third
/// of the time of finding the separator and parsing what is before it.
fn number(text: &mut &[u8], separator: u8) -> Option<i64> {
    let (sign, digits) = match *text {
        [b'-', digits @ ..] => (-1, digits),
        digits => (1, digits),
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at(length);
    *text = match rest {
        [] => rest,
        [next, rest @ ..] if *next == separator => rest,
        _ => return None,
    };
    let add = |sum: i64, digit: &u8| sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    (length > 0).then_some(())?;
    digits.iter().try_fold(0, add).map(|sum| sign * sum)
}

/// Takes what is before the first separator, and the separator.
fn cut<'a>(text: &mut &'a str, separator: u8) -> Option<&'a str> {
    let at = text.bytes().position(|byte| byte == separator)?;
    let (before, after) = text.split_at(at);
    *text = after.get(1..)?;
    Some(before)
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
        counts.insert((StatKind::Accept, "15".to_owned(), 4), (1, 15_000));
        counts.insert((StatKind::Accept, "30".to_owned(), 1), (1, 30_000));
        assert_eq!(unpack(&pack(&counts)).unwrap(), counts);
    }

    #[test]
    fn lines_of_one_slot_are_read() {
        let each_slot = "accept|1|2|40000|15\naccept|4|1|15000|15\nsale|0|3|-4500|getir|cash|TRY";
        let each_label = "accept|1:2:40000,4:1:15000|15\nsale|0:3:-4500|getir|cash|TRY";
        let counts = unpack(each_slot).unwrap();
        assert_eq!(counts.len(), 3);
        assert_eq!(unpack(each_label).unwrap(), counts);
    }

    #[test]
    fn damaged_text_is_an_error() {
        for text in [
            "sale",
            "sale|0|1|2",
            "sale|0|x|2|l",
            "sale|x|1|2|l",
            "gold|0|1|2|l",
            "sale|6|1|2|l",
            "sale|6:1:2|l",
            "sale|0:1|l",
            "sale|0:1:|l",
            "sale|0:1:-|l",
            "sale|0:1:2;1:1:1|l",
            "sale|0:1:99999999999999999999|l",
            "sale|-1:1:1|l",
            "sale|0:1:2",
        ] {
            assert!(unpack(text).is_err(), "{text}");
        }
    }
}
