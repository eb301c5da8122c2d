//! Whole menus sent to platforms, with their results.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert, tuple, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::catalog::{CatalogProgress, CatalogStage};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, CatalogPushId, IntegrationId, NodeId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// A menu that is sent to a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedCatalog {
    pub id: CatalogPushId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub integration_id: IntegrationId,
    /// The platform whose menu it is, and the version of that menu.
    pub source: Provider,
    pub source_version: i64,
    /// The platform that it is sent to.
    pub provider: Provider,
    pub products: i64,
    pub progress: CatalogProgress,
    pub attempts: i64,
    /// A request was being sent when the row was last claimed.
    pub is_sending: bool,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    /// When it must be sent, or its items linked.
    pub due_at: Option<Timestamp>,
}

columns! {
    const COLUMNS = "c." of catalog_pushes {
        id, account_id, restaurant_id, integration_id, source, source_version, provider, products, stage: String, import_id,
        reported_id, message, report, details: String, attempts, is_sending, created_at, finished_at, due_at
    }
    fn pushed() -> PushedCatalog {
        let stage = CatalogStage::named(&stage);
        let stage = stage.ok_or_else(|| StoreError::corrupt("a catalog has an unknown stage"))?;
        let details = from_json("details of a catalog", &details)?;
        let progress = CatalogProgress { stage, import_id, reported_id, message, report, details };
        Ok(PushedCatalog {
            id, account_id, restaurant_id, integration_id, source, source_version, provider, products, progress, attempts,
            is_sending, created_at, finished_at, due_at,
        })
    }
}

/// Stores a new catalog.
pub fn add(tx: &mut Tx<'_>, new: &PushedCatalog, body: &[u8]) -> Result<()> {
    let details = to_json("details of a catalog", &new.progress.details)?;
    insert!(
        tx,
        catalog_pushes {
            id: &new.id,
            account_id: &new.account_id,
            restaurant_id: &new.restaurant_id,
            integration_id: &new.integration_id,
            source: &new.source,
            source_version: new.source_version,
            provider: &new.provider,
            stage: new.progress.stage.as_str(),
            products: new.products,
            body: body,
            details: &details,
            attempts: new.attempts,
            is_sending: new.is_sending,
            created_at: new.created_at,
            due_at: new.due_at,
        }
    )?;
    Ok(())
}

pub fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    id: CatalogPushId,
) -> Result<Option<PushedCatalog>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM catalog_pushes c WHERE c.id = ?1 AND c.restaurant_id = ?2 AND c.account_id = ?3"
    );
    tx.query_opt(&sql, params![&id, &restaurant, &account], each(pushed))
}

/// A page of a restaurant's catalogs, newest first; `before` is the last one of the page before.
pub fn page(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    before: Option<CatalogPushId>,
    limit: i64,
) -> Result<Vec<PushedCatalog>> {
    let newest = CatalogPushId(uuid::Uuid::max());
    let before = before.unwrap_or(newest);
    let sql = format!(
        "SELECT {COLUMNS} FROM catalog_pushes c WHERE c.restaurant_id = ?1 AND c.id < ?2
         ORDER BY c.restaurant_id DESC, c.id DESC LIMIT ?3"
    );
    tx.query(&sql, params![&restaurant, &before, limit], each(pushed))
}

/// Ends the waiting catalogs of an integration because there is a newer one, and removes the menus of those that were sent.
pub fn replace_older(
    tx: &mut Tx<'_>,
    integration: IntegrationId,
    newest: CatalogPushId,
    message: &Explanation,
    at: Timestamp,
) -> Result<()> {
    tx.execute(
        "UPDATE catalog_pushes SET stage = 'failed', message = ?3, finished_at = ?4, due_at = NULL
         WHERE integration_id = ?1 AND id <> ?2 AND stage = 'pending' AND is_sending = 0 AND node IS NULL",
        params![&integration, &newest, &message.stored(), at],
    )?;
    tx.execute(
        "UPDATE catalog_pushes SET body = NULL
         WHERE integration_id = ?1 AND id <> ?2 AND due_at IS NULL AND body IS NOT NULL",
        params![&integration, &newest],
    )?;
    Ok(())
}

/// Removes the catalogs of a restaurant beyond the newest `keep`, except those with pending work.
pub fn remove_beyond(tx: &mut Tx<'_>, restaurant: RestaurantId, keep: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM catalog_pushes WHERE restaurant_id = ?1 AND due_at IS NULL AND id NOT IN
             (SELECT c.id FROM catalog_pushes c WHERE c.restaurant_id = ?1 ORDER BY c.id DESC LIMIT ?2)",
        params![&restaurant, keep],
    )
}

/// When the next catalog is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    let sql = "SELECT due_at FROM catalog_pushes WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1";
    tx.query_opt(sql, params![], value)
}

