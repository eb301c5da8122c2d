//! The last API calls of each account. Nodes write them in batches, some time after the calls.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param};
use crate::tables::row::{column_list, columns, value};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::account_state::AccountState;
use garson_core::id::{AccountId, KeyId};
use garson_core::time::Timestamp;
use std::collections::BTreeSet;

/// How many calls of an account are kept.
pub const KEPT: i64 = 1_000;

/// An answered call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// Its place in the account's log.
    pub number: i64,
    /// When it arrived.
    pub at: Timestamp,
    pub key: KeyId,
    /// The key's label then, or its last characters.
    pub key_name: String,
    pub method: String,
    pub path: String,
    /// The names of the query's parameters.
    pub query: Option<String>,
    pub status: i64,
    /// The error's code.
    pub code: Option<String>,
    pub duration_ms: i64,
    /// The length of the answer's body.
    pub size: Option<i64>,
    pub request_id: String,
    pub address: Option<String>,
}

columns! {
    pub(crate) const COLUMNS = "" of request_log {
        number, at, key_id, key_name, method, path, query, status, code, duration_ms, size, request_id, address
    }
    fn call() -> LoggedCall {
        Ok(LoggedCall {
            number, at, key: key_id, key_name, method, path, query, status, code, duration_ms, size, request_id, address,
        })
    }
}

const INSERT: Insert<'_> = Insert {
    // A batch whose commit was not confirmed is written again.
    on_conflict: "ON CONFLICT (account_id, number) DO NOTHING",
    ..Insert::into(
        "request_log",
        column_list!(request_log {
            account_id,
            number,
            at,
            key_id,
            key_name,
            method,
            path,
            query,
            status,
            code,
            duration_ms,
            size,
            request_id,
            address
        }),
    )
};

/// Writes calls of an account.
pub fn add(tx: &mut Tx<'_>, account: AccountId, calls: &[LoggedCall]) -> Result<()> {
    for call in calls {
        tx.insert(
            &INSERT,
            params![
                &account,
                call.number,
                call.at,
                &call.key,
                &call.key_name,
                &call.method,
                &call.path,
                call.query.as_ref(),
                call.status,
                call.code.as_ref(),
                call.duration_ms,
                call.size,
                &call.request_id,
                call.address.as_ref(),
            ],
        )?;
    }
    Ok(())
}

/// Removes all but the last calls of an account.
pub fn trim(tx: &mut Tx<'_>, account: AccountId) -> Result<u64> {
    tx.execute(
        "DELETE FROM request_log WHERE account_id = ?1 AND number <=
             (SELECT number FROM request_log WHERE account_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
        params![&account, KEPT],
    )
}

/// How many accounts one statement looks up.
const LOOKED_UP: usize = 50;

/// Those of the accounts that are there and stay: the removal of an account must not leave calls behind that came before it.
pub fn staying(tx: &mut Tx<'_>, accounts: &[AccountId]) -> Result<BTreeSet<AccountId>> {
    let sql = format!(
        "SELECT a.id FROM accounts a LEFT JOIN account_states s ON s.account_id = a.id
         WHERE (s.state IS NULL OR s.state <> ?1) AND a.id IN ({})",
        marks(2, LOOKED_UP)
    );
    let mut found = BTreeSet::new();
    for chunk in accounts.chunks(LOOKED_UP) {
        let mut params: Vec<Param<'_>> = vec![AccountState::Deleting.as_str().into()];
        params.extend(filled(chunk, LOOKED_UP).map(Param::from));
        found.extend(tx.on(ACCOUNTS).query(&sql, &params, value::<AccountId>)?);
    }
    Ok(found)
}
