//! A restaurant's menu on a platform, in one shape for every platform.

use crate::money::{Currency, Minor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Menu {
    pub categories: Vec<Category>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    pub id: String,
    pub name: String,
    pub position: u32,
    pub is_available: bool,
    pub products: Vec<Product>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub price: Minor,
    pub currency: Currency,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    pub is_available: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub option_groups: Vec<OptionGroup>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionGroup {
    pub id: String,
    pub name: String,
    pub min: u32,
    pub max: u32,
    pub options: Vec<MenuOption>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MenuOption {
    pub id: String,
    pub name: String,
    pub price: Minor,
    pub is_available: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub option_groups: Vec<OptionGroup>,
}
