//! A transaction as jobs see it, and what a store adds to it. The engine itself knows no table.

use super::insert::Insert;
use super::session::Session;
use super::table_set::TableSet;
use super::value::{Param, Row};
use crate::error::{StoreError, StoreErrorKind};
use garson_core::id::AccountId;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The state of a transaction that belongs to the store: writes that are deferred to the end of the transaction, and messages
/// that are published after its commit.
pub trait Hooks: Default + Send + 'static {
    /// What all transactions of an engine share, such as the receivers of messages.
    type Shared: Send + Sync + 'static;
    type Messages: Default;

    /// The tables with deferred writes, in the order of their bits in a [`TableSet`].
    const TABLES: &'static [&'static str];

    /// The state of a new transaction.
    fn begin(shared: &Self::Shared) -> Self;

    /// Locks the accounts of a batch before its jobs run, so that two nodes do not wait for each other's orders or
    /// integrations.
    fn lock_accounts(tx: &mut Tx<'_, Self>, accounts: &[AccountId]) -> Result<(), StoreError>;

    /// The tables for which writes are deferred now.
    fn deferred_tables(&self) -> TableSet;

    /// Executes the deferred writes.
    fn flush(tx: &mut Tx<'_, Self>) -> Result<(), StoreError>;

    /// Drops the deferred writes of a job that is rolled back.
    fn discard_deferred(&mut self);

    fn take_messages(&mut self) -> Self::Messages;

    fn append_messages(messages: &mut Self::Messages, more: Self::Messages);

    /// Publishes the messages of the jobs that were committed.
    fn publish(shared: &Self::Shared, messages: Self::Messages);
}

/// A running transaction.
pub struct Tx<'a, H> {
    session: &'a mut dyn Session,
    state: H,
    /// The declaration for the next statement, see [`Tx::on`].
    tables: TableSet,
    lost: Option<StoreError>,
    failed: Option<StoreError>,
    statements: u64,
    /// Something may have been written, or a statement has failed.
    is_touched: bool,
}

impl<'a, H: Hooks> Tx<'a, H> {
    pub(super) fn new(session: &'a mut dyn Session, state: H) -> Self {
        Self {
            session,
            state,
            tables: TableSet::EMPTY,
            lost: None,
            failed: None,
            statements: 0,
            is_touched: false,
        }
    }

    /// May a job that failed have left something behind, so that it has to be rolled back?
    pub(super) fn is_touched(&self) -> bool {
        self.is_touched
    }

    /// How many statements have been run.
    pub(super) fn statements(&self) -> u64 {
        self.statements
    }

    /// The error, if there was one, after which only running the transaction again helps.
    pub(super) fn take_lost(&mut self) -> Option<StoreError> {
        self.lost.take()
    }

    /// The error, if there was one, with which the job must not succeed whatever it returns itself: PostgreSQL turns the
    /// commit after a failed statement into a silent rollback.
    pub(super) fn take_failed(&mut self) -> Option<StoreError> {
        self.failed.take()
    }

    pub(super) fn into_state(self) -> H {
        self.state
    }

    pub(crate) fn state(&self) -> &H {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut H {
        &mut self.state
    }

    /// A job that fails from here on has to be rolled back.
    pub(crate) fn touch(&mut self) {
        self.is_touched = true;
    }

    /// Executes the deferred writes. Whatever goes wrong, a row that cannot be decoded included, the job must not succeed: its
    /// deferred writes would be lost. A panic, as of a sum that is too large, is an error as it is in a job.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        let flushed = catch_unwind(AssertUnwindSafe(|| H::flush(self)))
            .unwrap_or_else(|_| Err(StoreError::internal("writing derived values panicked")));
        if let Err(error) = &flushed
            && !error.is_temporary()
        {
            self.failed = Some(error.clone());
        }
        flushed
    }

    /// Declares which tables with deferred writes the next statement reads or writes; these writes are executed before it. Debug
    /// builds compare the declaration with what SQLite reports about the statement.
    #[must_use]
    pub fn on(&mut self, tables: TableSet) -> &mut Self {
        self.tables = tables;
        self
    }

    /// Prepares for a statement on the declared tables.
    fn begin_statement(&mut self) -> Result<TableSet, StoreError> {
        let tables = std::mem::take(&mut self.tables);
        if tables.intersects(self.state.deferred_tables()) {
            self.flush()?;
        }
        self.statements += 1;
        Ok(tables)
    }

