//! Finding the order that a request names, and its platform.

use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::AccountId;
use garson_core::order::Order;
use garson_core::platform::Platform;
use garson_store::Tx;
use garson_store::tables::orders;

/// The one order that an id in a path names.
pub fn find_one(tx: &mut Tx<'_>, account: AccountId, path_id: &str) -> Result<Order, Fault> {
    only_one(orders::find(tx, account, path_id)?, path_id)
}

pub(crate) fn only_one(mut found: Vec<Order>, id: &str) -> Result<Order, Fault> {
    match (found.pop(), found.len()) {
        (None, _) => Err(Fault::not_found(Thing::Order, id)),
        (Some(order), 0) => Ok(order),
        (Some(last), _) => {
            let candidates = found.iter().map(|order| order.id).chain([last.id]).collect();
            Err(Fault::AmbiguousOrder {
                id: id.to_owned(),
                candidates,
            })
        }
    }
}

/// The same, locked for a change.
pub(crate) fn lock_one(tx: &mut Tx<'_>, account: AccountId, path_id: &str) -> Result<Order, Fault> {
    let named = find_one(tx, account, path_id)?;
    orders::lock(tx, named.id)?.ok_or_else(|| Fault::not_found(Thing::Order, path_id))
}

pub(crate) fn platform_of(order: &Order) -> Result<&'static dyn Platform, Fault> {
    garson_platforms::of(order.provider).ok_or_else(|| Fault::UnknownProvider {
        provider: order.provider.to_string(),
    })
}
