//! Sums of orders.

use garson_core::money::Currency;
use garson_core::payment::PaymentType;
use std::collections::BTreeMap;

/// Count and sum by payment type and currency.
pub type Sums = BTreeMap<(PaymentType, Currency), (i64, i64)>;

/// Adds a count and a total; removes an entry that becomes zero.
pub fn add(sums: &mut Sums, key: (PaymentType, Currency), (count, total): (i64, i64)) {
    let sum = sums.entry(key).or_default();
    sum.0 += count;
    sum.1 += total;
    if *sum == (0, 0) {
        sums.remove(&key);
    }
}

/// Adds other sums, or subtracts them with a negative sign.
pub fn add_all(sums: &mut Sums, others: &Sums, sign: i64) {
    for (key, (count, total)) in others {
        add(sums, *key, (sign * count, sign * total));
    }
}
