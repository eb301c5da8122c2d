//! Documentation of what shops send through the `direct` platform. The platform handles the requests: these functions are never
//! called.

#![allow(dead_code)]

use crate::api::envelope::Data;
use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

/// An order of a shop. Amounts are whole minor units.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopOrder {
    /// The integration's `remoteId`.
    #[schema(min_length = 1, max_length = 100)]
    store_id: String,
    /// What the shop calls the order. The same id with the same content gets the first answer again.
    #[schema(min_length = 1, max_length = 100)]
    provider_order_id: String,
    /// What people say aloud.
    short_code: Option<String>,
    #[schema(format = DateTime)]
    placed_at: Option<String>,
    #[schema(format = DateTime)]
    scheduled_for: Option<String>,
    note: Option<String>,
    fulfilment: Option<ShopFulfilment>,
    customer: Option<ShopCustomer>,
    #[schema(min_items = 1)]
    items: Vec<ShopItem>,
    amount: ShopAmount,
    payment: ShopPayment,
}

#[derive(ToSchema)]
struct ShopFulfilment {
    /// `delivery` (the default) or `pickup`.
    #[schema(rename = "type", inline)]
    kind: Option<ShopFulfilmentType>,
    /// Who carries it.
    #[schema(inline)]
    courier: Option<ShopCourier>,
    flags: Option<ShopFlags>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum ShopFulfilmentType {
    Delivery,
    Pickup,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum ShopCourier {
    Platform,
    Restaurant,
    None,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopFlags {
    #[schema(default = false)]
    do_not_ring: Option<bool>,
    #[schema(default = false)]
    drop_at_door: Option<bool>,
    #[schema(default = false)]
    no_cutlery: Option<bool>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopCustomer {
    name: Option<String>,
    phone: Option<String>,
    phone_code: Option<String>,
    email: Option<String>,
    address: Option<ShopAddress>,
}

#[derive(ToSchema)]
struct ShopAddress {
    text: Option<String>,
    city: Option<String>,
    district: Option<String>,
    neighbourhood: Option<String>,
    apartment: Option<String>,
    floor: Option<String>,
    door: Option<String>,
    directions: Option<String>,
    #[schema(minimum = -90, maximum = 90)]
    lat: Option<f64>,
    #[schema(minimum = -180, maximum = 180)]
    lon: Option<f64>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopItem {
    id: Option<String>,
    product_id: Option<String>,
    name: String,
    /// One, when left out.
    #[schema(minimum = 1)]
    quantity: Option<i64>,
    unit_price: i64,
    /// Worked out when left out.
    total: Option<i64>,
    note: Option<String>,
    options: Option<Vec<ShopOption>>,
}

#[derive(ToSchema)]
#[schema(no_recursion)]
struct ShopOption {
    group: Option<String>,
    name: String,
    #[schema(minimum = 1)]
    quantity: Option<i64>,
    price: Option<i64>,
    /// The customer wants it left out.
    removed: Option<bool>,
    options: Option<Vec<ShopOption>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopAmount {
    /// TRY, when left out.
    currency: Option<String>,
    /// Worked out when left out.
    subtotal: Option<i64>,
    discount: Option<i64>,
    delivery_fee: Option<i64>,
    tip: Option<i64>,
    /// What the customer pays.
    total: i64,
    discounts: Option<Vec<ShopDiscount>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopDiscount {
    name: String,
    amount: i64,
    /// `platform`, `restaurant` or `unknown`.
    funded_by: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopPayment {
    /// `online_card`, `card_on_delivery`, `cash`, `meal_card_online`, `meal_card_on_delivery`, `voucher`, `wallet` or `other`.
    #[schema(rename = "type")]
    kind: String,
    name: Option<String>,
    provider_code: Option<String>,
    is_paid: Option<bool>,
    /// What the courier has to collect; worked out when left out.
    collect: Option<i64>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ShopCancellation {
    /// The integration's `remoteId`.
    store_id: String,
    /// Who cancels: `customer` (the default) or `restaurant`.
    #[schema(inline)]
    by: Option<ShopCancelledBy>,
    reason: Option<String>,
    note: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum ShopCancelledBy {
    Customer,
    Restaurant,
}

/// The order that was taken.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlacedOrder {
    #[schema(format = Uuid)]
    order_id: String,
}

/// Hand over an order of the restaurant's own shop, app or phone desk.
///
/// May be repeated: the same id with the same content gets the first answer again, with other content 409 `duplicate_order_id`.
#[utoipa::path(post, path = "/hooks/direct/orders", tag = "Shops", request_body = ShopOrder,
    responses((status = 200, body = Data<PlacedOrder>)), security(("shopKey" = [])))]
fn place_order() {}

/// Cancel an order that the shop has handed over.
#[utoipa::path(post, path = "/hooks/direct/orders/{providerOrderId}/cancel", tag = "Shops",
    params(("providerOrderId" = String, Path, description = "What the shop calls the order")),
    request_body = ShopCancellation,
    responses((status = 200, body = Data<Option<PlacedOrder>>)), security(("shopKey" = [])))]
fn cancel_placed_order() {}

#[derive(OpenApi)]
#[openapi(paths(place_order, cancel_placed_order))]
pub struct Shops;
