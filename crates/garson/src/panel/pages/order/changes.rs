//! What a later version of an order has changed, as lines to read.

use crate::panel::kit::frame::Frame;
use crate::panel::kit::names;
use crate::panel::words::OrderWords;
use garson_core::money::{Currency, Minor};
use garson_core::order::{ChangedField, ChangedValue, ContentChange};
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;

pub fn changes(frame: &Frame, t: &OrderWords, currency: Currency, changes: &[ContentChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| sentence(frame, t, currency, change))
        .collect()
}

fn sentence(frame: &Frame, t: &OrderWords, currency: Currency, change: &ContentChange) -> String {
    let said = |value: Option<&ChangedValue>| {
        value.map_or_else(
            || "–".to_owned(),
            |value| text(frame, t, currency, change.field, value),
        )
    };
    let from_to = || format!("{} → {}", said(change.from.as_ref()), said(change.to.as_ref()));
    let item = change.name.as_deref().unwrap_or_default();
    match change.field {
        ChangedField::ItemAdded => format!("{item}: {} ({})", t.item_added, said(change.to.as_ref())),
        ChangedField::ItemRemoved => format!("{item}: {} ({})", t.item_removed, said(change.from.as_ref())),
        ChangedField::ItemOptions => format!("{item}: {}", t.item_options),
        ChangedField::ItemQuantity | ChangedField::ItemTotal => format!("{item}: {}", from_to()),
        ChangedField::Currency => from_to(),
        ChangedField::Subtotal => format!("{}: {}", t.subtotal, from_to()),
        ChangedField::Discount => format!("{}: {}", t.discount, from_to()),
        ChangedField::DeliveryFee => format!("{}: {}", t.delivery_fee, from_to()),
        ChangedField::Tip => format!("{}: {}", t.tip, from_to()),
        ChangedField::Adjustment => format!("{}: {}", t.adjustment, from_to()),
        ChangedField::Total => format!("{}: {}", t.total, from_to()),
        ChangedField::PaymentType => format!("{}: {}", t.pays_with, from_to()),
        ChangedField::PaymentCode => format!("{}: {}", t.said_as, from_to()),
        ChangedField::IsPaid => said(change.to.as_ref()),
        ChangedField::Collect => format!("{}: {}", t.collect, from_to()),
        ChangedField::Note => format!("{}: {}", t.note, from_to()),
        ChangedField::CourierPickupAt => format!("{}: {}", t.courier_pickup_at, from_to()),
    }
}

fn text(
    frame: &Frame,
    t: &OrderWords,
    currency: Currency,
    field: ChangedField,
    value: &ChangedValue,
) -> String {
    let is_count = matches!(
        field,
        ChangedField::ItemAdded | ChangedField::ItemRemoved | ChangedField::ItemQuantity
    );
    match value {
        ChangedValue::Flag(true) => t.paid.to_owned(),
        ChangedValue::Flag(false) => t.not_paid.to_owned(),
        ChangedValue::Number(count) if is_count => count.to_string(),
        ChangedValue::Number(amount) => frame.money(&Minor(*amount), &currency),
        ChangedValue::Text(text) => {
            let shown = match field {
                ChangedField::PaymentType => {
                    PaymentType::named(text).map(|kind| names::payment(frame.lang, kind).to_owned())
                }
                ChangedField::CourierPickupAt => text.parse().ok().map(|at: Timestamp| frame.moment(&at)),
                _ => None,
            };
            shown.unwrap_or_else(|| text.clone())
        }
    }
}
