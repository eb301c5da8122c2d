//! A platform shows a known order with other content: a later version is written, anything else changes nothing.

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

/// An order's content as it is stored, and the fingerprint by which a repeat is told from another order or version.
pub(crate) struct Described {
    pub content: String,
    pub fingerprint: [u8; 32],
}

impl Described {
    pub fn of(new: &NewOrder) -> Result<Self, Fault> {
        let content = to_json(&new.content)?;
        let moments = format!("{:?} {:?} {:?}", new.placed_at, new.scheduled_for, new.short_code);
        let fingerprint = Sha256::new()
            .chain_update(&content)
            .chain_update(moments)
            .finalize();
        Ok(Self {
            content,
            fingerprint: fingerprint.into(),
        })
    }
}

/// By which a version is known that comes back.
fn hash_of_compared(content: &OrderContent) -> [u8; 32] {
    Sha256::digest(compared(content)).into()
}

fn to_json(content: &OrderContent) -> Result<String, Fault> {
    serde_json::to_string(content)
        .map_err(|_| Fault::Store(StoreError::internal("an order does not serialise")))
}

/// Does the sighting show a later version of an order that is known?
pub(crate) fn is_later(
    tx: &mut Tx<'_>,
    known: &HashedOrder,
    sighting: &Sighting,
    now: Timestamp,
) -> Result<bool, Fault> {
    if !may_be_later(known, sighting) {
        return Ok(false);
    }
    let described = Described::of(&sighting.order)?;
    Ok(replaced(tx, known, sighting, &described, now)?.is_some())
}

/// What can be said without looking at the content. An order that is cancelled shows what it once was, or nothing at all.
fn may_be_later(known: &HashedOrder, sighting: &Sighting) -> bool {
    !known.order.status.is_cancelled()
        && !matches!(sighting.change, Some(Change::Cancelled { .. }))
        && sighting.order.version.may_replace(known.order.content_version)
}

/// The stored content, if the sighting shows a later version of it.
fn replaced(
    tx: &mut Tx<'_>,
    known: &HashedOrder,
    sighting: &Sighting,
    described: &Described,
    now: Timestamp,
) -> Result<Option<OrderContent>, Fault> {
    let (order, new) = (&known.order, &sighting.order);
    if !may_be_later(known, sighting) || known.content_hash == described.fingerprint {
        return Ok(None);
    }
    let stored = orders::content(tx, order.id)?;
    let Some(revised) = revise(order, &stored, new, now, false) else {
        return Ok(None);
    };
    // Without a number an old document looks like a new one; some platforms show an order in two ways in turn.
    let is_old = !new.version.is_surely_later(order.content_version)
        && order.revision > 1
        && revisions::was_replaced(tx, order.id, &hash_of_compared(&revised.content))?;
    Ok((!is_old).then_some(stored))
}

/// Writes what the platform shows of a locked order, if that is a later version; says what the order is then.
pub(crate) fn write(
    tx: &mut Tx<'_>,
    known: HashedOrder,
    sighting: &Sighting,
    described: &Described,
    now: Timestamp,
) -> Result<Order, Fault> {
    let Some(stored) = replaced(tx, &known, sighting, described, now)? else {
        return Ok(known.order);
    };
    let before = known.order;
    let mut places = persist::reserve_places(tx, before.account_id, now)?;
    let revised = revise(&before, &stored, &sighting.order, places.at, places.wants_updates);
    let Some(Revised { decision, content }) = revised else {
        return Ok(before);
    };
    persist::write_history(tx, &decision, false, &mut places)?;
    let replacement = Replacement {
        order: &decision.order,
        content: &to_json(&content)?,
        content_hash: &described.fingerprint,
        replaced_hash: &hash_of_compared(&stored),
        position: places.take(),
    };
    revisions::replace(tx, &replacement)?;
    totals::update_order(tx, &before, &decision.order)?;
    Ok(decision.order)
}
