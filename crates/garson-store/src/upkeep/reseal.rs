//! Seals values again that were sealed with the old master key, in chunks between other writes.

use crate::engine::in_list::marks;
use crate::engine::{Owned, Param, Partition};
use crate::store::Engine;
use crate::tables::row::each;
use crate::tables::schema::{TABLES, Table};
use crate::tables::sealed::{SEALED, SealedColumn};
use crate::{ALL_TABLES, Result, StoreError, Tx, Vault};
use std::sync::Arc;

const CHUNK: i64 = 100;

/// What a pass over all sealed values has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub resealed: u64,
    /// Values that no key opens; they stay as they are.
    pub damaged: u64,
}

/// Seals every value again that is not sealed with the current key.
pub async fn reseal_all(engine: &Engine, vault: &Arc<Vault>) -> Result<Pass> {
    let mut pass = Pass::default();
    for sealed in SEALED {
        let table = TABLES.iter().find(|table| table.name == sealed.table);
        let table =
            table.ok_or_else(|| StoreError::internal(format!("there is no table {}", sealed.table)))?;
        let mut after: Vec<Owned> = Vec::new();
        loop {
            let from = after.clone();
            let rows: Vec<Row> = engine
                .read(move |tx| read_chunk(tx, table, sealed, &from))
                .await?;
            let Some(last) = rows.last() else { break };
            after.clone_from(&last.key);
            let vault = Arc::clone(vault);
            let old: Vec<Row> = rows
                .into_iter()
                .filter(|row| !vault.is_sealed_by_current(&row.sealed))
                .collect();
            if old.is_empty() {
                continue;
            }
            let done = engine
                .write(Partition::COMMON, move |tx| {
                    write_chunk(tx, &vault, table, sealed, &old)
                })
                .await?;
            pass.resealed += done.resealed;
            pass.damaged += done.damaged;
        }
    }
    Ok(pass)
}

struct Row {
    key: Vec<Owned>,
    record: Vec<u8>,
    sealed: Vec<u8>,
}

fn read_chunk(tx: &mut Tx<'_>, table: &Table, sealed: &SealedColumn, after: &[Owned]) -> Result<Vec<Row>> {
    let key: Vec<&str> = table.columns.iter().take(table.key_columns).copied().collect();
    let list = key.join(", ");
    let mut params: Vec<Param<'_>> = after.iter().map(Param::from).collect();
    let condition = if after.is_empty() {
        String::new()
    } else {
        format!("AND ({list}) > ({})", marks(1, after.len()))
    };
    let sql = format!(
        "SELECT {list}, {}, {column} FROM {} WHERE {column} IS NOT NULL {condition} ORDER BY {list} LIMIT ?{}",
        sealed.record,
        table.name,
        params.len() + 1,
        column = sealed.column
    );
    params.push(CHUNK.into());
    let read = each(|cells| {
        Ok(Row {
            key: key.iter().map(|_| cells.read()).collect::<Result<_>>()?,
            record: cells.read()?,
            sealed: cells.read()?,
        })
    });
    tx.on(ALL_TABLES).query(&sql, &params, read)
}

/// A value that was changed meanwhile is left: it was sealed with the current key.
fn write_chunk(
    tx: &mut Tx<'_>,
    vault: &Vault,
    table: &Table,
    sealed: &SealedColumn,
    rows: &[Row],
) -> Result<Pass> {
    let key = table.columns.iter().take(table.key_columns).enumerate();
    let key: Vec<String> = key
        .map(|(at, column)| format!("{column} = ?{}", at + 3))
        .collect();
    let sql = format!(
        "UPDATE {} SET {column} = ?1 WHERE {column} = ?2 AND {}",
        table.name,
        key.join(" AND "),
        column = sealed.column
    );
    let mut pass = Pass::default();
    for row in rows {
        let Ok(secret) = vault.open(sealed.place, &row.record, &row.sealed) else {
            tracing::error!(
                place = sealed.place,
                "a sealed value cannot be opened and stays as it is"
            );
            pass.damaged += 1;
            continue;
        };
        let fresh = vault.seal(sealed.place, &row.record, secret.expose())?;
        let mut params: Vec<Param<'_>> = vec![(&fresh).into(), (&row.sealed).into()];
        params.extend(row.key.iter().map(Param::from));
        pass.resealed += tx.on(ALL_TABLES).execute(&sql, &params)?;
    }
    Ok(pass)
}
