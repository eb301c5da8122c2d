//! Writes everything that an account has into a file, from one snapshot. Secrets are opened: the file is encrypted as a whole.

use super::account_file::Writer;
use crate::engine::{Location, Owned};
use crate::store::Engine;
use crate::tables::account_rows::{Part, Section, Walk, moved};
use crate::tables::row::value;
use crate::tables::sealed::{SEALED, SealedColumn};
use crate::{Result, StoreError, Tx, Vault};
use garson_core::id::AccountId;
use parking_lot::Mutex;
use std::io::Write;
use std::sync::Arc;

/// How many rows are in memory at the same time.
const CHUNK: usize = 100;

/// Exports an account into a file that was begun; returns what it was written to, and the number of rows.
pub async fn export<W: Write + Send + 'static>(
    engine: &Engine,
    vault: Arc<Vault>,
    account: AccountId,
    writer: Writer<W>,
) -> Result<(W, u64)> {
    let is_postgres = matches!(engine.location(), Location::Postgres(_));
    // The job may run again after a broken connection, but would see another snapshot.
    let writer = Mutex::new(Some(writer));
    engine
        .read_long(move |tx| {
            let writer = writer.lock().take().ok_or_else(|| {
                StoreError::refused("the connection to the database broke: run the same command again")
            })?;
            if is_postgres {
                // The transaction is idle while the file is written.
                let sql = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)";
                tx.query_one(sql, &[], value::<String>)?;
            }
            write_all(tx, &vault, account, writer)
        })
        .await
}

fn write_all<W: Write>(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    mut writer: Writer<W>,
) -> Result<(W, u64)> {
    for part in moved(Section::History) {
        write_part(tx, vault, account, part, &mut writer)?;
    }
    writer.begin_work()?;
    for part in moved(Section::Work) {
        write_part(tx, vault, account, part, &mut writer)?;
    }
    writer.finish()
}

fn write_part<W: Write>(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    part: Part,
    writer: &mut Writer<W>,
) -> Result<()> {
    let table = part.table;
    let mut walk = Walk::new(part, account);
    let mut has_begun = false;
    loop {
        let rows = walk.next(tx, table.columns, CHUNK)?;
        if rows.is_empty() {
            return Ok(());
        }
        if !has_begun {
            writer.table(table.name, table.columns)?;
            has_begun = true;
        }
        for mut row in rows {
            for sealed in SEALED.iter().filter(|sealed| sealed.table == table.name) {
                open(vault, sealed, table.columns, &mut row)?;
            }
            writer.row(&row)?;
        }
    }
}

fn open(vault: &Vault, sealed: &SealedColumn, columns: &[&str], row: &mut [Owned]) -> Result<()> {
    let record = blob(columns, row, sealed.record).map(<[u8]>::to_vec);
    let opened = match (blob(columns, row, sealed.column), record) {
        (Some(value), Some(record)) => vault.open(sealed.place, &record, value)?,
        _ => return Ok(()),
    };
    set(columns, row, sealed.column, Owned::Blob(opened.expose().clone()));
    Ok(())
}

/// The bytes of a column, if it has any.
pub(super) fn blob<'a>(columns: &[impl AsRef<str>], row: &'a [Owned], column: &str) -> Option<&'a [u8]> {
    let at = columns.iter().position(|name| name.as_ref() == column)?;
    match row.get(at)? {
        Owned::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

/// Replaces the value of a column, if the table has it.
pub(super) fn set(columns: &[impl AsRef<str>], row: &mut [Owned], column: &str, value: Owned) {
    let at = columns.iter().position(|name| name.as_ref() == column);
    if let Some(cell) = at.and_then(|at| row.get_mut(at)) {
        *cell = value;
    }
}
