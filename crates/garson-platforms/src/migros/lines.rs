//! What was ordered and what it costs: items, their options, and the order's sums.

use super::wire::{self, Price, text};
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep, keep_some};
use crate::common::{Read, fault};
use garson_core::money::{Currency, Minor};
use garson_core::order::{Amount, Discount, FundedBy, Item, ItemOption};

/// Options deeper than this are kept beside the last that may nest: none is lost.
const MAX_DEPTH: usize = 5;

/// What an item's `price` covers. Integrators disagree, so the reading that adds up to the order's total is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// One piece, without its options.
    Piece,
    /// One piece, options included.
    PieceWithOptions,
    /// All pieces, options included.
    Line,
}

const READINGS: [Reading; 3] = [Reading::Piece, Reading::PieceWithOptions, Reading::Line];

impl Reading {
    fn total(self, item: &wire::Item<'_>) -> i64 {
        let price = item.price.unwrap_or_default().0.0;
        match self {
            Self::Piece => price
                .saturating_add(options_price(&item.options))
                .saturating_mul(quantity(item.amount)),
            Self::PieceWithOptions => price.saturating_mul(quantity(item.amount)),
            Self::Line => price,
        }
    }

    fn unit_price(self, item: &wire::Item<'_>) -> i64 {
        let price = item.price.unwrap_or_default().0.0;
        match self {
            Self::Piece | Self::PieceWithOptions => price,
            Self::Line => price / quantity(item.amount),
        }
    }
}

fn reading(wire: &[wire::Item<'_>], total: i64) -> Reading {
    let sum = |reading: Reading| {
        wire.iter()
            .fold(0i64, |sum, item| sum.saturating_add(reading.total(item)))
    };
    READINGS
        .into_iter()
        .find(|reading| sum(*reading) == total)
        .unwrap_or(Reading::Piece)
}

/// Never none: what was ordered was ordered at least once.
fn quantity(count: Option<crate::common::number::Count>) -> i64 {
    count.map_or(1, |count| count.0.max(1))
}

fn options_price(options: &Option<Vec<wire::ItemOption<'_>>>) -> i64 {
    let wanted = options.iter().flatten().filter(|option| !is_removed(option));
    wanted.fold(0i64, |sum, option| {
        let price = option.primary_price.unwrap_or_default().0.0;
        let piece = price.saturating_add(options_price(&option.sub_options));
        sum.saturating_add(piece.saturating_mul(quantity(option.quantity)))
    })
}

fn is_removed(option: &wire::ItemOption<'_>) -> bool {
    option.excluded.unwrap_or_default()
}

pub fn items(wire: &[wire::Item<'_>], total: i64) -> Read<Vec<Item>> {
    if wire.is_empty() {
        return Err(fault("items", "must have at least one item"));
    }
    let reading = reading(wire, total);
    let one = |(index, wire): (usize, &wire::Item<'_>)| {
        let total = Minor::checked(reading.total(wire))
            .map_err(|error| fault(format!("items[{index}].price"), error.to_string()))?;
        let mut options = Vec::new();
        add_options(&wire.options, 1, &mut options);
        let id = |id: &Option<crate::common::number::Loose>| keep(&id.as_ref()?.0, MAX_ID);
        Ok(Item {
            id: id(&wire.id),
            product_id: id(&wire.product_id),
            name: named(Some(&wire.name.0), None),
            quantity: quantity(wire.amount),
            unit_price: Minor(reading.unit_price(wire)),
            total,
            note: keep_some(text(&wire.note), MAX_NOTE),
            options,
        })
    };
    wire.iter().enumerate().map(one).collect()
}

fn add_options(wire: &Option<Vec<wire::ItemOption<'_>>>, depth: usize, kept: &mut Vec<ItemOption>) {
    for option in wire.iter().flatten() {
        let mut below = Vec::new();
        add_options(&option.sub_options, depth + 1, &mut below);
        let group = text(&option.header_name);
        let (nested, beside) = match depth < MAX_DEPTH {
            true => (below, Vec::new()),
            false => (Vec::new(), below),
        };
        kept.push(ItemOption {
            group: keep_some(group, MAX_NAME),
            name: named(text(&option.item_names), group),
            quantity: quantity(option.quantity),
            price: option.primary_price.unwrap_or_default().0,
            removed: is_removed(option),
            options: nested,
        });
        kept.extend(beside);
    }
}

/// A name that a kitchen can read, also where the platform sends none.
fn named(name: Option<&str>, instead: Option<&str>) -> String {
    keep_some(name, MAX_NAME)
        .or_else(|| keep_some(instead, MAX_NAME))
        .unwrap_or_else(|| "?".to_owned())
}

/// The order's sums. `total` is before discounts, `discounted` what the customer pays.
pub fn amount(prices: &wire::Prices) -> Read<Amount> {
    let Price(Some(subtotal)) = prices.total else {
        return Err(fault("prices.total.amountAsPenny", "is required"));
    };
    if subtotal < 0 {
        return Err(fault("prices.total", "must not be negative"));
    }
    let [discounted, restaurant, migros] = [
        prices.discounted,
        prices.restaurant_discounted,
        prices.migros_discounted,
    ]
    .map(|price| price.and_then(|price| price.0));
    let shares = (restaurant.unwrap_or_default(), migros.unwrap_or_default());
    let total = match discounted {
        // Nothing to pay is believed only where the discounts say so too: without any it means "no discount".
        Some(0) if shares.0.checked_add(shares.1) == Some(subtotal) => 0,
        Some(0) | None => subtotal,
        Some(paid) if paid < 0 => return Err(fault("prices.discounted", "must not be negative")),
        Some(paid) => paid,
    };
    let discount = (subtotal - total).max(0);
    Ok(Amount {
        currency: Currency::TRY,
        subtotal: Minor(subtotal),
        discount: Minor(discount),
        delivery_fee: Minor::ZERO,
        tip: Minor::ZERO,
        total: Minor(total),
        discounts: discounts(subtotal, discount, restaurant, migros),
    })
}

/// Who pays for the discount. The two fields are read as amounts or as prices after that side's discount, whichever
/// adds up; where neither does, or both do, nobody is named.
fn discounts(subtotal: i64, discount: i64, restaurant: Option<i64>, migros: Option<i64>) -> Vec<Discount> {
    if discount == 0 {
        return Vec::new();
    }
    let fits = |(restaurant, migros): &(i64, i64)| {
        *restaurant >= 0 && *migros >= 0 && restaurant.checked_add(*migros) == Some(discount)
    };
    let amounts = Some((restaurant.unwrap_or(0), migros.unwrap_or(0))).filter(fits);
    let after = Some((
        subtotal - restaurant.unwrap_or(subtotal),
        subtotal - migros.unwrap_or(subtotal),
    ))
    .filter(fits);
    let one = |name: &str, amount, funded_by| Discount {
        name: name.to_owned(),
        amount: Minor(amount),
        funded_by,
    };
    let (restaurant, migros) = match (amounts, after) {
        (Some(amounts), Some(after)) if amounts == after => amounts,
        (Some(shares), None) | (None, Some(shares)) => shares,
        _ => return vec![one("İndirim", discount, FundedBy::Unknown)],
    };
    [
        one("Restoran indirimi", restaurant, FundedBy::Restaurant),
        one("Migros indirimi", migros, FundedBy::Platform),
    ]
    .into_iter()
    .filter(|discount| discount.amount > Minor::ZERO)
    .collect()
}
