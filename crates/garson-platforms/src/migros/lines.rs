//! What was ordered and what it costs: items, their options, and the order's sums.

use super::wire::{self, Price, text};
use crate::common::flag::is_set;
use crate::common::number::{Count, Loose};
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep, keep_some};
use crate::common::tolerant::note;
use crate::common::{Read, fault};
use garson_core::money::{Currency, Minor};
use garson_core::order::{Amount, Discount, FundedBy, Item, ItemOption, ReadingNote};

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
    /// All pieces, without options; option prices are for the whole line too.
    LineAndOptionsOfLine,
    /// All pieces, without options; option prices are for one of each.
    LineAndOptions,
    /// All pieces, without options; option prices are for one of each and for one piece.
    LineAndOptionsPerPiece,
}

const READINGS: [Reading; 6] = [
    Reading::Piece,
    Reading::PieceWithOptions,
    Reading::Line,
    Reading::LineAndOptionsOfLine,
    Reading::LineAndOptions,
    Reading::LineAndOptionsPerPiece,
];

impl Reading {
    fn is_of_line(self) -> bool {
        !matches!(self, Self::Piece | Self::PieceWithOptions)
    }

    fn total(self, item: &wire::Item<'_>) -> i64 {
        let price = item.price.or(item.unit_price).unwrap_or_default().0.0;
        let pieces = quantity(item.amount);
        let options = || options_price(&item.options, quantity);
        match self {
            Self::Piece => price.saturating_add(options()).saturating_mul(pieces),
            Self::PieceWithOptions => price.saturating_mul(pieces),
            Self::Line => price,
            Self::LineAndOptionsOfLine => price.saturating_add(options_price(&item.options, |_| 1)),
            Self::LineAndOptions => price.saturating_add(options()),
            Self::LineAndOptionsPerPiece => price.saturating_add(options().saturating_mul(pieces)),
        }
    }

    fn unit_price(self, item: &wire::Item<'_>) -> i64 {
        let price = item.price.unwrap_or_default().0.0;
        match item.unit_price {
            Some(unit) => unit.0.0,
            None if self.is_of_line() => price / quantity(item.amount),
            None => price,
        }
    }

    /// What an option costs, once.
    fn option_price(self, option: &wire::ItemOption<'_>) -> Minor {
        let price = option.primary_price.unwrap_or_default().0;
        match (self, option.unit_primary_price) {
            (Self::LineAndOptionsOfLine, Some(unit)) => unit.0,
            (Self::LineAndOptionsOfLine, None) => Minor(price.0 / quantity(option.quantity)),
            (_, unit) => option.primary_price.or(unit).unwrap_or_default().0,
        }
    }
}

/// The reading whose sum is one of those expected, the likeliest first.
fn reading(wire: &[wire::Item<'_>], expected: &[i64]) -> Reading {
    let price_is_of_line = says_price_is_of_line(wire);
    let readings = || {
        READINGS
            .into_iter()
            .filter(|reading| !price_is_of_line || reading.is_of_line())
    };
    let sum = |reading: Reading| {
        wire.iter()
            .fold(0i64, |sum, item| sum.saturating_add(reading.total(item)))
    };
    let fits = |expected: &i64| readings().find(|reading| sum(*reading) == *expected);
    let usual = if price_is_of_line {
        Reading::LineAndOptionsOfLine
    } else {
        Reading::Piece
    };
    expected.iter().find_map(fits).unwrap_or(usual)
}

/// Prices of one piece beside them tell that `price` is that of all pieces.
fn says_price_is_of_line(wire: &[wire::Item<'_>]) -> bool {
    let priced = || {
        wire.iter().filter_map(|item| {
            let (price, unit) = (item.price?.0.0, item.unit_price?.0.0);
            (quantity(item.amount) > 1 && unit != 0).then_some((price, unit, quantity(item.amount)))
        })
    };
    priced().next().is_some() && priced().all(|(price, unit, pieces)| unit.checked_mul(pieces) == Some(price))
}

/// Never none: what was ordered was ordered at least once.
fn quantity(count: Option<Count>) -> i64 {
    count.map_or(1, |count| count.0.max(1))
}

fn options_price(
    options: &Option<Vec<wire::ItemOption<'_>>>,
    quantity: impl Fn(Option<Count>) -> i64 + Copy,
) -> i64 {
    let wanted = options.iter().flatten().filter(|option| !is_removed(option));
    wanted.fold(0i64, |sum, option| {
        let price = option.primary_price.unwrap_or_default().0.0;
        let piece = price.saturating_add(options_price(&option.sub_options, quantity));
        sum.saturating_add(piece.saturating_mul(quantity(option.quantity)))
    })
}

fn is_removed(option: &wire::ItemOption<'_>) -> bool {
    is_set(option.excluded)
}

/// The items of an order. Their sum should be one of those expected, the likeliest first.
pub fn items(wire: &[wire::Item<'_>], expected: &[i64], notes: &mut Vec<ReadingNote>) -> Read<Vec<Item>> {
    if wire.is_empty() {
        return Err(fault("items", "must have at least one item"));
    }
    let reading = reading(wire, expected);
    let one = |(index, wire): (usize, &wire::Item<'_>)| {
        let mut add_note =
            |field: &str, message: &str| notes.push(note(format!("items[{index}].{field}"), message));
        if wire.amount.is_none() {
            add_note("amount", "is missing and was read as 1");
        }
        if wire.price.or(wire.unit_price).is_none() {
            add_note("price", "is missing");
        }
        let total = Minor::checked(reading.total(wire))
            .map_err(|error| fault(format!("items[{index}].price"), error.to_string()))?;
        let mut options = Vec::new();
        add_options(&wire.options, reading, 1, &mut options);
        let id = |id: &Option<Loose>| keep(&id.as_ref()?.0, MAX_ID);
        let product_id = id(&wire.product_id);
        Ok(Item {
            id: id(&wire.id),
            name: named(text(&wire.name), product_id.as_deref()),
            product_id,
            quantity: quantity(wire.amount),
            unit_price: Minor(reading.unit_price(wire)),
            total,
            note: keep_some(text(&wire.note), MAX_NOTE),
            options,
        })
    };
    wire.iter().enumerate().map(one).collect()
}

fn add_options(
    wire: &Option<Vec<wire::ItemOption<'_>>>,
    reading: Reading,
    depth: usize,
    kept: &mut Vec<ItemOption>,
) {
    for option in wire.iter().flatten() {
        let mut below = Vec::new();
        add_options(&option.sub_options, reading, depth + 1, &mut below);
        let group = text(&option.header_name);
        let (nested, beside) = if depth < MAX_DEPTH {
            (below, Vec::new())
        } else {
            (Vec::new(), below)
        };
        kept.push(ItemOption {
            group: keep_some(group, MAX_NAME),
            name: named(option.item_names.as_ref().map(|names| &*names.0), group),
            quantity: quantity(option.quantity),
            price: reading.option_price(option),
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
        adjustment: None,
    })
}

/// Who pays for the discount. The two fields are read as amounts or as prices after that side's discount, whichever
/// adds up; if neither does, or both do, none is named.
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
