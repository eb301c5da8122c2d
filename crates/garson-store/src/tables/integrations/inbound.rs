//! Finds the integrations that a platform's message may be for, with everything that accepting an order needs.

use super::row::{COLUMNS, Connected, connected};
use crate::engine::Param;
use crate::log_throttle::Throttle;
use crate::tables::packages::RestaurantSettings;
use crate::tables::row::Cells;
use crate::vault::{Vault, lookup_hash};
use crate::{INTEGRATIONS, Result, StoreError, StoreErrorKind, Tx, params};
use garson_core::id::IntegrationId;
use garson_core::platform::Provider;
use std::time::Duration;

/// An integration with the settings of its restaurant.
#[derive(Clone, Debug)]
pub struct InboundIntegration {
    pub connected: Connected,
    pub settings: RestaurantSettings,
    /// Grows with every change to any of these. `None` when the caller has just read them and need not check again.
    pub version: Option<i64>,
}

/// The integrations whose platform presents this secret; the branches of a chain may share one.
pub fn by_secret(
    tx: &mut Tx<'_>,
    vault: &Vault,
    provider: Provider,
    secret: &[u8],
) -> Result<Vec<InboundIntegration>> {
    let (hash, former) = (vault.lookup_hash(secret), lookup_hash(secret));
    // While the master key is rotated, hashes of both keys are stored.
    let other = vault.other_lookup_hash(secret);
    let condition = "i.inbound_hash IN (?2, ?3, ?4)";
    find_inbound(tx, vault, condition, params![&provider, &hash, &former, &other])
}

/// The integrations of a platform that meet a condition, owners of their branches first, in one statement.
///
/// An unreadable integration is skipped, so that messages for the others are still accepted. If it is the only one, its error
/// is returned: the message may be for it, and must not be rejected as if there were none.
pub(crate) fn find_inbound(
    tx: &mut Tx<'_>,
    vault: &Vault,
    condition: &str,
    params: &[Param<'_>],
) -> Result<Vec<InboundIntegration>> {
    let sql = format!(
        "SELECT i.id, {}, i.version, {COLUMNS} FROM integrations i LEFT JOIN restaurants r ON r.id = i.restaurant_id
           LEFT JOIN packages p ON p.restaurant_id = r.id
         WHERE i.provider = ?1 AND {condition} ORDER BY i.owns_branch DESC, i.id, p.id",
        RestaurantSettings::columns()
    );
    let mut found: Vec<InboundIntegration> = Vec::new();
    let mut unreadable: Option<(IntegrationId, StoreError)> = None;
    tx.on(INTEGRATIONS).query(&sql, params, |row| {
        let mut cells = Cells::new(row);
        let id: IntegrationId = cells.read()?;
        if unreadable.as_ref().is_some_and(|(last, _)| *last == id) {
            // Another package of the same integration.
            return Ok(());
        }
        match add_row(&mut found, id, &mut cells, vault) {
            Err(error) if error.kind == StoreErrorKind::Corrupt => {
                found.retain(|it| it.connected.integration.id != id);
                if let Some(suppressed) = UNREADABLE.pass() {
                    tracing::error!(integration = %id, %error, suppressed, "skipping an unreadable integration");
                }
                unreadable = Some((id, error));
                Ok(())
            }
            added => added,
        }
    })?;
    match unreadable {
        Some((_, error)) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// Every message with the secret of a damaged integration would log it.
static UNREADABLE: Throttle = Throttle::new(Duration::from_secs(60));

/// Adds an integration, or the next package of the last one. Credentials are opened once for each integration.
fn add_row(
    found: &mut Vec<InboundIntegration>,
    id: IntegrationId,
    cells: &mut Cells<'_, '_>,
    vault: &Vault,
) -> Result<()> {
    if let Some(last) = found.last_mut()
        && last.connected.integration.id == id
    {
        return last.settings.add(cells);
    }
    let mut settings = RestaurantSettings::default();
    settings.add(cells)?;
    let version = Some(cells.read()?);
    let connected = connected(cells, vault)?;
    found.push(InboundIntegration {
        connected,
        settings,
        version,
    });
    Ok(())
}
