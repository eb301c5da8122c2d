//! Products and options on a platform: how they are identified, and whether they can be ordered.

use crate::explanation::Explanation;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A product or an option as a platform identifies it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemRef {
    Product {
        id: String,
    },
    Option {
        id: String,
        /// The group of options that it is in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// The product that the group belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        product: Option<String>,
    },
}

impl ItemRef {
    /// A product.
    #[must_use]
    pub fn product(id: impl Into<String>) -> Self {
        Self::Product { id: id.into() }
    }

    /// An option of a group of a product.
    #[must_use]
    pub fn option(id: impl Into<String>, group: impl Into<String>, product: impl Into<String>) -> Self {
        Self::Option {
            id: id.into(),
            group: Some(group.into()),
            product: Some(product.into()),
        }
    }

    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Product { id } | Self::Option { id, .. } => id,
        }
    }

    #[must_use]
    pub const fn is_option(&self) -> bool {
        matches!(self, Self::Option { .. })
    }
}

/// Whether an item can be ordered, or until when it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    Available,
    Unavailable { end: UnavailableEnd },
}

impl Availability {
    #[must_use]
    pub const fn is_available(self) -> bool {
        matches!(self, Self::Available)
    }
}

/// When an item becomes available again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnavailableEnd {
    /// When it is switched on again.
    Never,
    At(Timestamp),
    /// At the start of the next business day.
    EndOfDay(Timestamp),
}

/// A switch of items: one or many, all of one kind (products, or options).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemChange {
    /// Not empty, and not more than [`ItemSupport::per_call`].
    ///
    /// [`ItemSupport::per_call`]: crate::platform::ItemSupport::per_call
    pub items: Vec<ItemRef>,
    pub to: Availability,
    pub now: Timestamp,
}

/// The result of switching items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemsChanged {
    /// One for each item, in their order.
    pub results: Vec<ItemResult>,
    /// The service has to switch them on at the end, because the platform has no timer for it.
    pub is_ours_to_restore: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemResult {
    Done,
    /// The platform refuses, with its message.
    Refused {
        message: Explanation,
    },
    /// The platform cannot switch this item.
    Unsupported {
        message: Explanation,
    },
}

/// A read of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemReading {
    /// None if the platform's value is unknown.
    pub is_available: Option<bool>,
    /// It is off for the rest of the day only.
    pub is_off_for_today: bool,
    /// The platform's own word or number.
    pub word: Option<String>,
}
