//! A product or option on a platform.

use crate::item::ItemRef;
use crate::money::{Currency, Minor};
use crate::platform::Provider;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Identifies an item of a restaurant on a platform. An option has one key, even if several products have it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    pub provider: Provider,
    pub is_option: bool,
    /// The platform's id.
    pub id: String,
}

/// A place of an option: the product, and the option group in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub product: String,
    pub group: String,
}

/// A product or option as a platform shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedItem {
    pub key: ItemKey,
    /// The restaurant's own code, if the platform has it.
    pub code: Option<String>,
    pub name: String,
    /// The category of a product, the group of an option.
    pub category: Option<String>,
    /// None if unknown.
    pub price: Option<Minor>,
    pub currency: Currency,
    pub image_url: Option<String>,
    /// None if unknown.
    pub is_available: Option<bool>,
    /// Distinguishes items with the same name: the names of a product's options, or of the products that have an option, normalised by
    /// [`name_key`](super::name::name_key).
    pub traits: BTreeSet<String>,
    /// The places of an option; empty for a product.
    pub places: Vec<Place>,
}

impl ListedItem {
    /// The references to send to the platform: an option may have several places, each of which is switched.
    #[must_use]
    pub fn references(&self) -> Vec<ItemRef> {
        references(&self.key, &self.places)
    }
}

/// The same for an item with known places.
#[must_use]
pub fn references(key: &ItemKey, places: &[Place]) -> Vec<ItemRef> {
    if !key.is_option {
        return vec![ItemRef::product(&key.id)];
    }
    if places.is_empty() {
        return vec![ItemRef::Option {
            id: key.id.clone(),
            group: None,
            product: None,
        }];
    }
    let option = |place: &Place| ItemRef::option(&key.id, &place.group, &place.product);
    places.iter().map(option).collect()
}
