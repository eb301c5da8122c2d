//! Branches: several integrations may name the same branch of a platform, and at most one of them owns it.

use crate::tables::integrations::row::branch_claim;
use crate::tables::integrations::{InboundIntegration, find_inbound};
use crate::tables::row::{columns, each, tuple, value};
use crate::vault::Vault;
use crate::{ACCOUNTS, INTEGRATIONS, Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::integration::BranchClaim;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// All integrations that name a branch, its owner first.
pub fn claims(
    tx: &mut Tx<'_>,
    vault: &Vault,
    provider: Provider,
    branch: &str,
) -> Result<Vec<InboundIntegration>> {
    find_inbound(tx, vault, "i.remote_id = ?2", params![&provider, branch])
}

/// The integration that owns a branch.
pub fn owner(
    tx: &mut Tx<'_>,
    vault: &Vault,
    provider: Provider,
    branch: &str,
) -> Result<Option<InboundIntegration>> {
    let condition = "i.remote_id = ?2 AND i.owns_branch = 1";
    let found = find_inbound(tx, vault, condition, params![&provider, branch])?;
    Ok(found.into_iter().next())
}

/// The integration of an account that names a branch.
fn named_by(
    tx: &mut Tx<'_>,
    account: AccountId,
    provider: Provider,
    branch: &str,
) -> Result<Option<IntegrationId>> {
    tx.on(INTEGRATIONS).query_opt(
        "SELECT id FROM integrations WHERE account_id = ?1 AND provider = ?2 AND remote_id = ?3",
        params![&account, &provider, branch],
        value,
    )
}

/// Reports whether another integration of the account names the branch.
pub fn is_used_in_account(
    tx: &mut Tx<'_>,
    account: AccountId,
    provider: Provider,
    branch: &str,
    except: IntegrationId,
) -> Result<bool> {
    let found = named_by(tx, account, provider, branch)?;
    Ok(found.is_some_and(|id| id != except))
}

/// Makes an integration the owner of its branch if the branch has none; `true` when it has become the owner. Does nothing if
/// the integration no longer exists or names another branch by now.
pub fn claim_if_free(tx: &mut Tx<'_>, id: IntegrationId, branch: &str, at: Timestamp) -> Result<bool> {
    let claimed = tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET owns_branch = 1, branch_proven_at = ?3, version = version + 1
         WHERE id = ?1 AND remote_id = ?2 AND owns_branch = 0
           AND NOT EXISTS (SELECT 1 FROM integrations o
                           WHERE o.provider = integrations.provider AND o.remote_id = ?2 AND o.owns_branch = 1)",
        params![&id, branch, at],
    )?;
    Ok(claimed > 0)
}

/// Records that an integration's own credentials have worked for this branch: it becomes the owner unless there is one.
pub fn prove(tx: &mut Tx<'_>, id: IntegrationId, branch: &str, at: Timestamp) -> Result<()> {
    if !claim_if_free(tx, id, branch, at)? {
        tx.on(INTEGRATIONS).execute(
            "UPDATE integrations SET branch_proven_at = ?3
             WHERE id = ?1 AND remote_id = ?2 AND owns_branch = 0 AND branch_proven_at IS NULL",
            params![&id, branch, at],
        )?;
    }
    Ok(())
}

/// Makes the account's integration the owner of a branch; `false` when the account has none that names it. A previous owner
/// loses its proof.
pub fn assign(
    tx: &mut Tx<'_>,
    account: AccountId,
    provider: Provider,
    branch: &str,
    at: Timestamp,
) -> Result<bool> {
    let found = named_by(tx, account, provider, branch)?;
    let Some(id) = found else {
        return Ok(false);
    };
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET owns_branch = 0, branch_proven_at = NULL, version = version + 1
         WHERE provider = ?1 AND remote_id = ?2 AND owns_branch = 1 AND id <> ?3",
        params![&provider, branch, &id],
    )?;
    tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET owns_branch = 1, branch_proven_at = ?2, version = version + 1
         WHERE id = ?1 AND owns_branch = 0",
        params![&id, at],
    )?;
    Ok(true)
}

/// The account and restaurant of the integration that owns a branch.
pub fn owner_ids(
    tx: &mut Tx<'_>,
    provider: Provider,
    branch: &str,
) -> Result<Option<(AccountId, RestaurantId)>> {
    tx.on(INTEGRATIONS).query_opt(
        "SELECT account_id, restaurant_id FROM integrations WHERE provider = ?1 AND remote_id = ?2 AND owns_branch = 1",
        params![&provider, branch],
        tuple,
    )
}

/// Removes the owner of a branch; `false` when it has none.
pub fn release(tx: &mut Tx<'_>, provider: Provider, branch: &str) -> Result<bool> {
    let released = tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET owns_branch = 0, branch_proven_at = NULL, version = version + 1
         WHERE provider = ?1 AND remote_id = ?2 AND owns_branch = 1",
        params![&provider, branch],
    )?;
    Ok(released > 0)
}

/// A branch that an integration names, as shown to the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBranch {
    pub provider: Provider,
    pub branch: String,
    pub claim: BranchClaim,
    pub restaurant_id: RestaurantId,
    pub email: String,
}

columns! {
    const COLUMNS = "i." of integrations {
        provider, remote_id, owns_branch, branch_proven_at, restaurant_id, email = "a.email"
    }
    fn named_branch() -> NamedBranch {
        let claim = branch_claim(owns_branch, branch_proven_at);
        Ok(NamedBranch { provider, branch: remote_id, claim, restaurant_id, email })
    }
}

/// A chunk of the branches that integrations name, by platform, branch and account, after a given one.
pub fn list(tx: &mut Tx<'_>, after: Option<&NamedBranch>, limit: i64) -> Result<Vec<NamedBranch>> {
    let (provider, branch, email) = after.map_or(("", "", ""), |last| {
        (last.provider.as_str(), last.branch.as_str(), last.email.as_str())
    });
    let sql = format!(
        "SELECT {COLUMNS} FROM integrations i JOIN accounts a ON a.id = i.account_id
         WHERE i.remote_id IS NOT NULL AND (i.provider, i.remote_id, a.email) > (?1, ?2, ?3)
         ORDER BY i.provider, i.remote_id, a.email LIMIT ?4"
    );
    tx.on(ACCOUNTS.and(INTEGRATIONS))
        .query(&sql, params![provider, branch, email, limit], each(named_branch))
}

/// Active integrations of a platform with credentials that do not own the branch they name, by id after a given one.
pub fn without_ownership(
    tx: &mut Tx<'_>,
    provider: Provider,
    after: Option<IntegrationId>,
    limit: i64,
) -> Result<Vec<IntegrationId>> {
    const CONDITION: &str = "provider = ?1 AND is_active = 1 AND owns_branch = 0 AND remote_id IS NOT NULL
                          AND credentials IS NOT NULL";
    match after {
        None => tx.on(INTEGRATIONS).query(
            &format!("SELECT id FROM integrations WHERE {CONDITION} ORDER BY id LIMIT ?2"),
            params![&provider, limit],
            value,
        ),
        Some(after) => tx.on(INTEGRATIONS).query(
            &format!("SELECT id FROM integrations WHERE {CONDITION} AND id > ?3 ORDER BY id LIMIT ?2"),
            params![&provider, limit, &after],
            value,
        ),
    }
}
