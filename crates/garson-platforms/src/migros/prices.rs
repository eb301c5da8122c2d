//! Prices, in one batch with the id of the menu and each item's place in it. Both come from the menu, which is read first.

use super::outcome::{command, data, parsed};
use super::store::{ask_detail, detail};
use super::wire::{self, store::MenuId};
use super::write::{self, Id, post};
use crate::common::number::lira_text;
use garson_core::explanation::PlatformFailure;
use garson_core::money::Minor;
use garson_core::platform::{CallError, HttpResponse, Link, PlatformError, PriceSupport, Step};
use garson_core::price_change::{NewPrice, PriceChange, PriceFailure, PriceScope, PricesChanged};
use serde::Serialize;
use serde_json::value::RawValue;

pub const SUPPORT: PriceSupport = PriceSupport {
    scope: PriceScope::Branch,
    per_call: 500,
    options: false,
    is_queued: false,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Batch<'a> {
    store_id: Id<'a>,
    store_group_id: Id<'a>,
    menu_id: Id<'a>,
    prices: Vec<Price<'a>>,
}

/// Both prices are required: without a discount they are the same.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Price<'a> {
    menu_item_id: Id<'a>,
    product_id: Id<'a>,
    default_primary_price: Box<RawValue>,
    default_primary_discounted_price: Box<RawValue>,
}

/// An item's place in the menu, and its prices there.
struct Place {
    product: String,
    menu_item: String,
    /// The discounted price, if it differs.
    discounted: Option<Minor>,
}

pub fn change_prices(
    change: &PriceChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<PricesChanged>, PlatformError> {
    SUPPORT.check(change)?;
    if change.prices.is_empty() {
        return Ok(Step::Done(PricesChanged::Done { failed: Vec::new() }));
    }
    let Some(store) = answers.first() else {
        return ask_detail(link).map(Step::Ask);
    };
    let group = detail(link, store).map_err(PlatformError::Answered)?.group;
    let Some(menu) = answers.get(1) else {
        return write::menu(link, &group).map(Step::Ask);
    };
    let (menu_id, places) = places(link, menu).map_err(PlatformError::Answered)?;
    let find = |price: &NewPrice| places.iter().find(|place| place.product == price.id);
    let failed: Vec<PriceFailure> = change
        .prices
        .iter()
        .filter(|price| find(price).is_none())
        .map(|price| PriceFailure {
            id: Some(price.id.clone()),
            message: PlatformFailure::ItemMissing { id: price.id.clone() }.into(),
        })
        .collect();
    if failed.len() == change.prices.len() {
        return Ok(Step::Done(PricesChanged::Done { failed }));
    }
    if let Some(answer) = answers.get(2) {
        command(link, answer).map_err(PlatformError::Answered)?;
        return Ok(Step::Done(PricesChanged::Done { failed }));
    }
    let mut prices = Vec::with_capacity(change.prices.len());
    for new in &change.prices {
        if let Some(place) = find(new) {
            prices.push(Price {
                menu_item_id: Id(&place.menu_item),
                product_id: Id(&place.product),
                default_primary_price: lira_text(new.price),
                // A discount is kept if it is still below the new price.
                default_primary_discounted_price: lira_text(
                    place
                        .discounted
                        .filter(|price| *price < new.price)
                        .unwrap_or(new.price),
                ),
            });
        }
    }
    let body = Batch {
        store_id: Id(link.branch),
        store_group_id: Id(&group),
        menu_id: Id(&menu_id),
        prices,
    };
    post(link, "/Menu/UpdateBatchPrice", &body).map(Step::Ask)
}

fn places(link: &Link<'_>, answer: &HttpResponse) -> Result<(String, Vec<Place>), CallError> {
    let data = data(link, answer)?;
    let menu: wire::Menu<'_> = parsed(answer, &data)?;
    let id: MenuId = parsed(answer, &data)?;
    let in_liras = super::menu::counts_in_liras(items(&menu).filter_map(super::menu::price));
    let place = |item: &wire::MenuItem<'_>| {
        let product = item.product_id.as_ref()?.0.clone();
        let menu_item = item.id.as_ref()?.0.clone();
        let amount = |raw: Option<&RawValue>| super::menu::minor(raw?, in_liras).ok();
        let price = amount(item.default_primary_price);
        let discounted =
            amount(item.default_primary_discounted_price).filter(|discounted| Some(*discounted) != price);
        Some(Place {
            product,
            menu_item,
            discounted,
        })
    };
    Ok((id.id.0, items(&menu).filter_map(place).collect()))
}

fn items<'a, 'b>(menu: &'b wire::Menu<'a>) -> impl Iterator<Item = &'b wire::MenuItem<'a>> {
    let headers = menu.menu_header_infos.iter();
    headers.flat_map(|header| header.items.iter().flatten())
}
