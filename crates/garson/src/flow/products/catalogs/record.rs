//! Saves the result of a catalog in its row and in the restaurant's history.

use crate::flow::products::record;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::Requester;
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::tables::catalogs;
use garson_store::tables::catalogs::PushedCatalog;
use garson_store::{StoreError, Tx};
use serde_json::json;

/// Saves the progress of a catalog, and its end in the history.
pub fn store_progress(
    tx: &mut Tx<'_>,
    catalog: &mut PushedCatalog,
    now: Timestamp,
) -> Result<(), StoreError> {
    let stage = catalog.progress.stage;
    let is_new_end = stage.is_final() && catalog.finished_at.is_none();
    if is_new_end {
        catalog.finished_at = Some(now);
    }
    // The menu is needed for sending, and for linking its items after the import.
    let needs_body = !stage.is_final() || catalog.due_at.is_some();
    catalogs::update(tx, catalog, needs_body)?;
    if !is_new_end {
        return Ok(());
    }
    let detail = json!({
        "from": catalog.source,
        "state": stage.as_str(),
        "message": shown_message(catalog),
    });
    let is_told = catalog.progress.reported_id.is_some() || catalog.progress.import_id.is_some();
    let actor = if is_told {
        StoreActor::Platform
    } else {
        StoreActor::Account
    };
    let by = (actor, Requester::Service);
    let entry = HistoryEntry::new(
        catalog.restaurant_id,
        now,
        by,
        HistoryAction::CatalogResult,
        detail,
    );
    record::history(tx, catalog.account_id, entry.on(catalog.provider))
}

/// The platform's message, or why the catalog could not be sent.
#[must_use]
pub fn shown_message(catalog: &PushedCatalog) -> Option<String> {
    let own = || catalog.progress.message.as_ref().map(ToString::to_string);
    catalog.progress.report.clone().or_else(own)
}
