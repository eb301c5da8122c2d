//! Receives a platform's reports about an import at the callback URL.

use super::record::store_progress;
use crate::app::App;
use crate::flow::Fault;
use garson_core::catalog::CatalogImport;
use garson_core::id::{AccountId, CatalogPushId};
use garson_core::platform::{Platform, Unreadable};
use garson_core::secret::same_bytes;
use garson_core::time::Timestamp;
use garson_store::tables::catalogs;
use garson_store::vault::lookup_hash;
use garson_store::{StoreError, Tx};

/// The push whose callback URL and token were used.
pub struct ReportAddress {
    platform: &'static dyn Platform,
    id: CatalogPushId,
    account: AccountId,
    token_hash: [u8; 32],
}

/// How a report was handled.
#[derive(Debug)]
pub enum Reception {
    /// It was stored, or contains nothing new.
    Taken,
    Unreadable(Unreadable),
    /// It belongs to another import than this address.
    OtherImport,
    /// The push has been removed.
    Gone,
}

/// Finds the push of an id and a token; none if they do not match a push to this platform.
pub async fn report_address(
    app: &App,
    platform: &'static dyn Platform,
    id: &str,
    token: &str,
) -> Result<Option<ReportAddress>, Fault> {
    let Ok(id) = id.parse::<CatalogPushId>() else {
        return Ok(None);
    };
    let token_hash = lookup_hash(token.as_bytes());
    let found = app.store.read(move |tx| catalogs::report_token(tx, id)).await?;
    let Some((account, provider, Some(stored))) = found else {
        return Ok(None);
    };
    let is_genuine = provider == platform.provider() && same_bytes(&stored, &token_hash);
    Ok(is_genuine.then_some(ReportAddress {
        platform,
        id,
        account,
        token_hash,
    }))
}

/// Stores a report. It may arrive before the platform's answer is stored, and more than once.
pub async fn report(app: &App, address: &ReportAddress, body: &[u8]) -> Result<Reception, Fault> {
    let import = match address.platform.read_catalog_import(body) {
        Ok(import) => import,
        Err(unreadable) => return Ok(Reception::Unreadable(unreadable)),
    };
    let (id, token_hash) = (address.id, address.token_hash);
    let now = app.now();
    let reception = app
        .store
        .write(address.account, move |tx| {
            let current = catalogs::report_token(tx, id)?;
            let current = current.and_then(|(_, _, hash)| hash);
            if !current.is_some_and(|hash| same_bytes(&hash, &token_hash)) {
                return Ok(Reception::Gone);
            }
            apply(tx, id, &import, now)
        })
        .await?;
    app.product_work.catalogs.notify_one();
    app.product_work.settled.notify_waiters();
    Ok(reception)
}

/// Stores what the platform says of an import.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    id: CatalogPushId,
    import: &CatalogImport,
    now: Timestamp,
) -> Result<Reception, StoreError> {
    let Some(mut catalog) = catalogs::lock(tx, id)? else {
        return Ok(Reception::Gone);
    };
    match catalog.progress.reported(import) {
        Err(_) => Ok(Reception::OtherImport),
        Ok(None) => Ok(Reception::Taken),
        Ok(Some(progress)) => {
            catalog.progress = progress;
            // While it is being sent, it stays due: the sender clears that, or the node that takes over after a crash.
            if !catalog.is_sending {
                catalog.due_at = catalog.progress.stage.is_imported().then_some(now);
            }
            store_progress(tx, &mut catalog, now)?;
            Ok(Reception::Taken)
        }
    }
}
