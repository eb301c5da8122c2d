//! Prices, in batches that the platform processes later.
//!
//! A price without a restaurant would change in all restaurants of the seller. [`Item`] cannot be made without one.

use super::names::{BATCH, PRICES};
use super::wire::store::{Batch, BatchItem};
use super::wire::text;
use super::write::{address, answered, command, said, signed, store, unreadable};
use crate::common::number::lira_text;
use crate::common::parse;
use crate::common::request::{limited, request, segment, with_json};
use crate::common::soft::objects;
use crate::common::steps::single;
use crate::common::text::{MAX_ID, MAX_NAME, keep, keep_some};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::platform::{CallError, HttpResponse, Link, PlatformError, PriceSupport, Step};
use garson_core::price_change::{
    BatchReading, NewPrice, PriceChange, PriceFailure, PriceScope, PricesChanged,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

pub const SUPPORT: PriceSupport = PriceSupport {
    scope: PriceScope::Branch,
    per_call: 1_000,
    options: false,
    is_queued: true,
};

/// An id as a number, if it is one.
struct Id<'a>(&'a str);

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<u64>() {
            Ok(number) if number.to_string() == self.0 => serializer.serialize_u64(number),
            _ => serializer.serialize_str(self.0),
        }
    }
}

/// The store that a price is for: never empty.
#[derive(Clone, Copy)]
struct Restaurant<'a>(&'a str);

impl<'a> Restaurant<'a> {
    fn of(link: &Link<'a>) -> Result<Self, PlatformError> {
        let id = store(link)?.trim();
        if id.is_empty() {
            return Err(PlatformError::MissingCredential { name: "remoteId" });
        }
        Ok(Self(id))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    product_id: Id<'a>,
    selling_price: Box<RawValue>,
    restaurant_id: Id<'a>,
}

impl<'a> Item<'a> {
    fn new(price: &'a NewPrice, restaurant: Restaurant<'a>) -> Self {
        Self {
            product_id: Id(&price.id),
            selling_price: lira_text(price.price),
            restaurant_id: Id(restaurant.0),
        }
    }
}

#[derive(Serialize)]
struct Items<'a> {
    items: Vec<Item<'a>>,
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
    let ask = || {
        let restaurant = Restaurant::of(link)?;
        let body = Items {
            items: change
                .prices
                .iter()
                .map(|price| Item::new(price, restaurant))
                .collect(),
        };
        let url = address(link, "product", "products/price")?;
        signed(limited(with_json("POST", url, &body), PRICES), link)
    };
    single(ask, answers, |answer| {
        command(answer)?;
        let batch: Batch<'_> = parse(&answer.body).map_err(|found| unreadable(&found))?;
        let id = keep_some(text(&batch.batch_request_id), MAX_ID);
        // Queued without a number: it may have been accepted, and its result cannot be read.
        let batch = id.ok_or_else(|| CallError::unclear(said(answer)))?;
        Ok(PricesChanged::Queued { batch })
    })
}

pub fn read_prices(
    batch: &str,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<BatchReading>, PlatformError> {
    let ask = || {
        let url = address(link, "product", &format!("batch-requests/{}", segment(batch)))?;
        signed(limited(request("GET", url), BATCH), link)
    };
    single(ask, answers, |answer| {
        // Batches are kept for four hours.
        if answer.status == 404 {
            return Ok(BatchReading::Gone);
        }
        answered(answer)?;
        let batch: Batch<'_> = parse(&answer.body).map_err(|found| unreadable(&found))?;
        Ok(reading(&batch))
    })
}

fn reading(batch: &Batch<'_>) -> BatchReading {
    const DONE: [&str; 4] = ["COMPLETED", "DONE", "SUCCESS", "FAILED"];
    let word = text(&batch.status).unwrap_or_default().trim();
    let items: Vec<BatchItem<'_>> = objects(batch.items.as_deref().unwrap_or_default());
    let is_done = DONE.iter().any(|done| word.eq_ignore_ascii_case(done));
    if !is_done {
        return BatchReading::InProgress {
            word: keep(word, MAX_NAME),
        };
    }
    let mut failed: Vec<PriceFailure> = items.iter().filter_map(failure).collect();
    let count = batch.failed_item_count.map_or(0, |count| count.0);
    let has_failed = count > 0 || word.eq_ignore_ascii_case("FAILED");
    if failed.is_empty() && has_failed {
        failed.push(PriceFailure {
            id: None,
            message: PlatformFailure::Says {
                text: format!("{word}: {count}"),
            }
            .into(),
        });
    }
    BatchReading::Done { failed }
}

fn failure(item: &BatchItem<'_>) -> Option<PriceFailure> {
    let word = text(&item.status).unwrap_or_default().trim();
    let reasons: Vec<&str> = item
        .failure_reasons
        .iter()
        .flatten()
        .map(|reason| reason.get().trim_matches('"'))
        .filter(|reason| !reason.is_empty())
        .collect();
    let is_fine = word.is_empty() || word.eq_ignore_ascii_case("SUCCESS");
    if is_fine && reasons.is_empty() {
        return None;
    }
    let said = if reasons.is_empty() {
        word.to_owned()
    } else {
        reasons.join("; ")
    };
    Some(PriceFailure {
        id: item
            .request_item
            .as_ref()
            .and_then(|request| keep_some(text(&request.product_id), MAX_ID)),
        message: Explanation::from(PlatformFailure::Says {
            text: keep(&said, 300).unwrap_or_default(),
        }),
    })
}
