//! A platform shows a known order with other content: a later version replaces it, an older one changes nothing.

use crate::flow::{Fault, persist};
use garson_core::order::{Change, NewOrder, Order, OrderContent, Revised, compared, revise};
use garson_core::platform::Sighting;
use garson_core::time::Timestamp;
use garson_store::tables::orders;
use garson_store::tables::orders::HashedOrder;
use garson_store::tables::revisions;
use garson_store::tables::revisions::Replacement;
use garson_store::{StoreError, Tx, totals};
use sha2::{Digest, Sha256};

/// An order's content as it is stored, and a fingerprint that tells a repeat from another order or version.
pub(crate) struct SerializedContent {
    pub json: String,
    pub fingerprint: [u8; 32],
}

impl SerializedContent {
    pub fn of(new: &NewOrder) -> Result<Self, Fault> {
        let json = to_json(&new.content)?;
        let other_fields = format!("{:?} {:?} {:?}", new.placed_at, new.scheduled_for, new.short_code);
        let fingerprint = Sha256::new()
            .chain_update(&json)
            .chain_update(other_fields)
            .finalize();
        Ok(Self {
            json,
            fingerprint: fingerprint.into(),
        })
    }
}

/// Recognizes a version that comes back.
fn comparison_hash(content: &OrderContent) -> [u8; 32] {
    Sha256::digest(compared(content)).into()
}

fn to_json(content: &OrderContent) -> Result<String, Fault> {
    serde_json::to_string(content)
        .map_err(|_| Fault::Store(StoreError::internal("an order cannot be serialized")))
}

/// Does the platform show a later version of a known order?
pub(crate) fn is_later(
    tx: &mut Tx<'_>,
    known: &HashedOrder,
    sighting: &Sighting,
    now: Timestamp,
) -> Result<bool, Fault> {
    if !may_be_later(known, sighting) {
        return Ok(false);
    }
    let content = SerializedContent::of(&sighting.order)?;
    Ok(content_to_replace(tx, known, sighting, &content, now)?.is_some())
}

/// Decides without the content. A cancelled order may be shown with old content, or without any.
fn may_be_later(known: &HashedOrder, sighting: &Sighting) -> bool {
    !known.order.status.is_cancelled()
        && !matches!(sighting.change, Some(Change::Cancelled { .. }))
        && sighting.order.version.may_replace(known.order.content_version)
}

/// The stored content, if the platform shows a later version of it.
fn content_to_replace(
    tx: &mut Tx<'_>,
    known: &HashedOrder,
    sighting: &Sighting,
    content: &SerializedContent,
    now: Timestamp,
) -> Result<Option<OrderContent>, Fault> {
    let (order, new) = (&known.order, &sighting.order);
    if !may_be_later(known, sighting) || known.content_hash == content.fingerprint {
        return Ok(None);
    }
    let stored = orders::content(tx, order.id)?;
    let Some(revised) = revise(order, &stored, new, now, false) else {
        return Ok(None);
    };
    // Without a version number an old document looks like a new one, and some platforms alternate between two documents.
    let is_old = !new.version.is_surely_later(order.content_version)
        && order.revision > 1
        && revisions::was_replaced(tx, order.id, &comparison_hash(&revised.content))?;
    Ok((!is_old).then_some(stored))
}

/// Writes what the platform shows of a locked order if it is a later version; returns the order as it is then.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    known: HashedOrder,
    sighting: &Sighting,
    content: &SerializedContent,
    now: Timestamp,
) -> Result<Order, Fault> {
    let Some(stored) = content_to_replace(tx, &known, sighting, content, now)? else {
        return Ok(known.order);
    };
    let before = known.order;
    let mut places = persist::reserve_places(tx, before.account_id, now)?;
    let revised = revise(&before, &stored, &sighting.order, places.at, places.wants_updates);
    let Some(Revised {
        decision,
        content: merged,
    }) = revised
    else {
        return Ok(before);
    };
    persist::write_history(tx, &decision, false, &mut places)?;
    let replacement = Replacement {
        order: &decision.order,
        content: &to_json(&merged)?,
        content_hash: &content.fingerprint,
        replaced_hash: &comparison_hash(&stored),
        position: places.take(),
    };
    revisions::replace(tx, &replacement)?;
    totals::update_order(tx, &before, &decision.order)?;
    Ok(decision.order)
}
