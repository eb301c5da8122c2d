//! Requests to erase the data of a customer, and orders that wait for it.

use crate::tables::row::{columns, each, insert, tuple, value};
use crate::vault::Vault;
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, ErasureId, OrderId};
use garson_core::privacy::CustomerQuery;
use garson_core::time::Timestamp;

/// Where the vault says that sealed queries are stored.
pub(crate) const QUERY: &str = "erasures/query";

/// A request and its progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    pub id: ErasureId,
    pub account_id: AccountId,
    /// Orders up to this position are examined, and up to `reached` they were.
    pub last_position: i64,
    pub reached: i64,
    /// Orders that were erased, and those that are erased when they have ended.
    pub erased: i64,
    pub waiting: i64,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

columns! {
    const COLUMNS = "" of erasures { id, account_id, last_position, reached, erased, waiting, created_at, finished_at }
    fn erasure() -> Erasure {
        Ok(Erasure { id, account_id, last_position, reached, erased, waiting, created_at, finished_at })
    }
}

/// Stores a request; it is sealed, since it names the customer.
pub fn start(tx: &mut Tx<'_>, vault: &Vault, erasure: &Erasure, query: &CustomerQuery) -> Result<()> {
    let json = serde_json::to_vec(query).map_err(|_| StoreError::internal("a query does not serialise"))?;
    insert!(
        tx,
        erasures {
            id: &erasure.id,
            account_id: &erasure.account_id,
            query: &vault.seal(QUERY, erasure.id.as_bytes(), &json)?,
            last_position: erasure.last_position,
            reached: erasure.reached,
            erased: erasure.erased,
            waiting: erasure.waiting,
            created_at: erasure.created_at,
        }
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: ErasureId) -> Result<Option<Erasure>> {
    let sql = format!("SELECT {COLUMNS} FROM erasures WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], each(erasure))
}

/// The newest requests of an account.
pub fn list(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Erasure>> {
    let sql = format!("SELECT {COLUMNS} FROM erasures WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2");
    tx.query(&sql, params![&account, limit], each(erasure))
}

/// The requests of an account that are not finished.
pub fn running_of(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<Erasure>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM erasures WHERE account_id = ?1 AND finished_at IS NULL ORDER BY id LIMIT ?2"
    );
    tx.query(&sql, params![&account, limit], each(erasure))
}

/// The first request of each account that is not finished.
pub fn running(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Erasure>> {
    let sql =
        format!("SELECT {COLUMNS} FROM erasures WHERE finished_at IS NULL ORDER BY account_id, id LIMIT ?1");
    let mut found: Vec<Erasure> = tx.query(&sql, params![limit], each(erasure))?;
    found.dedup_by_key(|it| it.account_id);
    Ok(found)
}

/// Whom a running request is about.
pub fn query(tx: &mut Tx<'_>, vault: &Vault, id: ErasureId) -> Result<Option<CustomerQuery>> {
    let sql = "SELECT query FROM erasures WHERE id = ?1";
    let sealed = tx
        .query_opt(sql, params![&id], value::<Option<Vec<u8>>>)?
        .flatten();
    sealed
        .map(|sealed| {
            let opened = vault.open(QUERY, id.as_bytes(), &sealed)?;
            serde_json::from_slice(opened.expose())
                .map_err(|_| StoreError::corrupt("the query of an erasure is damaged"))
        })
        .transpose()
}

/// Stores the progress. A finished request no longer names the customer.
pub fn save(tx: &mut Tx<'_>, erasure: &Erasure) -> Result<()> {
    tx.execute(
        "UPDATE erasures SET reached = ?2, erased = ?3, waiting = ?4, finished_at = ?5,
             query = CASE WHEN CAST(?5 AS BIGINT) IS NULL THEN query ELSE NULL END
         WHERE id = ?1",
        params![
            &erasure.id,
            erasure.reached,
            erasure.erased,
            erasure.waiting,
            erasure.finished_at
        ],
    )?;
    Ok(())
}

/// Notes an order that is erased when it has ended.
pub fn wait_for(tx: &mut Tx<'_>, account: AccountId, order: OrderId, now: Timestamp) -> Result<()> {
    insert!(
        tx,
        waiting_erasures {
            order_id: &order,
            account_id: &account,
            created_at: now,
        },
        "ON CONFLICT (order_id) DO NOTHING"
    )?;
    Ok(())
}

/// Orders that wait and have ended, or wait since before `oldest`, and those whose rows are gone.
pub fn ended(tx: &mut Tx<'_>, oldest: Timestamp, limit: i64) -> Result<Vec<(AccountId, OrderId)>> {
    tx.query(
        "SELECT w.account_id, w.order_id FROM waiting_erasures w LEFT JOIN orders o ON o.id = w.order_id
         WHERE o.status IS NULL OR o.status >= 900 OR w.created_at < ?1 ORDER BY w.order_id LIMIT ?2",
        params![oldest, limit],
        tuple,
    )
}

pub fn no_longer_waits(tx: &mut Tx<'_>, order: OrderId) -> Result<()> {
    tx.write(
        "DELETE FROM waiting_erasures WHERE order_id = ?1",
        params![&order],
    )
}
