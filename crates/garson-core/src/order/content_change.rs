//! Versions of an order's content, and the differences between two of them.

use crate::money::Minor;
use serde::{Deserialize, Serialize};

/// Which version of an order's content a document shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentVersion {
    /// The document does not change the content of an order that is known.
    #[default]
    Unchanging,
    /// The content as it is now, without a number.
    Unnumbered,
    /// The content with a number that rises with every change, such as the time of the change.
    Numbered(i64),
}

impl ContentVersion {
    #[must_use]
    pub fn number(self) -> Option<i64> {
        match self {
            Self::Numbered(number) => Some(number),
            Self::Unchanging | Self::Unnumbered => None,
        }
    }

    /// May the document replace content with this number? Two changes may have the same number, since some platforms give times
    /// in whole seconds.
    #[must_use]
    pub fn may_replace(self, stored: Option<i64>) -> bool {
        match self {
            Self::Unchanging => false,
            Self::Unnumbered => true,
            Self::Numbered(number) => stored.is_none_or(|stored| number >= stored),
        }
    }

    /// Is the document later for certain? What is not may be an earlier version that comes again.
    #[must_use]
    pub fn is_surely_later(self, stored: Option<i64>) -> bool {
        self.number()
            .is_some_and(|number| stored.is_none_or(|stored| number > stored))
    }
}

/// One difference between two versions, in plain data. Amounts are in minor units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentChange {
    pub field: ChangedField,
    /// The name of the item, where one has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub from: Option<ChangedValue>,
    pub to: Option<ChangedValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedField {
    /// `to` is its quantity.
    ItemAdded,
    /// `from` is its quantity.
    ItemRemoved,
    ItemQuantity,
    /// The total of a line whose quantity is the same.
    ItemTotal,
    /// Options or note of a line.
    ItemOptions,
    Currency,
    Subtotal,
    Discount,
    DeliveryFee,
    Tip,
    Adjustment,
    Total,
    PaymentType,
    PaymentCode,
    IsPaid,
    Collect,
    Note,
    /// When the platform's courier comes.
    CourierPickupAt,
}

impl ChangedField {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ItemAdded => "item_added",
            Self::ItemRemoved => "item_removed",
            Self::ItemQuantity => "item_quantity",
            Self::ItemTotal => "item_total",
            Self::ItemOptions => "item_options",
            Self::Currency => "currency",
            Self::Subtotal => "subtotal",
            Self::Discount => "discount",
            Self::DeliveryFee => "delivery_fee",
            Self::Tip => "tip",
            Self::Adjustment => "adjustment",
            Self::Total => "total",
            Self::PaymentType => "payment_type",
            Self::PaymentCode => "payment_code",
            Self::IsPaid => "is_paid",
            Self::Collect => "collect",
            Self::Note => "note",
            Self::CourierPickupAt => "courier_pickup_at",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChangedValue {
    Flag(bool),
    Number(i64),
    Text(String),
}

impl From<i64> for ChangedValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Minor> for ChangedValue {
    fn from(amount: Minor) -> Self {
        Self::Number(amount.0)
    }
}

impl From<bool> for ChangedValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for ChangedValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// What a line of the timeline says of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionLine {
    /// The number of the version; the order arrived with 1.
    pub revision: i64,
    pub changes: Vec<ContentChange>,
}
