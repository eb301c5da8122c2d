//! Getir's wire format of a menu.

use super::{Text, Words};
use crate::common::number::{Count, Lira};
use crate::common::soft::soft;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A group of options, or its id: an option's own groups may come as either.
pub enum Nested<'a> {
    Id(Text<'a>),
    Group(MenuGroup<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Nested<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfNested;
        impl<'de> Visitor<'de> for OfNested {
            type Value = Nested<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an option category or its id")
            }

            fn visit_borrowed_str<E>(self, id: &'de str) -> Result<Self::Value, E> {
                Ok(Nested::Id(Text(Cow::Borrowed(id))))
            }

            fn visit_str<E>(self, id: &str) -> Result<Self::Value, E> {
                Ok(Nested::Id(Text(Cow::Owned(id.to_owned()))))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                MenuGroup::deserialize(MapAccessDeserializer::new(map)).map(Nested::Group)
            }
        }
        deserializer.deserialize_any(OfNested)
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Menu<'a> {
    #[serde(borrow)]
    pub product_categories: Vec<MenuCategory<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuCategory<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    pub is_approved: Option<bool>,
    pub status: Option<Count>,
    #[serde(borrow)]
    pub products: Option<Vec<MenuProduct<'a>>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuProduct<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    #[serde(borrow)]
    pub description: Option<Words<'a>>,
    pub price: Option<Lira>,
    pub status: Option<Count>,
    pub is_approved: Option<bool>,
    #[serde(borrow, rename = "imageURL")]
    pub image_url: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub chain_product: Option<Text<'a>>,
    #[serde(borrow)]
    pub option_categories: Option<Vec<Nested<'a>>>,
}

/// An option with groups of its own.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionProduct<'a> {
    #[serde(borrow)]
    pub option_categories: Option<Vec<Nested<'a>>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuGroup<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    pub min_count: Option<Count>,
    pub max_count: Option<Count>,
    pub status: Option<Count>,
    #[serde(borrow)]
    pub options: Option<Vec<MenuChoice<'a>>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MenuChoice<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    #[serde(borrow)]
    pub client_display_name: Option<Words<'a>>,
    pub price: Option<Lira>,
    pub status: Option<Count>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub chain_option: Option<Text<'a>>,
    #[serde(borrow)]
    pub option_categories: Option<Vec<Nested<'a>>>,
}
