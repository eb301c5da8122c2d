//! Migros' wire format of a store, its hours, and the id of its menu.

use super::Text;
use crate::common::flag::Flag;
use crate::common::number::Loose;
use crate::common::soft::soft;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreDetail {
    #[serde(default, deserialize_with = "soft")]
    pub store_group_id: Option<Loose>,
    #[serde(default, deserialize_with = "soft")]
    pub warehouse_id: Option<Loose>,
    #[serde(default, deserialize_with = "soft")]
    pub in_working_hours: Option<Flag>,
    #[serde(default, deserialize_with = "soft")]
    pub active: Option<Flag>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewStatus<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub status: Option<Text<'a>>,
    #[serde(default, deserialize_with = "soft")]
    pub opening_time: Option<Loose>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeSlot<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub start_day: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub start_hour: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub end_hour: Option<Text<'a>>,
    #[serde(default, deserialize_with = "soft")]
    pub active: Option<Flag>,
}

#[derive(Deserialize)]
pub struct MenuId {
    pub id: Loose,
}
