//! Reads the menu with two requests: the store's group, and the group's menu.

use super::outcome::{data, parsed, unreadable};
use super::wire::{self, text};
use super::{store, write};
use crate::common::number::{Kurus, Lira, Loose};
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep, keep_some};
use garson_core::menu::{Category, Menu, Product};
use garson_core::money::{Currency, Minor};
use garson_core::platform::{CallError, HttpResponse, Link, MenuStep, PlatformError};
use serde_json::value::RawValue;

pub fn menu(link: &Link<'_>, answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
    match answers {
        // The key names the store.
        [] => store::ask_detail(link).map(MenuStep::Ask),
        [answer] => {
            let detail = store::detail(link, answer).map_err(PlatformError::Answered)?;
            write::menu(link, &detail.group).map(MenuStep::Ask)
        }
        [_, menu, ..] => read(link, menu)
            .map(MenuStep::Menu)
            .map_err(PlatformError::Answered),
    }
}

fn read(link: &Link<'_>, response: &HttpResponse) -> Result<Menu, CallError> {
    let data = data(link, response)?;
    let wire: wire::Menu<'_> = parsed(response, &data)?;
    let items = || {
        wire.menu_header_infos
            .iter()
            .flat_map(|h| h.items.iter().flatten())
    };
    let in_liras = counts_in_liras(items().filter_map(price));
    let mut categories = Vec::with_capacity(wire.menu_header_infos.len());
    for (position, header) in (0u32..).zip(&wire.menu_header_infos) {
        let products = header
            .items
            .iter()
            .flatten()
            .map(|item| product(item, in_liras).map_err(|fault| unreadable(response, &fault)))
            .collect::<Result<Vec<_>, _>>()?;
        categories.push(Category {
            id: header.id.0.clone(),
            name: keep_some(text(&header.name), MAX_NAME).unwrap_or_default(),
            position,
            is_available: is_active(&header.status),
            products,
        });
    }
    Ok(Menu { categories })
}

fn product(wire: &wire::MenuItem<'_>, in_liras: bool) -> Result<Product, String> {
    let id = |id: &Option<Loose>| keep(&id.as_ref()?.0, MAX_ID);
    // Orders name the product, not its place in the menu.
    let id = id(&wire.product_id)
        .or_else(|| id(&wire.id))
        .ok_or("a product has no productId")?;
    let price = match price(wire) {
        None => Minor::ZERO,
        Some(raw) => minor(raw, in_liras).map_err(|fault| format!("price of product {id}: {fault}"))?,
    };
    Ok(Product {
        id,
        name: keep_some(text(&wire.product_name), MAX_NAME).unwrap_or_default(),
        description: keep_some(text(&wire.product_description), MAX_NOTE),
        price,
        currency: Currency::TRY,
        image_url: None,
        is_available: is_active(&wire.status),
        option_groups: Vec::new(),
    })
}

pub fn price<'a>(wire: &wire::MenuItem<'a>) -> Option<&'a RawValue> {
    wire.default_primary_price
        .or(wire.default_primary_discounted_price)
}

/// Orders count in kuruş, and so does a menu of whole numbers. A menu counts in liras where any price is written with a
/// decimal point (`169.0`), or where its dearest product would cost less than 50 liras in kuruş.
pub fn counts_in_liras<'a>(prices: impl Iterator<Item = &'a RawValue>) -> bool {
    const CHEAPER_THAN_ANY_MENU: f64 = 5_000.0;
    let mut dearest = 0.0f64;
    for price in prices {
        let text = price.get().trim_matches('"');
        if text.contains('.') {
            return true;
        }
        dearest = dearest.max(text.parse().unwrap_or_default());
    }
    dearest > 0.0 && dearest < CHEAPER_THAN_ANY_MENU
}

pub fn minor(price: &RawValue, in_liras: bool) -> Result<Minor, String> {
    let minor = if in_liras {
        serde_json::from_str::<Lira>(price.get()).map(|lira| lira.0)
    } else {
        serde_json::from_str::<Kurus>(price.get()).map(|kurus| kurus.0)
    };
    minor.map_err(|error| error.to_string())
}

/// Only what is said to be anything else than active is not.
fn is_active(status: &Option<wire::Text<'_>>) -> bool {
    text(status).is_none_or(|word| word.trim().eq_ignore_ascii_case("ACTIVE"))
}
