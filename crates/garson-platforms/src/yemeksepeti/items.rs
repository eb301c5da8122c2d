//! The lines of an order: products, and toppings within toppings.

use super::soft::{keep_text, text};
use super::wire;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep};
use crate::common::{Read, fault};
use garson_core::money::Minor;
use garson_core::order::{Item, ItemOption};

/// What lies deeper is shown on this level.
const MAX_OPTION_DEPTH: usize = 5;

pub fn item(wire: &wire::Product<'_>, index: usize) -> Read<Item> {
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
    let quantity = wire.quantity.map_or(1, |count| count.0);
    let options = options(&wire.selected_toppings, 1);
    let paid = wire.paid_price.map(|price| price.0);
    let unit_price = match (wire.unit_price, paid) {
        (Some(price), _) => price.0,
        (None, Some(paid)) => Minor(paid.0 / quantity.max(1)),
        (None, None) => Minor::ZERO,
    };
    let total = match paid {
        Some(paid) => paid,
        None => {
            let each = sum_of(&options).saturating_add(unit_price.0);
            Minor::checked(each.saturating_mul(quantity))
                .map_err(|error| fault(format!("products[{index}].paidPrice"), error.to_string()))?
        }
    };
    Ok(Item {
        id: keep_text(wire.id.as_ref(), MAX_ID),
        product_id,
        name,
        quantity,
        unit_price,
        total,
        note: keep_text(wire.comment.as_ref(), MAX_NOTE),
        options,
    })
}

fn options(wire: &[wire::Topping<'_>], depth: usize) -> Vec<ItemOption> {
    let mut options = Vec::with_capacity(wire.len());
    for topping in wire {
        let mut children = options_below(topping, depth);
        let deeper = match depth < MAX_OPTION_DEPTH {
            true => Vec::new(),
            false => std::mem::take(&mut children),
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
