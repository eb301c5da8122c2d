//! Removes everything that an account has, in chunks so small that other writes do not wait for them. It can be interrupted
//! anywhere and started again.

use crate::engine::{Owned, Param, Partition};
use crate::store::Engine;
use crate::tables::account_rows::{Part, Walk, removed};
use crate::tables::{account_states, keys, restaurants, sessions};
use crate::{ALL_TABLES, INTEGRATIONS, Result, Tx, params};
use garson_core::account_state::AccountState;
use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;
use uuid::Uuid;

/// How many rows one transaction removes.
const CHUNK: usize = 100;

/// Marks an account as being deleted: nobody can use it, and nothing comes in any more. The rest follows in chunks.
pub fn begin(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<()> {
    account_states::set_state(tx, account, AccountState::Deleting, None, now)?;
    sessions::end_all_of_account(tx, account)?;
    keys::remove_all(tx, account)?;
    restaurants::hide_all(tx, account, now)?;
    tx.on(INTEGRATIONS).execute(
        "DELETE FROM integrations WHERE account_id = ?1",
        params![&account],
    )?;
    Ok(())
}

/// Removes all rows, the account's own last; `progress` is told how many are gone so far.
pub async fn remove_rows(engine: &Engine, account: AccountId, mut progress: impl FnMut(u64)) -> Result<u64> {
    let mut count = 0;
    for part in removed() {
        let walk = Arc::new(Mutex::new(Walk::new(part, account)));
        loop {
            let reading = Arc::clone(&walk);
            let found = engine
                .read(move |tx| {
                    // It may run again after a broken connection: from where it was.
                    let mut next = reading.lock().clone();
                    let rows = next.next(tx, part.key(), CHUNK)?;
                    Ok::<_, crate::StoreError>((next, rows))
                })
                .await?;
            let (next, rows) = found;
            *walk.lock() = next;
            if rows.is_empty() {
                break;
            }
            let began = Instant::now();
            count += rows.len() as u64;
            engine
                .write(account, move |tx| remove_chunk(tx, part, &rows))
                .await?;
            progress(count);
            // At most half of the writer's time.
            tokio::time::sleep(began.elapsed()).await;
        }
    }
    Ok(count)
}

/// Removes the sums of an account or a restaurant that is not there: without its row they are not found otherwise. A file may
/// name anything, so the sums of others stay.
pub async fn remove_orphaned_sums(engine: &Engine, scope: Uuid) -> Result<()> {
    for (table, key) in [("order_stats", "span"), ("payment_totals", "level, span")] {
        let sql = format!(
            "DELETE FROM {table} WHERE scope = ?1 AND ({key}) IN (SELECT {key} FROM {table} WHERE scope = ?1 LIMIT ?2)
               AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = ?1)
               AND NOT EXISTS (SELECT 1 FROM restaurants r WHERE r.id = ?1)"
        );
        loop {
            let sql = sql.clone();
            let remove = move |tx: &mut Tx<'_>| {
                let limit = i64::try_from(CHUNK).unwrap_or(i64::MAX);
                tx.on(ALL_TABLES)
                    .execute(&sql, params![scope.as_bytes().as_slice(), limit])
            };
            if engine.write(Partition::COMMON, remove).await? == 0 {
                break;
            }
        }
    }
    Ok(())
}

fn remove_chunk(tx: &mut Tx<'_>, part: Part, rows: &[Vec<Owned>]) -> Result<()> {
    let conditions = part.key().iter().enumerate();
    let conditions: Vec<String> = conditions
        .map(|(at, column)| format!("{column} = ?{}", at + 1))
        .collect();
    let sql = format!(
        "DELETE FROM {} WHERE {}",
        part.table.name,
        conditions.join(" AND ")
    );
    for row in rows {
        let params: Vec<Param<'_>> = row.iter().map(Param::from).collect();
        tx.on(ALL_TABLES).write(&sql, &params)?;
    }
    Ok(())
}

/// Removes all rows of an account that is being deleted, and the mark at last. Returns the number of rows.
pub async fn finish(engine: &Engine, account: AccountId, progress: impl FnMut(u64)) -> Result<u64> {
    let count = remove_rows(engine, account, progress).await?;
    engine
        .write(Partition::COMMON, move |tx| account_states::remove(tx, account))
        .await?;
    Ok(count)
}
