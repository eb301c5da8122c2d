//! Delivery Hero's wire format: orders as dispatched or read back, changes, and responses to calls.

pub mod store;

use super::soft::{Degrees, Text, list, object_or_text, optional};
use crate::common::flag::Flag;
use crate::common::number::{Count, Lira};
use crate::common::soft::soft;
use crate::common::timestamp::IsoTime;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order<'a> {
    #[serde(borrow)]
    pub token: Text<'a>,
    #[serde(borrow)]
    pub code: Option<Text<'a>>,
    #[serde(borrow)]
    pub short_code: Option<Text<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub created_at: Option<IsoTime>,
    #[serde(default, deserialize_with = "optional")]
    pub expiry_date: Option<IsoTime>,
    #[serde(borrow)]
    pub expedition_type: Option<Text<'a>>,
    pub pre_order: Option<Flag>,
    pub test: Option<Flag>,
    #[serde(borrow, default, deserialize_with = "object_or_text")]
    pub comments: Option<Comments<'a>>,
    #[serde(borrow)]
    pub customer: Option<Customer<'a>>,
    #[serde(borrow)]
    pub delivery: Option<Delivery<'a>>,
    #[serde(borrow)]
    pub pickup: Option<Pickup<'a>>,
    #[serde(borrow, default, deserialize_with = "list")]
    pub discounts: Vec<Discount<'a>>,
    #[serde(borrow)]
    pub payment: Option<Payment<'a>>,
    pub price: Price,
    #[serde(borrow)]
    pub products: Vec<Product<'a>>,
    #[serde(borrow)]
    pub callback_urls: Option<CallbackUrls<'a>>,
    /// Only where an order is read back.
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    /// The description gives it no type.
    #[serde(borrow)]
    pub reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comments<'a> {
    #[serde(borrow)]
    pub customer_comment: Option<Text<'a>>,
    #[serde(borrow)]
    pub vendor_comment: Option<Text<'a>>,
}

impl<'a> From<Text<'a>> for Comments<'a> {
    fn from(comment: Text<'a>) -> Self {
        Self {
            customer_comment: Some(comment),
            vendor_comment: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer<'a> {
    #[serde(borrow)]
    pub email: Option<Text<'a>>,
    #[serde(borrow)]
    pub first_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub last_name: Option<Text<'a>>,
    #[serde(borrow)]
    pub mobile_phone: Option<Text<'a>>,
    #[serde(borrow)]
    pub mobile_phone_country_code: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery<'a> {
    #[serde(borrow)]
    pub address: Option<Address<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub expected_delivery_time: Option<IsoTime>,
    /// When the platform's rider comes; there is none where it is missing.
    #[serde(borrow)]
    pub rider_pickup_time: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address<'a> {
    #[serde(borrow)]
    pub street: Option<Text<'a>>,
    #[serde(borrow)]
    pub number: Option<Text<'a>>,
    #[serde(borrow)]
    pub building: Option<Text<'a>>,
    #[serde(borrow)]
    pub floor: Option<Text<'a>>,
    #[serde(borrow)]
    pub flat_number: Option<Text<'a>>,
    #[serde(borrow)]
    pub entrance: Option<Text<'a>>,
    #[serde(borrow)]
    pub intercom: Option<Text<'a>>,
    #[serde(borrow)]
    pub city: Option<Text<'a>>,
    #[serde(borrow)]
    pub postcode: Option<Text<'a>>,
    #[serde(borrow)]
    pub company: Option<Text<'a>>,
    #[serde(borrow)]
    pub delivery_area: Option<Text<'a>>,
    #[serde(borrow)]
    pub delivery_main_area: Option<Text<'a>>,
    #[serde(borrow)]
    pub delivery_instructions: Option<Text<'a>>,
    #[serde(default)]
    pub latitude: Degrees,
    #[serde(default)]
    pub longitude: Degrees,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pickup<'a> {
    #[serde(default, deserialize_with = "optional")]
    pub pickup_time: Option<IsoTime>,
    #[serde(borrow)]
    pub pickup_code: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub struct Discount<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub amount: Option<Lira>,
    #[serde(borrow, default, deserialize_with = "list")]
    pub sponsorships: Vec<Sponsorship<'a>>,
}

#[derive(Deserialize)]
pub struct Sponsorship<'a> {
    #[serde(borrow)]
    pub sponsor: Option<Text<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub amount: Option<Lira>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment<'a> {
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    #[serde(rename = "type", borrow)]
    pub kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub remote_code: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    pub grand_total: Lira,
    #[serde(default, deserialize_with = "optional")]
    pub sub_total: Option<Lira>,
    #[serde(default, deserialize_with = "optional")]
    pub delivery_fee: Option<Lira>,
    #[serde(default, deserialize_with = "list")]
    pub delivery_fees: Vec<Fee>,
    #[serde(default, deserialize_with = "optional")]
    pub rider_tip: Option<Lira>,
    #[serde(default, deserialize_with = "optional")]
    pub collect_from_customer: Option<Lira>,
    #[serde(default, deserialize_with = "optional")]
    pub discount_amount_total: Option<Lira>,
}

