//! What a transaction needs of a connection, whichever engine it leads to.

use super::insert::Insert;
use super::value::{Param, Row};
use crate::error::StoreError;
use std::collections::BTreeSet;

/// A connection within a transaction.
pub trait Session {
    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError>;

    /// Runs a statement that is expected to change so many rows, if that matters. An optimistic PostgreSQL session pipelines it:
    /// it returns the expected number and compares it before the commit.
    fn execute_expecting(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        rows: Option<u64>,
    ) -> Result<u64, StoreError>;

    /// Inserts a row and returns whether it was inserted. An optimistic session buffers the row, assumes that it will be
    /// inserted, and checks before the commit.
    fn insert(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError>;

    /// Inserts a row without buffering it.
    fn insert_now(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError>;

    /// Runs a query and passes each row to `read`.
    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Runs a query that is expected to return no row; checked before the commit. For optimistic sessions only.
    fn expect_none(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError>;

    /// Does this transaction assume likely results and check them before the commit?
    fn is_optimistic(&self) -> bool;

    /// What a statement does by the account of the database, in transactions that write. Nothing where that is not known.
    fn inspect(&mut self, _sql: &str) -> Option<&StatementUse> {
        None
    }

    /// The same of an insert.
    fn inspect_insert(&mut self, _insert: &Insert<'_>, _width: usize) -> Option<&StatementUse> {
        None
    }
}

/// What a statement does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementUse {
    /// The tables that it reads or writes.
    pub tables: BTreeSet<String>,
    pub is_read_only: bool,
}
