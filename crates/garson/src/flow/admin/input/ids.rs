//! Ids as clients write them. Text that is not an id is as unknown as any other id.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::{
    BusinessId, CatalogPushId, ChannelId, EndpointId, KeyId, PricePushId, PrinterId, ProductId, RestaurantId,
    UserId,
};

pub fn business_id(text: &str) -> Result<BusinessId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::Business, text))
}

pub fn restaurant_id(text: &str) -> Result<RestaurantId, Fault> {
    text.parse()
        .map_err(|_| Fault::not_found(Thing::Restaurant, text))
}

pub fn endpoint_id(text: &str) -> Result<EndpointId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::Endpoint, text))
}

pub fn key_id(text: &str) -> Result<KeyId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::Key, text))
}

pub fn user_id(text: &str) -> Result<UserId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::User, text))
}

pub fn printer_id(text: &str) -> Result<PrinterId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::Printer, text))
}

pub fn product_id(text: &str) -> Result<ProductId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::Product, text))
}

pub fn price_push_id(text: &str) -> Result<PricePushId, Fault> {
    text.parse()
        .map_err(|_| Fault::not_found(Thing::PriceChange, text))
}

pub fn catalog_push_id(text: &str) -> Result<CatalogPushId, Fault> {
    text.parse()
        .map_err(|_| Fault::not_found(Thing::CatalogPush, text))
}

pub fn channel_id(text: &str) -> Result<ChannelId, Fault> {
    text.parse().map_err(|_| Fault::not_found(Thing::Channel, text))
}
