//! What the operator has decided about an account: whether it may be used, and how much of everything it may have.

use crate::tables::accounts;
use crate::tables::row::{columns, each, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::account_state::{AccountState, Quotas};
use garson_core::id::AccountId;
use garson_core::time::Timestamp;

/// The row of an account. One without a row is active and has the quotas of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateRow {
    pub state: AccountState,
    pub reason: Option<String>,
    pub changed_at: Option<Timestamp>,
    pub quotas: Quotas,
}

columns! {
    const COLUMNS = "" of account_states {
        state: String, reason, changed_at, max_restaurants: Option<i64>, max_keys: Option<i64>,
        max_endpoints: Option<i64>, max_orders_per_day: Option<i64>
    }
    fn row() -> StateRow {
        let state = AccountState::named(&state)
            .ok_or_else(|| StoreError::corrupt("the state of an account is damaged"))?;
        let quotas = Quotas {
            restaurants: max_restaurants,
            keys: max_keys,
            endpoints: max_endpoints,
            orders_per_day: max_orders_per_day,
        };
        Ok(StateRow { state, reason, changed_at: Some(changed_at), quotas })
    }
}

pub fn find(tx: &mut Tx<'_>, account: AccountId) -> Result<StateRow> {
    let sql = format!("SELECT {COLUMNS} FROM account_states WHERE account_id = ?1");
    Ok(tx
        .query_opt(&sql, params![&account], each(row))?
        .unwrap_or_default())
}

/// May the account be used by people and programs? Orders of platforms are recorded either way.
pub fn is_active(tx: &mut Tx<'_>, account: AccountId) -> Result<bool> {
    let sql = "SELECT state FROM account_states WHERE account_id = ?1";
    let state = tx.query_opt(sql, params![&account], value::<String>)?;
    Ok(state.is_none_or(|state| state == AccountState::Active.as_str()))
}

/// Sets the state. Streams of the account check again whether they may go on, and so does its delivery.
pub fn set_state(
    tx: &mut Tx<'_>,
    account: AccountId,
    state: AccountState,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    write_state(tx, account, state, reason, now)?;
    tx.wake_watchers(account);
    accounts::wake_delivery(tx, account)
}

/// The same for an account that is not complete: nothing follows it.
pub fn write_state(
    tx: &mut Tx<'_>,
    account: AccountId,
    state: AccountState,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO account_states (account_id, state, reason, changed_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (account_id) DO UPDATE
             SET state = excluded.state, reason = excluded.reason, changed_at = excluded.changed_at",
        params![&account, state.as_str(), reason, now],
    )?;
    Ok(())
}

/// Sets the account's own quotas; the state stays.
pub fn set_quotas(tx: &mut Tx<'_>, account: AccountId, quotas: &Quotas, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO account_states (account_id, state, changed_at, max_restaurants, max_keys, max_endpoints,
                                     max_orders_per_day)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (account_id) DO UPDATE
             SET max_restaurants = excluded.max_restaurants, max_keys = excluded.max_keys,
                 max_endpoints = excluded.max_endpoints, max_orders_per_day = excluded.max_orders_per_day",
        params![
            &account,
            AccountState::Active.as_str(),
            now,
            quotas.restaurants,
            quotas.keys,
            quotas.endpoints,
            quotas.orders_per_day
        ],
    )?;
    Ok(())
}

/// Removes the row of an account that no longer exists.
pub fn remove(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    tx.execute(
        "DELETE FROM account_states WHERE account_id = ?1",
        params![&account],
    )?;
    Ok(())
}

/// The accounts in a state, by id.
pub fn in_state(tx: &mut Tx<'_>, state: AccountState) -> Result<Vec<AccountId>> {
    let sql = "SELECT account_id FROM account_states WHERE state = ?1 ORDER BY account_id";
    tx.query(sql, params![state.as_str()], value)
}

/// How many restaurants an account has that were not deleted.
pub fn restaurants(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM restaurants WHERE account_id = ?1 AND deleted_at IS NULL";
    tx.query_one(sql, params![&account], value)
}

pub fn keys(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    tx.query_one(
        "SELECT COUNT(*) FROM api_keys WHERE account_id = ?1 AND replaced_by_id IS NULL",
        params![&account],
        value,
    )
}

/// Has the account taken at least so many orders since a time? Reads that many entries of an index at most.
pub fn has_orders_since(tx: &mut Tx<'_>, account: AccountId, count: i64, since: Timestamp) -> Result<bool> {
    if count <= 0 {
        return Ok(true);
    }
    let sql = "SELECT created_at FROM orders WHERE account_id = ?1 ORDER BY position DESC LIMIT 1 OFFSET ?2";
    let nth = tx.query_opt(sql, params![&account, count - 1], value::<Timestamp>)?;
    Ok(nth.is_some_and(|at| at >= since))
}
