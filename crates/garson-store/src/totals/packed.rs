//! Sums as the text of one column, such as `cash TRY 2 4500,voucher TRY 1 900`.

use crate::transaction::{Sums, add};
use crate::{Result, StoreError};
use garson_core::payment::PaymentType;
use std::fmt::Write;

pub fn pack(sums: &Sums) -> String {
    let mut text = String::with_capacity(32 * sums.len());
    for ((kind, currency), (count, total)) in sums {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}{} {} {count} {total}",
            kind.as_str(),
            currency.as_str()
        );
    }
    text
}

pub fn unpack(text: &str) -> Result<Sums> {
    let mut sums = Sums::new();
    unpack_onto(text, 1, &mut sums)?;
    Ok(sums)
}

/// Adds packed sums to others, or subtracts them with a negative sign.
pub fn unpack_onto(text: &str, sign: i64, sums: &mut Sums) -> Result<()> {
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let damaged = || StoreError::corrupt("stored payment totals are damaged");
        let (key, (count, total)) = one(part).ok_or_else(damaged)?;
        add(sums, key, (sign * count, sign * total));
    }
    Ok(())
}

fn one(part: &str) -> Option<((PaymentType, garson_core::money::Currency), (i64, i64))> {
    let mut words = part.split(' ');
    let kind = PaymentType::named(words.next()?)?;
    let currency = words.next()?.parse().ok()?;
    let count = words.next()?.parse().ok()?;
    let total = words.next()?.parse().ok()?;
    words
        .next()
        .is_none()
        .then_some(((kind, currency), (count, total)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::money::Currency;

    #[test]
    fn packed_sums_are_unpacked_unchanged() {
        let mut sums = Sums::new();
        assert_eq!(unpack(&pack(&sums)).unwrap(), sums);
        for (n, kind) in (1..).zip(PaymentType::ALL) {
            sums.insert((*kind, Currency::TRY), (n, -n * 1000));
            sums.insert((*kind, "EUR".parse().unwrap()), (i64::MAX, -i64::MAX));
            assert_eq!(unpack(&pack(&sums)).unwrap(), sums);
        }
    }

    #[test]
    fn damaged_text_is_an_error() {
        for text in [
            "cash",
            "cash TRY 1",
            "cash TRY 1 2 3",
            "gold TRY 1 2",
            "cash TRY 1 x",
        ] {
            assert!(unpack(text).is_err(), "{text}");
        }
    }
}
