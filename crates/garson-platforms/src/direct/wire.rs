//! The shop's wire format: the writable part of an order, and a cancellation.

use garson_core::json::{ObjectOnly, whole, whole_or_none};
use garson_core::money::Currency;
use garson_core::order::{Courier, FulfilmentType, FundedBy};
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    pub store_id: String,
    pub provider_order_id: String,
    pub short_code: Option<String>,
    /// Which version of the order this is; 1 where it is left out.
    pub revision: Option<i64>,
    pub placed_at: Option<Timestamp>,
    pub scheduled_for: Option<Timestamp>,
    pub note: Option<String>,
    pub fulfilment: Option<Fulfilment>,
    pub customer: Option<Customer>,
    pub items: Vec<Item>,
    pub amount: Amount,
    pub payment: Payment,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fulfilment {
    #[serde(rename = "type")]
    pub kind: Option<FulfilmentType>,
    pub courier: Option<Courier>,
    pub flags: Option<Flags>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Flags {
    pub do_not_ring: bool,
    pub drop_at_door: bool,
    pub no_cutlery: bool,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub phone_code: Option<String>,
    pub email: Option<String>,
    pub address: Option<Address>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
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
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: Option<String>,
    pub product_id: Option<String>,
    pub name: String,
    #[serde(default, deserialize_with = "whole_or_none")]
    pub quantity: Option<i64>,
    #[serde(deserialize_with = "whole")]
    pub unit_price: i64,
    #[serde(default, deserialize_with = "whole_or_none")]
    pub total: Option<i64>,
    pub note: Option<String>,
    #[serde(default)]
    pub options: Vec<ItemOption>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemOption {
    pub group: Option<String>,
    pub name: String,
    #[serde(default, deserialize_with = "whole_or_none")]
    pub quantity: Option<i64>,
    #[serde(default, deserialize_with = "whole")]
    pub price: i64,
    #[serde(default)]
    pub removed: bool,
    #[serde(default)]
    pub options: Vec<ItemOption>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    pub currency: Option<Currency>,
    #[serde(default, deserialize_with = "whole_or_none")]
    pub subtotal: Option<i64>,
    #[serde(default, deserialize_with = "whole")]
    pub discount: i64,
    #[serde(default, deserialize_with = "whole")]
    pub delivery_fee: i64,
    #[serde(default, deserialize_with = "whole")]
    pub tip: i64,
    #[serde(deserialize_with = "whole")]
    pub total: i64,
    #[serde(default)]
    pub discounts: Vec<Discount>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    pub name: String,
    #[serde(deserialize_with = "whole")]
    pub amount: i64,
    pub funded_by: Option<FundedBy>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    #[serde(rename = "type")]
    pub kind: PaymentType,
    pub name: Option<String>,
    pub provider_code: Option<String>,
    #[serde(default)]
    pub is_paid: bool,
    #[serde(default, deserialize_with = "whole_or_none")]
    pub collect: Option<i64>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    pub store_id: String,
    /// Who cancels: `customer` (the default) or `restaurant`.
    pub by: Option<CancelledBy>,
    pub reason: Option<String>,
    pub note: Option<String>,
    #[serde(flatten)]
    pub _object: ObjectOnly,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledBy {
    Customer,
    Restaurant,
}
