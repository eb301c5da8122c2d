//! The lines of an order: items and their options.

use crate::money::Minor;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: Option<String>,
    pub product_id: Option<String>,
    pub name: String,
    pub quantity: i64,
    pub unit_price: Minor,
    pub total: Minor,
    pub note: Option<String>,
    pub options: Vec<ItemOption>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemOption {
    pub group: Option<String>,
    pub name: String,
    pub quantity: i64,
    pub price: Minor,
    /// The customer wants it left out.
    pub removed: bool,
    pub options: Vec<ItemOption>,
}
