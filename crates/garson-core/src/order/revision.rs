//! Later versions of an order's content, which its platform changed after the order arrived.
//!
//! A version replaces lines, amounts, payment and the customer's note, and the time at which the platform's courier comes. Customer,
//! address and delivery time stay as they arrived: platforms hide them in later documents, and hiding is not a change.

use super::apply::Draft;
use super::{
    Actor, Amount, ChangedField, ChangedValue, ContentChange, Decision, Fulfilment, Item, NewOrder, Order,
    OrderContent, Payment, RevisionLine, TimelineLine, TimelineReason,
};
use crate::event::EventKind;
use crate::money::Minor;
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// Longer lists of changes are cut off.
const MAX_CHANGES: usize = 100;

/// An order with a later version of its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Revised {
    pub decision: Decision,
    pub content: OrderContent,
}

/// Replaces the content of an order by what the platform shows now; `None` if that is not a later version, or the same.
/// `notify`: the account has opted in to an event. A cancelled order does not change.
#[must_use]
pub fn revise(
    order: &Order,
    stored: &OrderContent,
    new: &NewOrder,
    at: Timestamp,
    notify: bool,
) -> Option<Revised> {
    if order.status.is_cancelled() || !new.version.may_replace(order.content_version) {
        return None;
    }
    let shown = &new.content;
    let changes = changes(stored, shown);
    if changes.is_empty() {
        return None;
    }
    let courier_pickup_at = shown.fulfilment.courier_pickup_at;
    let content = OrderContent {
        note: shown.note.clone().or_else(|| stored.note.clone()),
        items: shown.items.clone(),
        amount: shown.amount.clone(),
        payment: shown.payment.clone(),
        reading_notes: shown.reading_notes.clone(),
        fulfilment: Fulfilment {
            courier_pickup_at: courier_pickup_at.or(stored.fulfilment.courier_pickup_at),
            ..stored.fulfilment.clone()
        },
        customer: stored.customer.clone(),
        storefront: stored.storefront.clone().or_else(|| shown.storefront.clone()),
    };
    let mut draft = Draft::of(order.clone(), at);
    let revised = &mut draft.order;
    revised.revision += 1;
    revised.content_version = new.version.number().or(revised.content_version);
    revised.total = content.amount.total;
    revised.currency = content.amount.currency;
    revised.payment_type = content.payment.kind;
    revised.payment_code = content.payment.provider_code.clone();
    if new.provider_data.is_some() {
        revised.provider_data = new.provider_data.clone();
    }
    revised.updated_at = at;
    let (status, revision) = (revised.status, revised.revision);
    draft.timeline.push(TimelineLine {
        at,
        from: Some(status),
        to: status,
        by: Actor::Platform,
        why: Some(TimelineReason::Revised),
        revision: Some(RevisionLine {
            revision,
            changes: changes.clone(),
        }),
    });
    if notify {
        draft.event(EventKind::Updated { revision, changes });
    }
    Some(Revised {
        decision: draft.decide(),
        content,
    })
}

/// The differences between two versions, as far as a version is taken over.
#[must_use]
pub fn changes(before: &OrderContent, after: &OrderContent) -> Vec<ContentChange> {
    let mut found = Found(Vec::new());
    items(&before.items, &after.items, &mut found);
    amounts(&before.amount, &after.amount, &mut found);
    payments(&before.payment, &after.payment, &mut found);
    // A platform may leave the note out when it is not needed any more.
    if let Some(note) = &after.note {
        let before = before.note.as_deref().map(ChangedValue::from);
        found.differs(ChangedField::Note, before, Some(note.as_str().into()));
    }
    let courier_at = |content: &OrderContent| {
        let at = content.fulfilment.courier_pickup_at?;
        Some(ChangedValue::Text(at.to_string()))
    };
    if let Some(at) = courier_at(after) {
        found.differs(ChangedField::CourierPickupAt, courier_at(before), Some(at));
    }
    found.0.truncate(MAX_CHANGES);
    found.0
}

/// What a version is known by when it is shown again: what is compared. What platforms hide later must have been filled in.
#[must_use]
pub fn compared(content: &OrderContent) -> String {
    let OrderContent {
        items,
        amount,
        payment,
        fulfilment,
        ..
    } = content;
    let lines: Vec<_> = lines(items)
        .into_iter()
        .map(|((product, made), line)| (product.id, product.name, made, line.quantity, line.total))
        .collect();
    let paid = (
        payment.kind,
        &payment.provider_code,
        payment.is_paid,
        payment.collect,
    );
    // Texts and numbers can always be written.
    let mut compared = serde_json::to_string(&(lines, amount, paid)).unwrap_or_default();
    if let Some(at) = fulfilment.courier_pickup_at {
        compared.push_str(&at.to_string());
    }
    compared
}

