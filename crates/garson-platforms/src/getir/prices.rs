//! Prices of a chain's menu. Getir has no call for the prices of one restaurant.

use super::names::CHAIN_MENU_ID;
use super::outcome::{BLOCK, CONFIG_BLOCK, command, value};
use super::wire::menu::{Menu, MenuGroup, Nested};
use super::wire::text;
use super::write::{self, DEFAULT};
use crate::common::number::lira_text;
use crate::common::request::{limited, segment, with_json};
use crate::common::steps::setting;
use garson_core::explanation::{PlatformFailure, PlatformTask};
use garson_core::platform::{HttpResponse, Link, PlatformError, PriceSupport, Step};
use garson_core::price_change::{NewPrice, PriceChange, PriceFailure, PriceScope, PricesChanged};
use serde_json::value::RawValue;
use std::collections::HashMap;

pub const SUPPORT: PriceSupport = PriceSupport {
    scope: PriceScope::Chain,
    per_call: 1_000,
    options: true,
    is_queued: false,
};

/// The chain's ids of the restaurant's products and options.
#[derive(Default)]
struct ChainIds<'a> {
    products: HashMap<&'a str, &'a str>,
    options: HashMap<&'a str, &'a str>,
}

pub fn change_prices(
    change: &PriceChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<PricesChanged>, PlatformError> {
    SUPPORT.check(change)?;
    let menu_id = setting(link, CHAIN_MENU_ID).ok_or(PlatformError::Unsupported {
        what: PlatformTask::ChangePrices,
    })?;
    let Some(shown) = answers.first() else {
        return write::menu(link).map(Step::Ask);
    };
    let menu: Menu<'_> = value(shown, CONFIG_BLOCK).map_err(PlatformError::Answered)?;
    let ids = chain_ids(&menu);
    let find = |price: &NewPrice| {
        let known = if price.is_option {
            &ids.options
        } else {
            &ids.products
        };
        known.get(price.id.as_str()).copied()
    };
    let failed: Vec<PriceFailure> = change
        .prices
        .iter()
        .filter(|price| find(price).is_none())
        .map(missing)
        .collect();
    if failed.len() == change.prices.len() {
        return Ok(Step::Done(PricesChanged::Done { failed }));
    }
    if let Some(answer) = answers.get(1) {
        command(answer, BLOCK).map_err(PlatformError::Answered)?;
        return Ok(Step::Done(PricesChanged::Done { failed }));
    }
    let listed = |is_option: bool| -> Vec<(&str, &NewPrice)> {
        let wanted = change.prices.iter().filter(|price| price.is_option == is_option);
        wanted.filter_map(|price| Some((find(price)?, price))).collect()
    };
    let body = Body {
        chain_products: listed(false)
            .into_iter()
            .map(|(chain_product_oid, price)| ProductPrice {
                chain_product_oid,
                price: lira_text(price.price),
            })
            .collect(),
        chain_options: listed(true)
            .into_iter()
            .map(|(chain_option_oid, price)| OptionPrice {
                chain_option_oid,
                price: lira_text(price.price),
            })
            .collect(),
    };
    let url = format!("{}/chain-menus/{}/update-prices", link.base, segment(menu_id));
    let plain = with_json("POST", url, &body);
    Ok(Step::Ask(limited(write::with_token(plain, link)?, DEFAULT)))
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    chain_products: Vec<ProductPrice<'a>>,
    chain_options: Vec<OptionPrice<'a>>,
}

#[derive(serde::Serialize)]
struct ProductPrice<'a> {
    #[serde(rename = "chainProductOID")]
    chain_product_oid: &'a str,
    price: Box<RawValue>,
}

#[derive(serde::Serialize)]
struct OptionPrice<'a> {
    #[serde(rename = "chainOptionOID")]
    chain_option_oid: &'a str,
    price: Box<RawValue>,
}

fn missing(price: &NewPrice) -> PriceFailure {
    PriceFailure {
        id: Some(price.id.clone()),
        message: PlatformFailure::ItemMissing { id: price.id.clone() }.into(),
    }
}

fn chain_ids<'a>(menu: &'a Menu<'a>) -> ChainIds<'a> {
    let mut ids = ChainIds::default();
    let categories = menu.product_categories.iter();
    for product in categories.flat_map(|category| category.products.as_deref().unwrap_or_default()) {
        if let (Some(id), Some(chain)) = (text(&product.id), text(&product.chain_product)) {
            ids.products.insert(id, chain);
        }
        ids.collect(product.option_categories.as_deref());
    }
    ids
}

impl<'a> ChainIds<'a> {
    fn collect(&mut self, nested: Option<&'a [Nested<'a>]>) {
        let groups = nested
            .unwrap_or_default()
            .iter()
            .filter_map(|nested| match nested {
                Nested::Group(group) => Some(group),
                Nested::Id(_) => None,
            });
        for group in groups {
            self.collect_group(group);
        }
    }

    fn collect_group(&mut self, group: &'a MenuGroup<'a>) {
        for option in group.options.as_deref().unwrap_or_default() {
            if let (Some(id), Some(chain)) = (text(&option.id), text(&option.chain_option)) {
                self.options.insert(id, chain);
            }
            self.collect(option.option_categories.as_deref());
        }
    }
}
