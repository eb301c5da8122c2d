//! Trendyol's wire format: packages, short events and pages of packages.

pub mod menu;
pub mod store;

use crate::common::flag::is_set;
use crate::common::number::Lira;
use crate::common::soft::soft;
use crate::common::timestamp::Millis;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A text that is borrowed where it can be. Ids, floors and doors come as numbers too.
#[derive(Debug, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text of one that may be missing.
pub fn text<'b>(text: &'b Option<Text<'_>>) -> Option<&'b str> {
    text.as_ref().map(Text::as_str)
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A list; missing and null are empty ones.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Yes or no; missing and null are no.
fn yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(is_set)
}

/// An amount that may be missing or null, which is nothing.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Lira, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    pub supplier_id: Text<'a>,
    pub store_id: Text<'a>,
    pub order_id: Option<Text<'a>>,
    pub order_number: Option<Text<'a>>,
    pub order_code: Option<Text<'a>>,
    pub package_status: Option<Text<'a>>,
    pub package_creation_date: Option<Millis>,
    pub package_modification_date: Option<Millis>,
    pub last_modified_date: Option<Millis>,
    pub preparation_time: Option<Text<'a>>,
    pub total_price: Lira,
    pub total_delivery_price: Option<Lira>,
    pub delivery_type: Option<Text<'a>>,
    #[serde(default, deserialize_with = "yes")]
    pub store_pickup_selected: bool,
    /// `SUCCESS`, `FAILED` or empty.
    pub pickup_eta_state: Option<Text<'a>>,
    pub estimated_pickup_time_min: Option<Millis>,
    pub estimated_pickup_time_max: Option<Millis>,
    /// The delivery time shown to the customer, such as `30-40 dk`.
    pub eta: Option<Text<'a>>,
    #[serde(default, deserialize_with = "yes")]
    pub test_package: bool,
    pub call_center_phone: Option<Text<'a>>,
    pub customer_note: Option<Text<'a>>,
    pub cancel_info: Option<CancelInfo<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub promotions: Vec<Promotion<'a>>,
    pub coupon: Option<Promotion<'a>>,
    pub customer: Option<Person<'a>>,
    #[serde(borrow, default, deserialize_with = "soft")]
    pub user_information: Option<UserInformation<'a>>,
    pub address: Option<Address<'a>>,
    pub payment: Option<Payment<'a>>,
    pub lines: Vec<Line<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInformation<'a> {
    #[serde(borrow, default, deserialize_with = "soft")]
    pub app_name: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelInfo<'a> {
    #[serde(borrow)]
    pub reason_code: Option<Text<'a>>,
    pub reason: Option<Text<'a>>,
}

/// A promotion or coupon of the package, with the part of it that the restaurant bears.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Promotion<'a> {
    #[serde(borrow)]
    pub description: Option<Text<'a>>,
    #[serde(default, deserialize_with = "amount")]
    pub total_seller_amount: Lira,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Person<'a> {
    #[serde(borrow)]
    pub first_name: Option<Text<'a>>,
    pub last_name: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address<'a> {
    #[serde(borrow)]
    pub first_name: Option<Text<'a>>,
    pub last_name: Option<Text<'a>>,
    pub address1: Option<Text<'a>>,
    pub address2: Option<Text<'a>>,
    pub city: Option<Text<'a>>,
    pub district: Option<Text<'a>>,
    pub neighborhood: Option<Text<'a>>,
    pub apartment_number: Option<Text<'a>>,
    pub floor: Option<Text<'a>>,
    pub door_number: Option<Text<'a>>,
    pub address_description: Option<Text<'a>>,
    pub latitude: Option<Text<'a>>,
    pub longitude: Option<Text<'a>>,
    pub phone: Option<Text<'a>>,
    pub pin_code: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment<'a> {
    #[serde(borrow)]
    pub payment_type: Option<Text<'a>>,
    pub meal_card: Option<MealCard<'a>>,
    pub on_delivery: Option<OnDelivery<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MealCard<'a> {
    #[serde(borrow)]
    pub card_source_type: Option<Text<'a>>,
    pub delivery_fee: Option<Lira>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OnDelivery<'a> {
    #[serde(borrow)]
    pub payment_type: Option<Text<'a>>,
    pub delivery_fee: Option<Lira>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line<'a> {
    #[serde(borrow)]
    pub product_id: Option<Text<'a>>,
    pub name: Option<Text<'a>>,
    pub price: Option<Lira>,
    pub unit_selling_price: Option<Lira>,
    #[serde(default, deserialize_with = "list")]
    pub items: Vec<Piece<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub modifier_products: Vec<Modifier<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub extra_ingredients: Vec<Ingredient<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub removed_ingredients: Vec<Ingredient<'a>>,
}

/// One piece of a line: a line of two portions has two.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Piece<'a> {
    #[serde(borrow)]
    pub package_item_id: Option<Text<'a>>,
    #[serde(default, deserialize_with = "yes")]
    pub is_cancelled: bool,
    pub coupon: Option<PieceCoupon<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PieceCoupon<'a> {
    #[serde(borrow)]
    pub description: Option<Text<'a>>,
    pub amount: Option<CouponAmount>,
}

#[derive(Deserialize)]
pub struct CouponAmount {
    #[serde(default, deserialize_with = "amount")]
    pub trendyol: Lira,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Modifier<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    pub modifier_group_id: Option<Text<'a>>,
    #[serde(default, deserialize_with = "amount")]
    pub price: Lira,
    #[serde(default, deserialize_with = "list")]
    pub modifier_products: Vec<Modifier<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub extra_ingredients: Vec<Ingredient<'a>>,
    #[serde(default, deserialize_with = "list")]
    pub removed_ingredients: Vec<Ingredient<'a>>,
}

#[derive(Default)]
pub struct Ingredient<'a> {
    pub name: Option<Text<'a>>,
    pub price: Lira,
}

/// An ingredient, or only its name.
impl<'de: 'a, 'a> Deserialize<'de> for Ingredient<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IngredientVisitor)
    }
}

#[derive(Deserialize)]
struct WholeIngredient<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(default, deserialize_with = "amount")]
    price: Lira,
}

struct IngredientVisitor;

impl<'de> Visitor<'de> for IngredientVisitor {
    type Value = Ingredient<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ingredient")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Ingredient {
            name: Some(Text(Cow::Borrowed(text))),
            price: Lira::default(),
        })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Ingredient {
            name: Some(Text(Cow::Owned(text.to_owned()))),
            price: Lira::default(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let WholeIngredient { name, price } = WholeIngredient::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Ingredient { name, price })
    }
}

/// The body of every event but `created`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    pub status: Option<Text<'a>>,
    pub cancel_info: Option<CancelInfo<'a>>,
}

/// A page of packages, each kept as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<'a> {
    #[serde(borrow, default, deserialize_with = "list")]
    pub content: Vec<&'a RawValue>,
    #[serde(default, deserialize_with = "soft")]
    pub total_pages: Option<u32>,
}

/// One package, or a list around it.
#[derive(Deserialize)]
pub struct Looked<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "list")]
    pub content: Vec<&'a RawValue>,
}

/// A small whole number.
pub fn whole(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}