struct Found(Vec<ContentChange>);

impl Found {
    fn differs(&mut self, field: ChangedField, from: Option<ChangedValue>, to: Option<ChangedValue>) {
        if from != to {
            self.0.push(ContentChange {
                field,
                name: None,
                from,
                to,
            });
        }
    }

    fn item(&mut self, field: ChangedField, name: &str, from: Option<i64>, to: Option<i64>) {
        self.0.push(ContentChange {
            field,
            name: Some(name.to_owned()),
            from: from.map(Into::into),
            to: to.map(Into::into),
        });
    }
}

fn amounts(before: &Amount, after: &Amount, found: &mut Found) {
    use ChangedField::{Adjustment, Currency, DeliveryFee, Discount, Subtotal, Tip, Total};
    let mut amount = |field, from: Minor, to: Minor| found.differs(field, Some(from.into()), Some(to.into()));
    amount(Subtotal, before.subtotal, after.subtotal);
    amount(Discount, before.discount, after.discount);
    amount(DeliveryFee, before.delivery_fee, after.delivery_fee);
    amount(Tip, before.tip, after.tip);
    amount(Total, before.total, after.total);
    let optional = |amount: Option<Minor>| amount.map(ChangedValue::from);
    found.differs(
        Adjustment,
        optional(before.adjustment),
        optional(after.adjustment),
    );
    let (from, to) = (before.currency.as_str(), after.currency.as_str());
    found.differs(Currency, Some(from.into()), Some(to.into()));
}

fn payments(before: &Payment, after: &Payment, found: &mut Found) {
    let (from, to) = (before.kind.as_str(), after.kind.as_str());
    found.differs(ChangedField::PaymentType, Some(from.into()), Some(to.into()));
    let code = |payment: &Payment| payment.provider_code.as_deref().map(ChangedValue::from);
    found.differs(ChangedField::PaymentCode, code(before), code(after));
    let is_paid = |payment: &Payment| Some(payment.is_paid.into());
    found.differs(ChangedField::IsPaid, is_paid(before), is_paid(after));
    let collect = |payment: &Payment| Some(payment.collect.into());
    found.differs(ChangedField::Collect, collect(before), collect(after));
}

/// What of a line people call the same thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Product<'a> {
    id: Option<&'a str>,
    name: &'a str,
}

impl<'a> Product<'a> {
    fn of(item: &'a Item) -> Self {
        Self {
            id: item.product_id.as_deref(),
            name: &item.name,
        }
    }
}

/// A product as it is made, with how many there are and what they cost together.
#[derive(Default)]
struct Line {
    quantity: i64,
    total: i64,
}

type Lines<'a> = BTreeMap<(Product<'a>, String), Line>;

/// The lines by what is to be made; a platform may list the same thing twice.
fn lines(items: &[Item]) -> Lines<'_> {
    let mut lines = Lines::new();
    for item in items {
        // Texts and numbers can always be written.
        let made = serde_json::to_string(&(&item.options, &item.note)).unwrap_or_default();
        let line = lines.entry((Product::of(item), made)).or_default();
        line.quantity = line.quantity.saturating_add(item.quantity);
        line.total = line.total.saturating_add(item.total.0);
    }
    lines
}

fn items(before: &[Item], after: &[Item], found: &mut Found) {
    let (mut gone, mut come) = (lines(before), lines(after));
    let kept: Vec<_> = gone
        .keys()
        .filter(|key| come.contains_key(*key))
        .cloned()
        .collect();
    for key in kept {
        let (Some(was), Some(is)) = (gone.remove(&key), come.remove(&key)) else {
            continue;
        };
        let name = key.0.name;
        if was.quantity != is.quantity {
            found.item(
                ChangedField::ItemQuantity,
                name,
                Some(was.quantity),
                Some(is.quantity),
            );
        } else if was.total != is.total {
            found.item(ChangedField::ItemTotal, name, Some(was.total), Some(is.total));
        }
    }
    for ((product, _), was) in gone {
        // The same product, made in another way.
        let other = come.range((product, String::new())..).next();
        let other = other.map(|(key, _)| key.clone()).filter(|(of, _)| *of == product);
        match other.and_then(|key| come.remove(&key)) {
            Some(is) if is.quantity == was.quantity => {
                found.item(ChangedField::ItemOptions, product.name, None, None);
            }
            Some(is) => {
                let (from, to) = (Some(was.quantity), Some(is.quantity));
                found.item(ChangedField::ItemQuantity, product.name, from, to);
            }
            None => found.item(ChangedField::ItemRemoved, product.name, Some(was.quantity), None),
        }
    }
    for ((product, _), is) in come {
        found.item(ChangedField::ItemAdded, product.name, None, Some(is.quantity));
    }
}

#[cfg(test)]
#[path = "revision_tests.rs"]
mod tests;