#[derive(Deserialize)]
pub struct Fee {
    #[serde(default, deserialize_with = "optional")]
    pub value: Option<Lira>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product<'a> {
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub paid_price: Option<Lira>,
    #[serde(default, deserialize_with = "optional")]
    pub unit_price: Option<Lira>,
    #[serde(default, deserialize_with = "optional")]
    pub quantity: Option<Count>,
    #[serde(borrow)]
    pub remote_code: Option<Text<'a>>,
    #[serde(borrow)]
    pub sku: Option<Text<'a>>,
    #[serde(borrow)]
    pub comment: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "object_or_text")]
    pub variation: Option<Variation<'a>>,
    #[serde(borrow, default, deserialize_with = "list")]
    pub selected_toppings: Vec<Topping<'a>>,
}

#[derive(Deserialize)]
pub struct Variation<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
}

impl<'a> From<Text<'a>> for Variation<'a> {
    fn from(name: Text<'a>) -> Self {
        Self { name: Some(name) }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Topping<'a> {
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub remote_code: Option<Text<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub price: Option<Lira>,
    #[serde(default, deserialize_with = "optional")]
    pub quantity: Option<Count>,
    #[serde(borrow, default, deserialize_with = "list")]
    pub children: Vec<Topping<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackUrls<'a> {
    #[serde(borrow)]
    pub order_accepted_url: Option<Text<'a>>,
    #[serde(borrow)]
    pub order_rejected_url: Option<Text<'a>>,
    #[serde(borrow)]
    pub order_picked_up_url: Option<Text<'a>>,
    #[serde(borrow)]
    pub order_prepared_url: Option<Text<'a>>,
}

/// What happened to an order that we have.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusUpdate<'a> {
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(borrow)]
    pub message: Option<Text<'a>>,
    #[serde(default, deserialize_with = "optional")]
    pub occurred_at: Option<IsoTime>,
    /// The order after a modification; read only for messages about a modification.
    #[serde(borrow)]
    pub updated_order: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub struct Login<'a> {
    #[serde(borrow)]
    pub access_token: Text<'a>,
    #[serde(default, deserialize_with = "soft")]
    pub expires_in: Option<Count>,
}

/// How the platform says no.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Refusal<'a> {
    #[serde(borrow, deserialize_with = "soft")]
    pub code: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "soft")]
    pub message: Option<Text<'a>>,
    #[serde(borrow, deserialize_with = "soft")]
    pub current_state: Option<Text<'a>>,
}

/// Orders in a report.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderIds<'a> {
    #[serde(borrow)]
    pub order_identifiers: Vec<&'a RawValue>,
}

/// An order that was read back.
#[derive(Deserialize)]
pub struct Details<'a> {
    #[serde(borrow)]
    pub order: &'a RawValue,
}
