//! An order's sums: lines, discounts, fees and total agree, or the order says by how much they do not.

use super::tolerant::note;
use super::{Read, fault};
use garson_core::money::Minor;
use garson_core::order::{Amount, Discount, FundedBy, Item, ReadingNote};

/// What the lines cost together.
pub fn of_lines(items: &[Item]) -> i64 {
    items
        .iter()
        .fold(0i64, |sum, item| sum.saturating_add(item.total.0))
}

pub fn of_discounts(discounts: &[Discount]) -> i64 {
    discounts
        .iter()
        .fold(0i64, |sum, discount| sum.saturating_add(discount.amount.0))
}

/// Settles the sums of an order: the subtotal is that of the lines, the discounts have their sum, and what the platform's
/// total has beyond them is the adjustment, with a note. `amount.subtotal` comes as the platform gives it.
pub fn settle(
    mut amount: Amount,
    items: &[Item],
    lines: &'static str,
    notes: &mut Vec<ReadingNote>,
) -> Read<Amount> {
    let given = amount.subtotal.0;
    let subtotal = Minor::checked(of_lines(items)).map_err(|error| fault(lines, error.to_string()))?;
    amount.subtotal = subtotal;
    share_discount(&mut amount);
    let parts = [
        subtotal.0,
        -amount.discount.0,
        amount.delivery_fee.0,
        amount.tip.0,
    ];
    let sum = parts.iter().fold(0i64, |sum, part| sum.saturating_add(*part));
    let adjustment = amount.total.0.saturating_sub(sum);
    if adjustment != 0 {
        amount.adjustment = Some(Minor(adjustment));
        notes.push(note(
            lines,
            format!(
                "do not add up to the total: lines {}, discount {}, delivery {}, tip {}, total {}; the platform's subtotal \
                 is {}",
                written(subtotal.0),
                written(amount.discount.0),
                written(amount.delivery_fee.0),
                written(amount.tip.0),
                written(amount.total.0),
                written(given),
            ),
        ));
    }
    Ok(amount)
}

/// Makes the named discounts add up to the whole one.
fn share_discount(amount: &mut Amount) {
    let named = of_discounts(&amount.discounts);
    let rest = amount.discount.0.saturating_sub(named);
    if amount.discounts.is_empty() || rest == 0 {
        return;
    }
    let unknown = |name: String, amount| Discount {
        name,
        amount: Minor(amount),
        funded_by: FundedBy::Unknown,
    };
    if rest > 0 {
        amount.discounts.push(unknown("?".to_owned(), rest));
    } else {
        // More is named than there is: the whole is certain, its parts are not.
        let name = amount.discounts.swap_remove(0).name;
        amount.discounts.clear();
        if amount.discount.0 > 0 {
            amount.discounts.push(unknown(name, amount.discount.0));
        }
    }
}

/// An amount as people write it.
pub fn written(minor: i64) -> String {
    let sign = if minor < 0 { "-" } else { "" };
    let minor = minor.unsigned_abs();
    format!("{sign}{}.{:02}", minor / 100, minor % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::testing::a_new_order;
    use proptest::prelude::*;

    fn discount(minor: i64) -> Discount {
        Discount {
            name: "x".to_owned(),
            amount: Minor(minor),
            funded_by: FundedBy::Restaurant,
        }
    }

    #[test]
    fn amounts_are_written_as_people_do() {
        for (minor, text) in [(0, "0.00"), (5, "0.05"), (1_250, "12.50"), (-199, "-1.99")] {
            assert_eq!(written(minor), text);
        }
    }

    proptest! {
        #[test]
        fn settled_sums_always_add_up(
            totals in prop::collection::vec(-1_000i64..1_000_000, 1..6),
            given in 0i64..1_000_000,
            discount_sum in 0i64..100_000,
            named in prop::collection::vec(1i64..50_000, 0..4),
            fee in 0i64..10_000,
            tip in 0i64..10_000,
            total in 0i64..2_000_000,
        ) {
            let content = a_new_order("1").content;
            let items: Vec<Item> = totals
                .iter()
                .map(|total| Item { total: Minor(*total), ..content.items[0].clone() })
                .collect();
            let amount = Amount {
                subtotal: Minor(given),
                discount: Minor(discount_sum),
                delivery_fee: Minor(fee),
                tip: Minor(tip),
                total: Minor(total),
                discounts: named.into_iter().map(discount).collect(),
                ..content.amount
            };
            let had_names = !amount.discounts.is_empty();
            let mut notes = Vec::new();
            let amount = settle(amount, &items, "items", &mut notes).unwrap();
            let adjustment = amount.adjustment.map_or(0, |adjustment| adjustment.0);
            prop_assert_eq!(amount.subtotal.0, totals.iter().sum::<i64>());
            prop_assert_eq!(amount.total.0, total);
            prop_assert_eq!(
                amount.subtotal.0 - amount.discount.0 + amount.delivery_fee.0 + amount.tip.0 + adjustment,
                amount.total.0
            );
            prop_assert_eq!(amount.adjustment.is_some(), !notes.is_empty());
            prop_assert!(amount.adjustment != Some(Minor::ZERO));
            if had_names {
                prop_assert_eq!(of_discounts(&amount.discounts), amount.discount.0);
            }
        }
    }
}
