//! Sets the desired state of the stores of a restaurant in the current transaction.

use crate::flow::Fault;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::platform::{Provider, StoreSupport};
use garson_core::store_control::{Desired, DesiredState, StoreRecord};
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{integrations, store_states};

/// The store control that the platform of an integration supports, if any.
pub(super) fn support(integration: &Integration) -> Option<StoreSupport> {
    support_of(integration.provider)
}

/// The store control that a platform supports, if any.
pub(super) fn support_of(provider: Provider) -> Option<StoreSupport> {
    garson_platforms::of(provider).and_then(|platform| platform.capability().store)
}

/// Is it connected and switched on?
pub(super) fn is_connected(integration: &Integration) -> bool {
    integration.is_active && integration.remote_id.is_some()
}

/// The store of an integration, locked; created if missing.
pub(super) fn lock_or_create(tx: &mut Tx<'_>, integration: &Integration) -> Result<StoreRecord, Fault> {
    if let Some(found) = store_states::lock(tx, integration.id)? {
        store_states::claim(tx, integration.id)?;
        return Ok(found);
    }
    let owner = (integration.account_id, integration.restaurant_id);
    let new = StoreRecord::new(owner, integration.id, integration.provider);
    store_states::create(tx, &new)?;
    Ok(store_states::lock(tx, integration.id)?.unwrap_or(new))
}

/// Sets the state that the opening hours or the throttle want for every store of a locked restaurant. Platforms without busy mode stay
/// open while others are busy. Returns whether there is something to send.
pub(super) fn set_all(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    by: StoreActor,
    desired: Option<&Desired>,
    now: Timestamp,
) -> Result<bool, Fault> {
    let mut has_work = false;
    for integration in integrations::of_restaurant(tx, restaurant)? {
        let Some(support) = support(&integration).filter(|_| is_connected(&integration)) else {
            continue;
        };
        debug_assert_eq!(integration.account_id, account);
        let has_busy = !support.busy_minutes.is_empty();
        let desired = desired.filter(|it| it.state != DesiredState::Busy || has_busy);
        let mut store = lock_or_create(tx, &integration)?;
        if store.control.by_source.of(by) == desired {
            continue;
        }
        has_work |= store.set_desired(by, desired.cloned(), now);
        store_states::save(tx, &store)?;
    }
    Ok(has_work)
}
