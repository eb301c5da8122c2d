//! Trendyol's wire format of stores and of batches of prices.

use super::Text;
use crate::common::number::Count;
use crate::common::soft::soft;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StorePage<'a> {
    #[serde(borrow)]
    pub restaurants: Vec<&'a RawValue>,
    #[serde(default, deserialize_with = "soft")]
    pub total_pages: Option<Count>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Store<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub working_status: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub working_hours: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreSpan<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub day_of_week: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub opening_time: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub closing_time: Option<Text<'a>>,
}

/// The answer to new prices, and a batch when it is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Batch<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub batch_request_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
    #[serde(default, deserialize_with = "soft")]
    pub failed_item_count: Option<Count>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchItem<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub failure_reasons: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub request_item: Option<RequestItem<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestItem<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub product_id: Option<Text<'a>>,
}
