//! The wire format of a restaurant's availability, of items and of catalogs.

use super::super::soft::Text;
use crate::common::flag::Flag;
use crate::common::soft::soft;
use crate::common::timestamp::IsoTime;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The restaurant on one platform of the group.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vendor<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub availability_state: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub availability_states: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "soft")]
    pub changeable: Option<Flag>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub closing_reasons: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub closing_minutes: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub closed_reason: Option<Text<'a>>,
    #[serde(default, deserialize_with = "soft")]
    pub closed_until: Option<IsoTime>,
    #[serde(default, deserialize_with = "soft")]
    pub next_opening_at: Option<IsoTime>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub checkin_at: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub platform_key: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub platform_restaurant_id: Option<Text<'a>>,
}

/// What came of a switch of items that did not go well everywhere.
#[derive(Deserialize)]
pub struct AvailabilityResult<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub details: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
pub struct AvailabilityDetail<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogAnswer<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub catalog_import_id: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogReport<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub catalog_import_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub message: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub details: Option<Vec<&'a RawValue>>,
}

/// The log of imports, by vendor.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogLog<'a> {
    #[serde(borrow, default, deserialize_with = "soft_or_empty")]
    pub menu_import_logs: BTreeMap<String, Vec<&'a RawValue>>,
}

fn soft_or_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(soft(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogLogLine<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub created_at: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub menu_import_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub message: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
}
