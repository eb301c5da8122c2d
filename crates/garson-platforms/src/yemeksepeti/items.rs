//! The lines of an order: products, and toppings within toppings.

use super::soft::{keep_text, text};
use super::wire;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep};
use crate::common::tolerant::note;
use crate::common::{Read, fault};
use garson_core::money::Minor;
use garson_core::order::{Item, ItemOption, ReadingNote};

/// What lies deeper is shown on this level.
const MAX_OPTION_DEPTH: usize = 5;

/// What a product's `paidPrice` covers. The platform's description leaves its toppings out, but orders have come with
/// them in it, so the reading that adds up to the order's sums is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    WithToppings,
    /// Toppings are paid apart, for each piece.
    ToppingsPerPiece,
    /// Toppings are paid apart, once for the line.
    ToppingsPerLine,
}

const READINGS: [Reading; 3] = [
    Reading::WithToppings,
    Reading::ToppingsPerPiece,
    Reading::ToppingsPerLine,
];
/// What the description says.
const DESCRIBED: Reading = Reading::ToppingsPerPiece;

/// A product whose total does not have its toppings yet.
struct Line {
    item: Item,
    /// What its toppings cost for one piece; nothing where the total has them for certain.
    toppings: i64,
}

impl Line {
    fn total(&self, reading: Reading) -> i64 {
        let apart = match reading {
            Reading::WithToppings => 0,
            Reading::ToppingsPerPiece => self.toppings.saturating_mul(self.item.quantity),
            Reading::ToppingsPerLine => self.toppings,
        };
        self.item.total.0.saturating_add(apart)
    }
}

/// The lines of an order. Their sum should be one of those expected, the likeliest first.
pub fn items(wire: &[wire::Product<'_>], expected: &[i64], notes: &mut Vec<ReadingNote>) -> Read<Vec<Item>> {
    let lines = wire
        .iter()
        .enumerate()
        .map(|(index, wire)| line(wire, index, notes))
        .collect::<Read<Vec<_>>>()?;
    let sum = |reading: Reading| {
        lines
            .iter()
            .fold(0i64, |sum, line| sum.saturating_add(line.total(reading)))
    };
    let fits = |sum_of_lines: &i64| {
        READINGS
            .into_iter()
            .find(|reading| sum(*reading) == *sum_of_lines)
    };
    let reading = expected.iter().find_map(fits).unwrap_or(DESCRIBED);
    let with_total = |(index, line): (usize, Line)| {
        let total = Minor::checked(line.total(reading))
            .map_err(|error| fault(format!("products[{index}].paidPrice"), error.to_string()))?;
        Ok(Item { total, ..line.item })
    };
    lines.into_iter().enumerate().map(with_total).collect()
}

fn line(wire: &wire::Product<'_>, index: usize, notes: &mut Vec<ReadingNote>) -> Read<Line> {
    let variation = wire
        .variation
        .as_ref()
        .and_then(|variation| text(variation.name.as_ref()));
    let variation = variation.map(str::trim).filter(|name| !name.is_empty());
    let name = keep_text(wire.name.as_ref(), MAX_NAME);
    let name = match (name, variation) {
        (Some(name), Some(variation)) if !name.contains(variation) => Some(format!("{name} ({variation})")),
        (None, Some(variation)) => Some(variation.to_owned()),
        (name, _) => name,
    };
    let ids = [&wire.remote_code, &wire.sku, &wire.id];
    let product_id = ids.into_iter().find_map(|id| keep_text(id.as_ref(), MAX_ID));
    let name = name
        .and_then(|name| keep(&name, MAX_NAME))
        .or_else(|| product_id.clone())
        .ok_or_else(|| fault(format!("products[{index}].name"), "must not be empty"))?;
    let quantity = match wire.quantity {
        Some(count) => count.0,
        None => {
            notes.push(note(
                format!("products[{index}].quantity"),
                "is missing and was read as 1",
            ));
            1
        }
    };
    let options = options(&wire.selected_toppings, 1);
    let paid = wire.paid_price.map(|price| price.0);
    let unit_price = match (wire.unit_price, paid) {
        (Some(price), _) => price.0,
        (None, Some(paid)) => Minor(paid.0 / quantity.max(1)),
        (None, None) => Minor::ZERO,
    };
    let toppings = sum_of(&options);
    let (total, toppings) = match paid {
        Some(paid) => (paid, toppings),
        None => {
            let each = toppings.saturating_add(unit_price.0);
            let total = Minor::checked(each.saturating_mul(quantity))
                .map_err(|error| fault(format!("products[{index}].paidPrice"), error.to_string()))?;
            (total, 0)
        }
    };
    let item = Item {
        id: keep_text(wire.id.as_ref(), MAX_ID),
        product_id,
        name,
        quantity,
        unit_price,
        total,
        note: keep_text(wire.comment.as_ref(), MAX_NOTE),
        options,
    };
    Ok(Line { item, toppings })
}

fn options(wire: &[wire::Topping<'_>], depth: usize) -> Vec<ItemOption> {
    let mut options = Vec::with_capacity(wire.len());
    for topping in wire {
        let mut children = options_below(topping, depth);
        let deeper = if depth < MAX_OPTION_DEPTH {
            Vec::new()
        } else {
            std::mem::take(&mut children)
        };
        let name = keep_text(topping.name.as_ref(), MAX_NAME);
        let name = name.or_else(|| keep_text(topping.remote_code.as_ref(), MAX_NAME));
        options.push(ItemOption {
            group: None,
            name: name.unwrap_or_else(|| "?".to_owned()),
            quantity: topping.quantity.map_or(1, |count| count.0),
            price: topping.price.unwrap_or_default().0,
            removed: false,
            options: children,
        });
        options.extend(deeper);
    }
    options
}

fn options_below(topping: &wire::Topping<'_>, depth: usize) -> Vec<ItemOption> {
    options(&topping.children, (depth + 1).min(MAX_OPTION_DEPTH))
}

fn sum_of(options: &[ItemOption]) -> i64 {
    options.iter().fold(0i64, |sum, option| {
        let each = sum_of(&option.options).saturating_add(option.price.0);
        sum.saturating_add(each.saturating_mul(option.quantity))
    })
}
