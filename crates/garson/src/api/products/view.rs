//! Products as the API shows them.

use crate::flow::products::list::{ItemState, ListedProduct, SuggestedProduct};
use garson_core::id::ProductId;
use garson_core::money::Minor;
use garson_core::time::Timestamp;
use garson_store::tables::desired_items::DesiredItem;
use serde::Serialize;
use utoipa::ToSchema;

/// A product or option of a restaurant, on all platforms together.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListedProduct)]
pub struct ProductView {
    #[schema(value_type = String, format = Uuid)]
    id: ProductId,
    /// `product` or `option`.
    kind: &'static str,
    name: String,
    /// Can it be ordered on every platform that has it?
    available: bool,
    platforms: Vec<PlatformItemView>,
    /// Products of other platforms that are likely the same; where they are asked for.
    suggestions: Vec<SuggestionView>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// What a platform has of a product.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductPlatform)]
struct PlatformItemView {
    provider: String,
    /// The item's id there.
    item_id: String,
    name: String,
    category: Option<String>,
    /// In minor units; null where it is not known.
    #[schema(value_type = Option<i64>)]
    price: Option<Minor>,
    currency: String,
    image_url: Option<String>,
    /// Null where it is not known.
    available: Option<bool>,
    /// When that was found.
    #[schema(value_type = String, format = DateTime)]
    checked_at: Timestamp,
    /// A user has linked it.
    is_linked_manually: bool,
    /// How it became known: `menu`, `order` or `manual`.
    source: &'static str,
    /// The platform's menu no longer has it.
    is_gone: bool,
    /// The last requested availability; null if there was none.
    wanted: Option<WantedView>,
}

/// The last requested availability of an item, and its result.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductWanted)]
struct WantedView {
    available: bool,
    /// When it becomes available again; null: when it is switched on.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// `account` or `schedule`.
    by: &'static str,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// `pending`, `done`, `refused` or `unsupported`.
    result: &'static str,
    message: Option<String>,
    /// What switches it on again: `platform` or `garson`; null if it has no end.
    timer: Option<&'static str>,
    /// When the platform was seen to have done it.
    #[schema(value_type = Option<String>, format = DateTime)]
    confirmed_at: Option<Timestamp>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProductSuggestion)]
struct SuggestionView {
    #[schema(value_type = String, format = Uuid)]
    product_id: ProductId,
    name: String,
    /// From 50 to 100.
    score: u32,
}

impl From<ListedProduct> for ProductView {
    fn from(listed: ListedProduct) -> Self {
        let product = listed.product;
        Self {
            id: product.id,
            kind: if product.is_option { "option" } else { "product" },
            name: product.name,
            available: product.is_available,
            platforms: listed.items.into_iter().map(Into::into).collect(),
            suggestions: listed.suggestions.into_iter().map(Into::into).collect(),
            updated_at: product.updated_at,
        }
    }
}

impl From<ItemState> for PlatformItemView {
    fn from(state: ItemState) -> Self {
        let stored = state.stored;
        Self {
            provider: stored.item.key.provider.to_string(),
            item_id: stored.item.key.id,
            name: stored.item.name,
            category: stored.item.category,
            price: stored.item.price,
            currency: stored.item.currency.to_string(),
            image_url: stored.item.image_url,
            available: stored.item.is_available,
            checked_at: stored.available_at,
            is_linked_manually: stored.is_manual,
            source: stored.source.as_str(),
            is_gone: stored.gone_at.is_some(),
            wanted: state.desired.map(Into::into),
        }
    }
}

impl From<DesiredItem> for WantedView {
    fn from(desired: DesiredItem) -> Self {
        Self {
            available: desired.availability.is_available(),
            until: desired.ends_at(),
            by: desired.by.as_str(),
            at: desired.requested_at,
            result: desired.state.as_str(),
            message: desired.message.map(|message| message.to_string()),
            timer: desired.timer.map(|timer| timer.as_str()),
            confirmed_at: desired.confirmed_at,
        }
    }
}

impl From<SuggestedProduct> for SuggestionView {
    fn from(suggested: SuggestedProduct) -> Self {
        Self {
            product_id: suggested.id,
            name: suggested.name,
            score: suggested.score,
        }
    }
}
