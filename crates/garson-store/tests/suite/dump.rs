//! All rows of all tables as text, so that two databases, or two moments of one, can be compared.

use garson_store::engine::{Column, FromColumn};
use garson_store::tables::schema::{TABLES, Table};
use garson_store::{Engine, Result, Tx};
use std::collections::BTreeMap;

struct Cell(String);

impl FromColumn for Cell {
    fn from_column(value: Column<'_>) -> Option<Self> {
        Some(Self(format!("{value:?}")))
    }
}

/// The rows of a table, each as its cells, sorted.
pub fn table(tx: &mut Tx<'_>, table: &Table) -> Result<Vec<Vec<String>>> {
    let sql = format!("SELECT {} FROM {}", table.columns.join(", "), table.name);
    let mut rows = tx.query(&sql, &[], |row| {
        (0..table.columns.len())
            .map(|n| Ok(row.get::<Cell>(n)?.0))
            .collect()
    })?;
    rows.sort();
    Ok(rows)
}

/// Every table with its rows.
pub type Dump = BTreeMap<&'static str, Vec<Vec<String>>>;

pub fn everything(tx: &mut Tx<'_>) -> Result<Dump> {
    TABLES.iter().map(|it| Ok((it.name, table(tx, it)?))).collect()
}

pub async fn of(engine: &Engine) -> Dump {
    engine.read(everything).await.unwrap()
}
