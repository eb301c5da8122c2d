//! The lines of an order: products, and what was chosen with them.

use super::wire::{Chosen, OptionCategory, Product, Words, text};
use crate::common::flag::is_set;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep_some};
use crate::common::tolerant::note;
use crate::common::{Read, fault};
use garson_core::money::Minor;
use garson_core::order::{Item, ItemOption, ReadingNote};
use garson_core::platform::Unreadable;

/// Options within options that are kept apart; what is below joins the last level, so that none is lost.
const MAX_DEPTH: usize = 5;

pub fn items(products: &[Product<'_>], notes: &mut Vec<ReadingNote>) -> Read<Vec<Item>> {
    if products.is_empty() {
        return Err(fault("products", "must have at least one product"));
    }
    let one = |(index, product)| {
        item(product, index, notes).map_err(|found| below(found, &format!("products[{index}]")))
    };
    products.iter().enumerate().map(one).collect()
}

fn below(found: Unreadable, place: &str) -> Unreadable {
    fault(format!("{place}.{}", found.path), found.message)
}

fn name(words: Option<&Words<'_>>, id: Option<&str>) -> Read<String> {
    let said = words.and_then(|words| words.said()).or(id);
    keep_some(said, MAX_NAME).ok_or_else(|| fault("name", "is required"))
}

fn item(wire: &Product<'_>, index: usize, notes: &mut Vec<ReadingNote>) -> Read<Item> {
    let mut add_note =
        |field: &str, message: &str| notes.push(note(format!("products[{index}].{field}"), message));
    let quantity = match wire.count {
        Some(count) => count.0,
        None => {
            add_note("count", "is missing and was read as 1");
            1
        }
    };
    let mut options = Vec::new();
    choose(wire.option_categories.as_deref(), 1, &mut options);
    let extra = match wire.option_price {
        Some(price) => price.0,
        None => Minor(added(&options)),
    };
    let unit_price = match (wire.price, wire.price_with_option) {
        (Some(price), _) => price.0,
        (None, Some(whole)) => Minor(whole.0.0.saturating_sub(extra.0)),
        (None, None) => {
            add_note("price", "is missing");
            Minor::ZERO
        }
    };
    let total = match wire.total_price_with_option {
        Some(total) => total.0,
        None => {
            let piece = wire
                .price_with_option
                .map_or(unit_price.0.saturating_add(extra.0), |price| price.0.0);
            Minor::checked(piece.saturating_mul(quantity))
                .map_err(|error| fault("totalPriceWithOption", error.to_string()))?
        }
    };
    Ok(Item {
        id: keep_some(text(&wire.id), MAX_ID),
        product_id: keep_some(text(&wire.product), MAX_ID),
        name: name(wire.name.as_ref(), text(&wire.product))?,
        quantity,
        unit_price,
        total,
        note: keep_some(text(&wire.note), MAX_NOTE),
        options,
    })
}

/// What the options add to one piece.
fn added(options: &[ItemOption]) -> i64 {
    let taken = options.iter().filter(|option| !option.removed);
    taken.fold(0, |sum, option| {
        sum.saturating_add(option.price.0)
            .saturating_add(added(&option.options))
    })
}

fn choose(categories: Option<&[OptionCategory<'_>]>, depth: usize, chosen: &mut Vec<ItemOption>) {
    for category in categories.unwrap_or_default() {
        for option in category.options.as_deref().unwrap_or_default() {
            take(category, option, depth, chosen);
        }
    }
}

fn take(category: &OptionCategory<'_>, wire: &Chosen<'_>, depth: usize, chosen: &mut Vec<ItemOption>) {
    let group = category.name.as_ref().and_then(|words| words.said());
    let mut option = ItemOption {
        group: keep_some(group, MAX_NAME),
        // An option without a name is still one more thing on the plate.
        name: name(wire.name.as_ref(), text(&wire.option)).unwrap_or_else(|_| "?".to_owned()),
        quantity: 1,
        price: wire.price.unwrap_or_default().0,
        removed: is_set(category.remove_toppings),
        options: Vec::new(),
    };
    let within = wire.option_categories.as_deref();
    if depth < MAX_DEPTH {
        choose(within, depth + 1, &mut option.options);
        chosen.push(option);
        return;
    }
    chosen.push(option);
    choose(within, depth, chosen);
}
