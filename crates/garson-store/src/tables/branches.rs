//! Branches: which integration owns the branch that it names.

use crate::tables::integrations::{Served, served};
use crate::vault::Vault;
use crate::{ACCOUNTS, INTEGRATIONS, Result, Tx, params};
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::integration::BranchClaim;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;

/// All integrations that name a branch, its owner first.
pub fn claims(tx: &mut Tx<'_>, vault: &Vault, provider: Provider, branch: &str) -> Result<Vec<Served>> {
    served(tx, vault, "i.remote_id = ?2", params![&provider, branch])
}

/// The integration that owns a branch.
pub fn owner(tx: &mut Tx<'_>, vault: &Vault, provider: Provider, branch: &str) -> Result<Option<Served>> {
    let condition = "i.remote_id = ?2 AND i.owns_branch = 1";
    let found = served(tx, vault, condition, params![&provider, branch])?;
    Ok(found.into_iter().next())
}

/// The integration with which an account names a branch.
fn named_by(
    tx: &mut Tx<'_>,
    account: AccountId,
    provider: Provider,
    branch: &str,
) -> Result<Option<IntegrationId>> {
    tx.on(INTEGRATIONS).query_opt(
        "SELECT id FROM integrations WHERE account_id = ?1 AND provider = ?2 AND remote_id = ?3",
        params![&account, &provider, branch],
        |row| row.get(0),
    )
}

/// Is the branch named by another integration of the account than this one?
pub fn is_used_in_account(
    tx: &mut Tx<'_>,
    account: AccountId,
    provider: Provider,
    branch: &str,
    but: IntegrationId,
) -> Result<bool> {
    let found = named_by(tx, account, provider, branch)?;
    Ok(found.is_some_and(|id| id != but))
}

/// Makes an integration the owner of its branch if the branch has no owner; returns whether it has become the owner. Does
/// nothing when the integration is gone or names another branch by now.
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

/// Notes that an integration's own credentials have worked for this branch: it becomes the owner unless there is one.
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

/// Makes the owner of a branch the integration with which this account names it; `false` when the account has none. A former
/// owner is one that has proven nothing from then on.
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

/// Takes a branch away from its owner; `false` when it has none.
pub fn release(tx: &mut Tx<'_>, provider: Provider, branch: &str) -> Result<bool> {
    let released = tx.on(INTEGRATIONS).execute(
        "UPDATE integrations SET owns_branch = 0, branch_proven_at = NULL, version = version + 1
         WHERE provider = ?1 AND remote_id = ?2 AND owns_branch = 1",
        params![&provider, branch],
    )?;
    Ok(released > 0)
}

/// A branch that an integration names, as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBranch {
    pub provider: Provider,
    pub branch: String,
    pub claim: BranchClaim,
    pub restaurant_id: RestaurantId,
    pub email: String,
}

/// A part of the branches that integrations name, in the order of platform, branch and account, after a given one.
pub fn list(tx: &mut Tx<'_>, after: Option<&NamedBranch>, limit: i64) -> Result<Vec<NamedBranch>> {
    let (provider, branch, email) = after.map_or(("", "", ""), |last| {
        (last.provider.as_str(), last.branch.as_str(), last.email.as_str())
    });
    tx.on(INTEGRATIONS.and(ACCOUNTS)).query(
        "SELECT i.provider, i.remote_id, i.owns_branch, i.branch_proven_at, i.restaurant_id, a.email
         FROM integrations i JOIN accounts a ON a.id = i.account_id
         WHERE i.remote_id IS NOT NULL AND (i.provider, i.remote_id, a.email) > (?1, ?2, ?3)
         ORDER BY i.provider, i.remote_id, a.email LIMIT ?4",
        params![provider, branch, email, limit],
        |row| {
            Ok(NamedBranch {
                provider: row.get(0)?,
                branch: row.get(1)?,
                claim: claim(row.get(2)?, row.get(3)?),
                restaurant_id: row.get(4)?,
                email: row.get(5)?,
            })
        },
    )
}

/// Active integrations of a platform with credentials of their own that do not own the branch they name, in the order of
/// their ids after a given one.
pub fn not_proven(
    tx: &mut Tx<'_>,
    provider: Provider,
    after: Option<IntegrationId>,
    limit: i64,
) -> Result<Vec<IntegrationId>> {
    const WANTED: &str = "provider = ?1 AND is_active = 1 AND owns_branch = 0 AND remote_id IS NOT NULL
                          AND credentials IS NOT NULL";
    match after {
        None => tx.on(INTEGRATIONS).query(
            &format!("SELECT id FROM integrations WHERE {WANTED} ORDER BY id LIMIT ?2"),
            params![&provider, limit],
            |row| row.get(0),
        ),
        Some(after) => tx.on(INTEGRATIONS).query(
            &format!("SELECT id FROM integrations WHERE {WANTED} AND id > ?3 ORDER BY id LIMIT ?2"),
            params![&provider, limit, &after],
            |row| row.get(0),
        ),
    }
}

pub(crate) fn claim(owns: bool, proven_at: Option<Timestamp>) -> BranchClaim {
    match (owns, proven_at) {
        (true, _) => BranchClaim::Proven,
        (false, Some(_)) => BranchClaim::Taken,
        (false, None) => BranchClaim::Unproven,
    }
}
