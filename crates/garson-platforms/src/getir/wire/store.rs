//! Getir's wire format of a restaurant, its hours, and the status of an item.

use super::Text;
use crate::common::flag::Flag;
use crate::common::number::Count;
use crate::common::soft::soft;
use serde_json::value::RawValue;

/// The restaurant of a token. Only these say whether it is open.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restaurant<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
    #[serde(default, deserialize_with = "soft")]
    pub is_status_changed_by_user: Option<Flag>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub closed_source: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkingHours<'a> {
    #[serde(borrow)]
    pub restaurant_working_hours: Vec<&'a RawValue>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayHours<'a> {
    #[serde(default, deserialize_with = "soft")]
    pub day: Option<Count>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub working_hours: Option<StartAndEnd<'a>>,
    #[serde(default, deserialize_with = "soft")]
    pub closed: Option<Flag>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartAndEnd<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub start_time: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub end_time: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
pub struct ItemStatus<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
}
