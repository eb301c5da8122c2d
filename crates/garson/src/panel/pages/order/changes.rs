//! Describes what a revision of an order changed.

use crate::panel::kit::layout::Layout;
use crate::panel::kit::names;
use crate::panel::words::OrderWords;
use garson_core::money::{Currency, Minor};
use garson_core::order::{ChangedField, ChangedValue, ContentChange};
use garson_core::payment::PaymentType;
use garson_core::time::Timestamp;

pub fn changes(
    layout: &Layout,
    t: &OrderWords,
    currency: Currency,
    changes: &[ContentChange],
) -> Vec<String> {
    changes
        .iter()
        .map(|change| describe(layout, t, currency, change))
        .collect()
}

fn describe(layout: &Layout, t: &OrderWords, currency: Currency, change: &ContentChange) -> String {
    let shown = |value: Option<&ChangedValue>| {
        value.map_or_else(
            || "–".to_owned(),
            |value| format_value(layout, t, currency, change.field, value),
        )
    };
    let from_to = || format!("{} → {}", shown(change.from.as_ref()), shown(change.to.as_ref()));
    let item = change.name.as_deref().unwrap_or_default();
    match change.field {
        ChangedField::ItemAdded => format!("{item}: {} ({})", t.item_added, shown(change.to.as_ref())),
        ChangedField::ItemRemoved => format!("{item}: {} ({})", t.item_removed, shown(change.from.as_ref())),
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
        ChangedField::IsPaid => shown(change.to.as_ref()),
        ChangedField::Collect => format!("{}: {}", t.collect, from_to()),
        ChangedField::Note => format!("{}: {}", t.note, from_to()),
        ChangedField::CourierPickupAt => format!("{}: {}", t.courier_pickup_at, from_to()),
    }
}

fn format_value(
    layout: &Layout,
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
        ChangedValue::Number(amount) => layout.money(&Minor(*amount), &currency),
        ChangedValue::Text(text) => {
            let formatted = match field {
                ChangedField::PaymentType => {
                    PaymentType::named(text).map(|kind| names::payment(layout.lang, kind).to_owned())
                }
                ChangedField::CourierPickupAt => text.parse().ok().map(|at: Timestamp| layout.timestamp(&at)),
                _ => None,
            };
            formatted.unwrap_or_else(|| text.clone())
        }
    }
}