/// Due catalogs that no live node works on, longest due first.
pub fn due(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<(CatalogPushId, AccountId)>> {
    tx.query(
        "SELECT id, account_id FROM catalog_pushes WHERE due_at IS NOT NULL AND due_at <= ?1
           AND (node IS NULL OR node NOT IN (SELECT id FROM nodes)) ORDER BY due_at LIMIT ?2",
        params![now, limit],
        tuple,
    )
}

/// Claims a due catalog for this node, unless a live node works on one of the same integration. It is returned as it was before, with
/// its menu. If it must be sent, reports with this token are accepted from now on.
pub fn claim(
    tx: &mut Tx<'_>,
    id: CatalogPushId,
    node: NodeId,
    now: Timestamp,
    token_hash: &[u8; 32],
) -> Result<Option<(PushedCatalog, Option<Vec<u8>>)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM catalog_pushes c
         WHERE c.id = ?1 AND c.due_at <= ?2 AND ?3 IN (SELECT id FROM nodes)
           AND (c.node IS NULL OR c.node NOT IN (SELECT id FROM nodes))
           AND NOT EXISTS (SELECT 1 FROM catalog_pushes o WHERE o.integration_id = c.integration_id AND o.id <> ?1
                           AND o.node IN (SELECT id FROM nodes)) {{lock}}"
    );
    let Some(taken) = tx.query_opt(&sql, params![&id, now, &node], each(pushed))? else {
        return Ok(None);
    };
    let body = tx.query_one(
        "SELECT body FROM catalog_pushes WHERE id = ?1",
        params![&id],
        value,
    )?;
    if taken.progress.stage == CatalogStage::Pending && !taken.is_sending {
        tx.execute(
            "UPDATE catalog_pushes SET node = ?2, is_sending = 1, token_hash = ?3 WHERE id = ?1",
            params![&id, &node, token_hash],
        )?;
    } else {
        tx.execute(
            "UPDATE catalog_pushes SET node = ?2 WHERE id = ?1",
            params![&id, &node],
        )?;
    }
    Ok(Some((taken, body)))
}

/// A catalog, locked for a change.
pub fn lock(tx: &mut Tx<'_>, id: CatalogPushId) -> Result<Option<PushedCatalog>> {
    let sql = format!("SELECT {COLUMNS} FROM catalog_pushes c WHERE c.id = ?1 {{lock}}");
    tx.query_opt(&sql, params![&id], each(pushed))
}

/// The account of a catalog, the platform that it was sent to, and the hash of the token for reports, which is none before sending.
pub type ReportToken = (AccountId, Provider, Option<Vec<u8>>);

/// The token for reports on a catalog.
pub fn report_token(tx: &mut Tx<'_>, id: CatalogPushId) -> Result<Option<ReportToken>> {
    let sql = "SELECT account_id, provider, token_hash FROM catalog_pushes WHERE id = ?1";
    tx.query_opt(sql, params![&id], tuple)
}

/// Releases a catalog; `false` if another node has claimed it.
pub fn release(tx: &mut Tx<'_>, id: CatalogPushId, node: NodeId) -> Result<bool> {
    let rows = tx.execute(
        "UPDATE catalog_pushes SET node = NULL, is_sending = 0 WHERE id = ?1 AND node = ?2",
        params![&id, &node],
    )?;
    Ok(rows == 1)
}

/// Releases a catalog whose request may have been carried out; `is_sending` stays, so that it is not sent twice.
pub fn release_unclear(tx: &mut Tx<'_>, id: CatalogPushId, node: NodeId) -> Result<()> {
    tx.execute(
        "UPDATE catalog_pushes SET node = NULL WHERE id = ?1 AND node = ?2",
        params![&id, &node],
    )?;
    Ok(())
}

/// Stores the progress of a catalog. Its menu is kept while it is needed.
pub fn update(tx: &mut Tx<'_>, catalog: &PushedCatalog, needs_body: bool) -> Result<()> {
    let progress = &catalog.progress;
    let details = to_json("details of a catalog", &progress.details)?;
    tx.execute(
        "UPDATE catalog_pushes SET stage = ?2, import_id = ?3, reported_id = ?4, message = ?5, report = ?6, details = ?7,
                attempts = ?8, finished_at = ?9, due_at = ?10
         WHERE id = ?1",
        params![
            &catalog.id,
            progress.stage.as_str(),
            progress.import_id.as_ref(),
            progress.reported_id.as_ref(),
            progress.message.as_ref().map(Explanation::stored).as_ref(),
            progress.report.as_ref(),
            &details,
            catalog.attempts,
            catalog.finished_at,
            catalog.due_at,
        ],
    )?;
    if !needs_body {
        tx.execute(
            "UPDATE catalog_pushes SET body = NULL WHERE id = ?1 AND body IS NOT NULL",
            params![&catalog.id],
        )?;
    }
    Ok(())
}

/// Removes catalogs from before a timestamp without pending work, at most `limit`.
pub fn remove_old(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM catalog_pushes WHERE id IN
             (SELECT c.id FROM catalog_pushes c WHERE c.created_at < ?1 AND c.due_at IS NULL
              ORDER BY c.created_at LIMIT ?2)",
        params![before, limit],
    )
}

/// Removes a chunk of the catalogs of a deleted restaurant; returns how many.
pub(crate) fn sweep(tx: &mut Tx<'_>, restaurant: RestaurantId, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM catalog_pushes WHERE id IN
             (SELECT c.id FROM catalog_pushes c WHERE c.restaurant_id = ?1 ORDER BY c.id LIMIT ?2)",
        params![&restaurant, limit],
    )
}