    /// Runs a statement and returns how many rows it changed.
    pub fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.begin_write(sql)?;
        let done = self.session.execute(sql, params);
        self.note(done)
    }

    /// Runs a statement whose result is not needed.
    pub fn write(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        self.execute_expecting(sql, params, None).map(drop)
    }

    /// Runs a statement that is expected to change one row; returns whether it did. On PostgreSQL we pipeline: we assume success
    /// and check before the commit. If the assumption was wrong, the jobs are run again without pipelining.
    pub fn write_one(&mut self, sql: &str, params: &[Param<'_>]) -> Result<bool, StoreError> {
        self.write_many(sql, params, 1)
    }

    /// The same for a statement that is expected to change so many rows.
    pub fn write_many(&mut self, sql: &str, params: &[Param<'_>], rows: u64) -> Result<bool, StoreError> {
        Ok(self.execute_expecting(sql, params, Some(rows))? == rows)
    }

    fn execute_expecting(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        rows: Option<u64>,
    ) -> Result<u64, StoreError> {
        self.begin_write(sql)?;
        let done = self.session.execute_expecting(sql, params, rows);
        self.note(done)
    }

    fn begin_write(&mut self, sql: &str) -> Result<(), StoreError> {
        let tables = self.begin_statement()?;
        self.is_touched = true;
        self.check(sql, tables, false)
    }

    /// Inserts one row; returns whether it was inserted. An optimistic transaction assumes success and writes rows of the same
    /// insert together, before the next statement of another kind. If a row was not inserted, the jobs are run again.
    pub fn insert(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError> {
        self.begin_insert(insert, params)?;
        let done = self.session.insert(insert, params);
        self.note(done)
    }

    /// Inserts one row at once; returns whether it was inserted.
    pub fn insert_now(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<bool, StoreError> {
        self.begin_insert(insert, params)?;
        let done = self.session.insert_now(insert, params);
        self.note(done)
    }

    fn begin_insert(&mut self, insert: &Insert<'_>, params: &[Param<'_>]) -> Result<(), StoreError> {
        let tables = self.begin_statement()?;
        self.is_touched = true;
        self.check_insert(insert, params.len(), tables)
    }

    /// Runs a query that only reads, and decodes every row.
    pub fn query<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let tables = self.begin_statement()?;
        self.check(sql, tables, true)?;
        self.collect(sql, params, read)
    }

    /// Runs a statement that writes and returns rows, and decodes every row.
    pub fn write_returning<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.begin_write(sql)?;
        self.collect(sql, params, read)
    }

    fn collect<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut all = Vec::new();
        let done = self.session.query(sql, params, &mut |row| {
            all.push(read(row)?);
            Ok(())
        });
        self.note(done)?;
        Ok(all)
    }

    /// Does this transaction assume likely results and check them before the commit? If an assumption was wrong, the jobs are
    /// run again without assumptions.
    pub(crate) fn is_optimistic(&self) -> bool {
        self.session.is_optimistic()
    }

    /// Runs a query that is expected to return no row, which is checked before the commit. For optimistic transactions only.
    pub(crate) fn expect_none(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        let tables = self.begin_statement()?;
        self.is_touched = true;
        self.check(sql, tables, true)?;
        let done = self.session.expect_none(sql, params);
        self.note(done)
    }

    /// Runs a query that returns at most one row.
    pub fn query_opt<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.query(sql, params, read)?.into_iter().next())
    }

    /// Runs a query that returns exactly one row.
    pub fn query_one<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.query_opt(sql, params, read)?
            .ok_or_else(|| StoreError::internal("a query that must return a row returned none"))
    }

    fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            self.is_touched = true;
            match error.kind {
                StoreErrorKind::Conflict | StoreErrorKind::Unavailable => self.lost = Some(error.clone()),
                // A row that cannot be decoded; the statement itself has worked.
                StoreErrorKind::Corrupt => {}
                _ => self.failed = Some(error.clone()),
            }
        }
        result
    }

    /// Fails, in debug builds, where a statement is not as declared.
    fn check(&mut self, sql: &str, tables: TableSet, must_only_read: bool) -> Result<(), StoreError> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        let Some(used) = self.session.inspect(sql) else {
            return Ok(());
        };
        let wrong = if must_only_read && !used.is_read_only {
            Some("writes".to_owned())
        } else {
            undeclared::<H>(&used.tables, tables)
        };
        let done = wrong.map_or(Ok(()), |wrong| Err(undeclared_error(&wrong, sql)));
        self.note(done)
    }

    fn check_insert(
        &mut self,
        insert: &Insert<'_>,
        width: usize,
        tables: TableSet,
    ) -> Result<(), StoreError> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        let used = self.session.inspect_insert(insert, width);
        let wrong = used.and_then(|used| undeclared::<H>(&used.tables, tables));
        let done = wrong.map_or(Ok(()), |wrong| Err(undeclared_error(&wrong, insert.table)));
        self.note(done)
    }
}

/// A table that is used but not declared.
fn undeclared<H: Hooks>(used: &BTreeSet<String>, declared: TableSet) -> Option<String> {
    let mut tables = (0..).map(TableSet::of).zip(H::TABLES);
    let found = tables.find(|(table, name)| used.contains(**name) && !declared.intersects(*table));
    found.map(|(_, name)| format!("uses the table {name}"))
}

fn undeclared_error(wrong: &str, sql: &str) -> StoreError {
    StoreError::internal(format!("a statement {wrong}, which is not declared: {sql}"))
}

/// A transaction without deferred writes and messages, for the engine's own statements.
impl Hooks for () {
    type Shared = ();
    type Messages = ();

    const TABLES: &'static [&'static str] = &[];

    fn begin((): &()) -> Self {}

    fn lock_accounts(_: &mut Tx<'_, Self>, _: &[AccountId]) -> Result<(), StoreError> {
        Ok(())
    }

    fn deferred_tables(&self) -> TableSet {
        TableSet::EMPTY
    }

    fn flush(_: &mut Tx<'_, Self>) -> Result<(), StoreError> {
        Ok(())
    }

    fn discard_deferred(&mut self) {}

    fn take_messages(&mut self) {}

    fn append_messages((): &mut (), (): ()) {}

    fn publish((): &(), (): ()) {}
}
