//! The lines of a package: how many pieces, at what price, with which options.

use super::super::wire::{Ingredient, Line, Modifier, Piece, text};
use crate::common::text::{MAX_ID, MAX_NAME, keep_some};
use crate::common::tolerant::note;
use crate::common::{Read, fault};
use garson_core::money::Minor;
use garson_core::order::{Item, ItemOption, ReadingNote};

/// Options within options are kept to this depth; what is deeper is listed at the last.
const MAX_DEPTH: usize = 5;

/// Which pieces of a package count.
#[derive(Clone, Copy)]
pub enum Counts {
    /// Those that are not cancelled.
    Open,
    /// All of them: the whole package is cancelled, and shows what it once was.
    All,
}

impl Counts {
    pub fn of(lines: &[Line<'_>]) -> Self {
        let is_open = |line: &Line<'_>| line.items.is_empty() || line.items.iter().any(|p| !p.is_cancelled);
        if lines.iter().any(is_open) {
            Self::Open
        } else {
            Self::All
        }
    }

    pub fn has(self, piece: &Piece<'_>) -> bool {
        matches!(self, Self::All) || !piece.is_cancelled
    }

    /// How many of a line there are; one where the platform does not list them.
    fn quantity(self, line: &Line<'_>) -> usize {
        match line.items.as_slice() {
            [] => 1,
            pieces => pieces.iter().filter(|piece| self.has(piece)).count(),
        }
    }
}

/// The lines that are left of a package.
pub fn items(lines: &[Line<'_>], counts: Counts, notes: &mut Vec<ReadingNote>) -> Read<Vec<Item>> {
    if lines.is_empty() {
        return Err(fault("lines", "must have at least one line"));
    }
    let mut items = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let quantity = counts.quantity(line);
        if line.items.is_empty() {
            notes.push(note(
                format!("lines[{index}].items"),
                "is missing; the line was read as 1 piece",
            ));
        }
        if quantity > 0 {
            items.push(item(line, quantity, index, counts, notes)?);
        }
    }
    Ok(items)
}

fn item(
    line: &Line<'_>,
    quantity: usize,
    index: usize,
    counts: Counts,
    notes: &mut Vec<ReadingNote>,
) -> Read<Item> {
    let at = |field: &str| format!("lines[{index}].{field}");
    let unit_price = match line.unit_selling_price.or(line.price) {
        Some(price) => price.0,
        None => {
            notes.push(note(at("unitSellingPrice"), "is missing"));
            Minor::ZERO
        }
    };
    let product_id = keep_some(text(&line.product_id), MAX_ID);
    let name = keep_some(text(&line.name), MAX_NAME)
        .or_else(|| product_id.clone())
        .ok_or_else(|| fault(at("name"), "must not be empty"))?;
    let quantity = i64::try_from(quantity).unwrap_or(i64::MAX);
    // The unit price has the chosen options in it already.
    let total = unit_price
        .0
        .checked_mul(quantity)
        .filter(|total| *total >= 0)
        .and_then(|total| Minor::checked(total).ok())
        .ok_or_else(|| fault(at("unitSellingPrice"), "is not an amount that can be paid"))?;
    let first = line.items.iter().find(|piece| counts.has(piece));
    let mut options = Vec::new();
    add(
        &line.modifier_products,
        &line.extra_ingredients,
        &line.removed_ingredients,
        1,
        &mut options,
    );
    Ok(Item {
        id: first.and_then(|piece| keep_some(text(&piece.package_item_id), MAX_ID)),
        product_id,
        name,
        quantity,
        unit_price,
        total,
        note: None,
        options,
    })
}

/// Adds what was chosen, added and left out to the options.
fn add(
    modifiers: &[Modifier<'_>],
    extra: &[Ingredient<'_>],
    removed: &[Ingredient<'_>],
    depth: usize,
    options: &mut Vec<ItemOption>,
) {
    options.reserve_exact(modifiers.len() + extra.len() + removed.len());
    for modifier in modifiers {
        let mut within = Vec::new();
        let (deeper, is_last) = (depth + 1, depth == MAX_DEPTH);
        if !is_last {
            add_within(modifier, deeper, &mut within);
        }
        options.push(ItemOption {
            group: keep_some(text(&modifier.modifier_group_id), MAX_ID),
            options: within,
            ..plain(text(&modifier.name), modifier.price.0, false)
        });
        if is_last {
            add_within(modifier, depth, options);
        }
    }
    options.extend(
        extra
            .iter()
            .map(|ingredient| plain(text(&ingredient.name), ingredient.price.0, false)),
    );
    options.extend(
        removed
            .iter()
            .map(|ingredient| plain(text(&ingredient.name), Minor::ZERO, true)),
    );
}

fn add_within(modifier: &Modifier<'_>, depth: usize, options: &mut Vec<ItemOption>) {
    add(
        &modifier.modifier_products,
        &modifier.extra_ingredients,
        &modifier.removed_ingredients,
        depth,
        options,
    );
}

fn plain(name: Option<&str>, price: Minor, removed: bool) -> ItemOption {
    ItemOption {
        group: None,
        // An option without a name is still one more thing on the plate.
        name: keep_some(name, MAX_NAME).unwrap_or_else(|| "?".to_owned()),
        quantity: 1,
        price,
        removed,
        options: Vec::new(),
    }
}
