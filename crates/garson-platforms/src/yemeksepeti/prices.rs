//! The price of one product, by `modify-product`. The call is known only from other countries, so it needs two settings.

use super::names::{CALLBACK_URL, CHAIN_CODE, GLOBAL_ENTITY_ID};
use super::outcome::command;
use super::soft::text;
use super::store::{ask, vendors};
use super::write::authorized;
use crate::common::number::lira_text;
use crate::common::request::{segment, with_json};
use crate::common::steps::setting;
use garson_core::explanation::PlatformTask;
use garson_core::platform::{HttpRequest, HttpResponse, Link, PlatformError, PriceSupport, Step};
use garson_core::price_change::{NewPrice, PriceChange, PriceScope, PricesChanged};
use garson_core::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

pub const SUPPORT: PriceSupport = PriceSupport {
    scope: PriceScope::Branch,
    per_call: 1,
    options: false,
    is_queued: false,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Modify<'a> {
    process_id: &'a str,
    timestamp: Timestamp,
    callback: &'a str,
    product: Product<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Product<'a> {
    product_id: &'a str,
    unit_price: Box<RawValue>,
    action: &'static str,
    updated_fields: [&'static str; 1],
}

pub fn change_prices(
    change: &PriceChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<PricesChanged>, PlatformError> {
    SUPPORT.check(change)?;
    let off = PlatformError::Unsupported {
        what: PlatformTask::ChangePrices,
    };
    let entity = setting(link, GLOBAL_ENTITY_ID).ok_or(off.clone())?;
    let callback = setting(link, CALLBACK_URL).ok_or(off)?;
    let done = || Ok(Step::Done(PricesChanged::Done { failed: Vec::new() }));
    let Some(price) = change.prices.first() else {
        return done();
    };
    // The restaurant's id on the platform is part of its state.
    let Some((shown, puts)) = answers.split_first() else {
        return ask(link).map(Step::Ask);
    };
    let vendors = vendors(link, shown).map_err(PlatformError::Answered)?;
    for answer in puts {
        command(answer).map_err(PlatformError::Answered)?;
    }
    let ids: Vec<&str> = vendors
        .iter()
        .filter_map(|vendor| text(vendor.platform_restaurant_id.as_ref()))
        .collect();
    match ids.get(puts.len()) {
        Some(vendor) => put(change, price, (entity, vendor, callback), link).map(Step::Ask),
        None => done(),
    }
}

fn put(
    change: &PriceChange,
    price: &NewPrice,
    (entity, vendor, callback): (&str, &str, &str),
    link: &Link<'_>,
) -> Result<HttpRequest, PlatformError> {
    let chain = segment(link.credential(CHAIN_CODE)?);
    let url = format!(
        "{}/v2/chains/{chain}/globalEntityId/{}/restaurant/{}/modify-product",
        link.base,
        segment(entity),
        segment(vendor)
    );
    let body = Modify {
        process_id: &change.reference,
        timestamp: change.now,
        callback,
        product: Product {
            product_id: &price.id,
            unit_price: lira_text(price.price),
            action: "upsert",
            updated_fields: ["unitPrice"],
        },
    };
    authorized(with_json("PUT", url, &body), link)
}
