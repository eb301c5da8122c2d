//! The stores of a restaurant, as shown to clients.

use super::set_desired::{is_connected, support};
use crate::app::App;
use crate::app::store_overview::ShownStore;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::platform::StoreSupport;
use garson_core::store_control::StoreRecord;
use garson_store::Tx;
use garson_store::tables::{integrations, restaurants, store_states};

/// The store of an integration.
#[derive(Clone, Debug)]
pub struct StoreView {
    pub integration: Integration,
    /// The store control that its platform supports, if any.
    pub support: Option<StoreSupport>,
    /// None before the first read.
    pub store: Option<StoreRecord>,
}

impl StoreView {
    /// What boards show of it, if its platform supports store control.
    #[must_use]
    pub fn shown(&self) -> Option<ShownStore> {
        let (provider, store) = (self.integration.provider, self.store.as_ref());
        self.support
            .map(|support| ShownStore::new(provider, support, store))
    }

    /// Is the integration connected and switched on?
    #[must_use]
    pub fn is_connected(&self) -> bool {
        is_connected(&self.integration)
    }
}

/// The stores of a restaurant, one for each integration.
pub async fn get(app: &App, account: AccountId, restaurant: RestaurantId) -> Result<Vec<StoreView>, Fault> {
    app.store.read(move |tx| read(tx, account, restaurant)).await
}

pub(super) fn read(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Vec<StoreView>, Fault> {
    if !restaurants::exists(tx, account, restaurant)? {
        return Err(Fault::not_found(Thing::Restaurant, restaurant));
    }
    let mut stores = store_states::of_restaurant(tx, restaurant)?;
    let integrations = integrations::of_restaurant(tx, restaurant)?.into_iter();
    let view = |integration: Integration| {
        let found = stores
            .iter()
            .position(|store| store.integration_id == integration.id);
        StoreView {
            support: support(&integration),
            store: found.map(|index| stores.swap_remove(index)),
            integration,
        }
    };
    Ok(integrations.map(view).collect())
}
