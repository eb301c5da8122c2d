//! A menu as the platform lists it: flat, with references by id.

use super::{Text, whole};
use crate::common::number::Lira;
use serde::Deserialize;
use serde::de::Deserializer;

/// A number of a menu that decides no money; what is not one is nothing.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let text: Option<Text<'de>> = Option::deserialize(deserializer)?;
    Ok(text.and_then(|text| whole(text.as_str())))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Menu<'a> {
    #[serde(borrow, default, deserialize_with = "super::list")]
    pub sections: Vec<Section<'a>>,
    #[serde(default, deserialize_with = "super::list")]
    pub products: Vec<Product<'a>>,
    #[serde(default, deserialize_with = "super::list")]
    pub modifier_groups: Vec<Group<'a>>,
}

#[derive(Deserialize)]
pub struct Section<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    pub name: Text<'a>,
    #[serde(default, deserialize_with = "number")]
    pub position: Option<u32>,
    pub status: Option<Text<'a>>,
    #[serde(default, deserialize_with = "super::list")]
    pub products: Vec<Place<'a>>,
}

/// A reference by id, with its place among the others.
#[derive(Deserialize)]
pub struct Place<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(default, deserialize_with = "number")]
    pub position: Option<u32>,
    /// What a product costs as an option; groups and sections have none.
    #[serde(default, deserialize_with = "super::amount")]
    pub price: Lira,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    pub name: Text<'a>,
    pub description: Option<Text<'a>>,
    #[serde(default, deserialize_with = "super::amount")]
    pub selling_price: Lira,
    pub status: Option<Text<'a>>,
    pub image_url: Option<Text<'a>>,
    #[serde(default, deserialize_with = "super::list")]
    pub modifier_groups: Vec<Place<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    pub name: Option<Text<'a>>,
    #[serde(default, deserialize_with = "number")]
    pub min: Option<u32>,
    #[serde(default, deserialize_with = "number")]
    pub max: Option<u32>,
    #[serde(default, deserialize_with = "super::list")]
    pub modifier_products: Vec<Place<'a>>,
}
