//! Which node polls an integration's platform for orders.

use super::row::{COLUMNS, Connected, connected};
use crate::tables::row::{Cells, tuple, value};
use crate::vault::Vault;
use crate::{INTEGRATIONS, Result, StoreError, Tx, params};
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// An integration that this node polls.
#[derive(Clone, Debug)]
pub struct Polled {
    pub connected: Connected,
    /// All orders up to this time have been seen.
    pub polled_at: Option<Timestamp>,
}

/// An integration that this node polls and whose row cannot be read, for example because its credentials do not open.
#[derive(Debug)]
pub struct Unreadable {
    pub id: IntegrationId,
    pub account_id: AccountId,
    pub error: StoreError,
}

/// Reports whether an integration of a platform should be polled and no live node polls it. A read job checks this first, so
/// that a writer is only needed when there is something to claim.
pub fn has_unclaimed(tx: &mut Tx<'_>, provider: Provider) -> Result<bool> {
    let found = tx.on(INTEGRATIONS).query_opt(
        "SELECT id FROM integrations
         WHERE provider = ?1 AND is_active = 1 AND remote_id IS NOT NULL
           AND (poll_node IS NULL OR poll_node NOT IN (SELECT id FROM nodes)) LIMIT 1",
        params![&provider],
        value::<IntegrationId>,
    )?;
    Ok(found.is_some())
}

/// Claims the integrations of a platform that no live node polls. A node that is no longer a member gets none.
pub fn claim_polling(tx: &mut Tx<'_>, provider: Provider, node: NodeId) -> Result<()> {
    // Skips locked rows until the next round: waiting for them while holding many other locks could deadlock.
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET poll_node = ?2 WHERE id IN
             (SELECT id FROM integrations
              WHERE provider = ?1 AND is_active = 1 AND remote_id IS NOT NULL
                AND (poll_node IS NULL OR poll_node NOT IN (SELECT id FROM nodes))
                AND ?2 IN (SELECT id FROM nodes) {skip_locked})",
        params![&provider, &node],
    )?;
    Ok(())
}

/// The integrations of a platform that this node polls. Each row is read separately: a damaged one must not keep the others
/// from being polled.
pub fn polled_by(
    tx: &mut Tx<'_>,
    vault: &Vault,
    provider: Provider,
    node: NodeId,
) -> Result<Vec<std::result::Result<Polled, Unreadable>>> {
    let sql = format!(
        "SELECT {COLUMNS}, i.polled_at FROM integrations i
         WHERE i.provider = ?1 AND i.is_active = 1 AND i.remote_id IS NOT NULL AND i.poll_node = ?2
           AND ?2 IN (SELECT id FROM nodes)"
    );
    tx.on(INTEGRATIONS).query(&sql, params![&provider, &node], |row| {
        // The first columns name the integration, even if the rest is damaged.
        let (id, account_id) = tuple(row)?;
        let mut cells = Cells::new(row);
        let polled = connected(&mut cells, vault).and_then(|connected| {
            let polled_at = cells.read()?;
            Ok(Polled { connected, polled_at })
        });
        Ok(polled.map_err(|error| Unreadable {
            id,
            account_id,
            error,
        }))
    })
}

/// Records up to when all orders of these integrations have been seen. Skips rows that another transaction is changing; the
/// next round records them.
pub fn record_polled(tx: &mut Tx<'_>, seen: &[(IntegrationId, Timestamp)]) -> Result<()> {
    for (id, at) in seen {
        tx.on(INTEGRATIONS).execute(
            "UPDATE integrations SET polled_at = ?2 WHERE id IN
                 (SELECT id FROM integrations WHERE id = ?1 {skip_locked})",
            params![id, *at],
        )?;
    }
    Ok(())
}
