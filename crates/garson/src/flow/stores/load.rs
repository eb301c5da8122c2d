//! Loads a store with everything needed to call its platform.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::branches;
use crate::flow::platform_client::Contact;
use garson_core::id::{IntegrationId, NodeId};
use garson_core::platform::StoreSupport;
use garson_core::store_control::StoreRecord;
use garson_core::time::Timestamp;
use garson_store::tables::integrations::Connected;
use garson_store::tables::store_settings::StoreSettings;
use garson_store::tables::{integrations, store_settings, store_states};
use std::sync::Arc;

/// A store that this node is responsible for.
pub(super) struct LoadedStore {
    pub store: StoreRecord,
    pub settings: StoreSettings,
    pub connected: Connected,
    pub contact: Contact,
    pub support: StoreSupport,
    pub node: NodeId,
    /// May requests be sent for this branch?
    pub may_ask: bool,
}

impl LoadedStore {
    /// Is the restaurant open now by its hours? None if it has no hours.
    pub fn is_open_by_hours(&self, now: Timestamp) -> Option<bool> {
        self.settings.hours.as_ref().map(|hours| hours.is_open_at(now))
    }
}

/// Loads a store; none if it was removed, is switched off, or belongs to another node.
pub(super) async fn load(app: &App, id: IntegrationId) -> Result<Option<LoadedStore>, Fault> {
    let Some(node) = app.store.node_id().filter(|_| app.node_lease.is_valid()) else {
        return Ok(None);
    };
    let vault = Arc::clone(&app.vault);
    let found = app
        .store
        .read(move |tx| {
            if !store_states::is_held_by(tx, id, node)? {
                return Ok(None);
            }
            let Some(store) = store_states::find(tx, id)? else {
                return Ok(None);
            };
            let settings = store_settings::find(tx, store.restaurant_id)?;
            let connected = integrations::by_id(tx, &vault, id)?;
            Ok::<_, Fault>(connected.map(|connected| (store, settings, connected)))
        })
        .await?;
    let Some((store, settings, connected)) = found else {
        return Ok(None);
    };
    let integration = &connected.integration;
    let Some(contact) = app
        .contact(&connected)
        .filter(|_| integration.is_active && integration.remote_id.is_some())
    else {
        return Ok(None);
    };
    let Some(support) = contact.platform.capability().store else {
        return Ok(None);
    };
    let may_ask = branches::may_ask(contact.platform, &connected);
    Ok(Some(LoadedStore {
        store,
        settings,
        connected,
        contact,
        support,
        node,
        may_ask,
    }))
}
