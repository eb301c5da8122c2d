//! The content of an order: items, customer and amounts, which do not change with its status.
//! A platform may replace it by a later version (`revision`).

use super::Item;
use crate::money::{Currency, Minor};
use crate::payment::PaymentType;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderContent {
    pub note: Option<String>,
    pub fulfilment: Fulfilment,
    pub customer: Customer,
    pub items: Vec<Item>,
    pub amount: Amount,
    pub payment: Payment,
    /// The app in which the customer ordered, where it is another brand than the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storefront: Option<String>,
    /// What of the platform's message could not be read, or does not add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading_notes: Vec<ReadingNote>,
}

/// A part of a platform's message that was left out of the order or read by a guess. The order was taken all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadingNote {
    /// The place in the platform's message, such as `products[2].quantity`.
    pub path: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fulfilment {
    #[serde(rename = "type")]
    pub kind: FulfilmentType,
    pub courier: Courier,
    pub flags: FulfilmentFlags,
    /// When the customer was promised the order: at the door, or ready to be collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised_at: Option<Timestamp>,
    /// When the platform's courier comes to the restaurant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub courier_pickup_at: Option<Timestamp>,
    /// What a customer who collects the order says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pickup_code: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FulfilmentType {
    Delivery,
    Pickup,
}

/// Who carries the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Courier {
    Platform,
    Restaurant,
    None,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FulfilmentFlags {
    pub do_not_ring: bool,
    pub drop_at_door: bool,
    pub no_cutlery: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    pub name: Option<String>,
    pub phone: Option<String>,
    /// The extension of a masked number.
    pub phone_code: Option<String>,
    pub email: Option<String>,
    pub address: Option<Address>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    pub text: Option<String>,
    pub city: Option<String>,
    pub district: Option<String>,
    pub neighbourhood: Option<String>,
    pub apartment: Option<String>,
    pub floor: Option<String>,
    pub door: Option<String>,
    pub directions: Option<String>,
    pub lat: Option<f64>,
    pub lon: Option<f64>,
}

impl Address {
    /// Text and areas in one line; many platforms repeat the area in the text.
    #[must_use]
    pub fn one_line(&self) -> String {
        let text = self.text.as_deref().unwrap_or_default();
        let areas = [&self.neighbourhood, &self.district, &self.city];
        let areas = areas
            .into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|area| !text.contains(area));
        let parts = std::iter::once(text).chain(areas);
        let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
        parts.join(", ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    pub currency: Currency,
    pub subtotal: Minor,
    pub discount: Minor,
    pub delivery_fee: Minor,
    pub tip: Minor,
    /// What the customer pays, after discounts, delivery fee included.
    pub total: Minor,
    pub discounts: Vec<Discount>,
    /// What the platform's total has beyond subtotal − discount + delivery fee + tip; missing where they agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjustment: Option<Minor>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    pub name: String,
    pub amount: Minor,
    pub funded_by: FundedBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FundedBy {
    Platform,
    Restaurant,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    #[serde(rename = "type")]
    pub kind: PaymentType,
    pub name: Option<String>,
    pub provider_code: Option<String>,
    pub is_paid: bool,
    /// What the courier has to collect.
    pub collect: Minor,
}
