//! Parts of an order as clients see them: how it reaches the customer, what it costs, and what could not be read.

use garson_core::money::Minor;
use garson_core::order::{
    Amount, ChangedValue, ContentChange, Courier, Discount, Fulfilment, FulfilmentType, FundedBy, ReadingNote,
};
use garson_core::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FulfilmentView {
    /// `delivery` or `pickup`.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: FulfilmentType,
    /// Who carries it: `platform`, `restaurant` or `none`.
    #[schema(value_type = String)]
    courier: Courier,
    flags: FlagsView,
    /// When the customer was promised the order: at the door, or ready to be collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    promised_at: Option<Timestamp>,
    /// When the platform's courier comes to the restaurant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    courier_pickup_at: Option<Timestamp>,
    /// What a customer who collects the order says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pickup_code: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FlagsView {
    do_not_ring: bool,
    drop_at_door: bool,
    no_cutlery: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AmountView {
    #[schema(value_type = String)]
    currency: garson_core::money::Currency,
    #[schema(value_type = i64)]
    subtotal: Minor,
    #[schema(value_type = i64)]
    discount: Minor,
    #[schema(value_type = i64)]
    delivery_fee: Minor,
    #[schema(value_type = i64)]
    tip: Minor,
    /// What the customer pays after discounts, delivery fee included.
    #[schema(value_type = i64)]
    total: Minor,
    discounts: Vec<DiscountView>,
    /// What the platform's total has beyond subtotal − discount + delivery fee + tip; missing where they agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    adjustment: Option<Minor>,
}

/// A part of the platform's message that was left out of the order or read by a guess, or sums that do not add up.
#[derive(Serialize, ToSchema)]
pub struct ReadingNoteView {
    /// The place in the platform's message, such as `products[2].quantity`.
    path: String,
    message: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DiscountView {
    name: String,
    #[schema(value_type = i64)]
    amount: Minor,
    /// `platform`, `restaurant` or `unknown`.
    #[schema(value_type = String)]
    funded_by: FundedBy,
}

impl From<Fulfilment> for FulfilmentView {
    fn from(fulfilment: Fulfilment) -> Self {
        Self {
            kind: fulfilment.kind,
            courier: fulfilment.courier,
            flags: FlagsView {
                do_not_ring: fulfilment.flags.do_not_ring,
                drop_at_door: fulfilment.flags.drop_at_door,
                no_cutlery: fulfilment.flags.no_cutlery,
            },
            promised_at: fulfilment.promised_at,
            courier_pickup_at: fulfilment.courier_pickup_at,
            pickup_code: fulfilment.pickup_code,
        }
    }
}

impl From<Amount> for AmountView {
    fn from(amount: Amount) -> Self {
        Self {
            currency: amount.currency,
            subtotal: amount.subtotal,
            discount: amount.discount,
            delivery_fee: amount.delivery_fee,
            tip: amount.tip,
            total: amount.total,
            discounts: amount.discounts.into_iter().map(Into::into).collect(),
            adjustment: amount.adjustment,
        }
    }
}

impl From<Discount> for DiscountView {
    fn from(discount: Discount) -> Self {
        Self {
            name: discount.name,
            amount: discount.amount,
            funded_by: discount.funded_by,
        }
    }
}

impl From<ReadingNote> for ReadingNoteView {
    fn from(note: ReadingNote) -> Self {
        Self {
            path: note.path,
            message: note.message,
        }
    }
}

/// A difference between two versions of an order.
#[derive(Serialize, ToSchema)]
pub struct ChangeView {
    /// `item_added`, `item_removed`, `item_quantity`, `item_total`, `item_options`, `currency`, `subtotal`, `discount`,
    /// `delivery_fee`, `tip`, `adjustment`, `total`, `payment_type`, `payment_code`, `is_paid`, `collect`,
    /// `note` or `courier_pickup_at`.
    field: &'static str,
    /// The item's name, where one has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What it was: a quantity, an amount in minor units, a text, or true or false.
    #[schema(value_type = Option<serde_json::Value>)]
    from: Option<ChangedValue>,
    /// What it has been since.
    #[schema(value_type = Option<serde_json::Value>)]
    to: Option<ChangedValue>,
}

impl From<ContentChange> for ChangeView {
    fn from(change: ContentChange) -> Self {
        Self {
            field: change.field.as_str(),
            name: change.name,
            from: change.from,
            to: change.to,
        }
    }
}
