//! After how many days an account's orders are erased by themselves, and how far that has come.

use crate::tables::row::{insert, tuple, value};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::id::AccountId;

/// The account's own choice in days; 0: none.
pub fn anonymise_days(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT anonymise_days FROM privacy_settings WHERE account_id = ?1";
    Ok(tx.query_opt(sql, params![&account], value)?.unwrap_or(0))
}

pub fn set_anonymise_days(tx: &mut Tx<'_>, account: AccountId, days: i64) -> Result<()> {
    insert!(
        tx,
        privacy_settings {
            account_id: &account,
            anonymise_days: days,
            reached: 0,
        },
        "ON CONFLICT (account_id) DO UPDATE SET anonymise_days = excluded.anonymise_days"
    )?;
    Ok(())
}

/// Stores up to which position the account's orders are erased.
pub fn set_reached(tx: &mut Tx<'_>, account: AccountId, position: i64) -> Result<()> {
    insert!(
        tx,
        privacy_settings {
            account_id: &account,
            anonymise_days: 0,
            reached: position,
        },
        "ON CONFLICT (account_id) DO UPDATE SET reached = excluded.reached"
    )?;
    Ok(())
}

/// The accounts after another one, with their own choice of days and the position that is reached.
pub fn list(tx: &mut Tx<'_>, after: Option<AccountId>, limit: i64) -> Result<Vec<(AccountId, i64, i64)>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    tx.on(ACCOUNTS).query(
        "SELECT a.id, COALESCE(p.anonymise_days, 0), COALESCE(p.reached, 0)
         FROM accounts a LEFT JOIN privacy_settings p ON p.account_id = a.id
         WHERE a.id > ?1 ORDER BY a.id LIMIT ?2",
        params![&after, limit],
        tuple,
    )
}
