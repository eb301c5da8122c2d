//! A transaction as jobs see it: statements, and what is to happen with its commit.

use super::postgres::PgSession;
use super::sqlite::SqliteSession;
use super::value::{Param, Row};
use crate::engine::handoff::Handover;
use crate::engine::notify::Word;
use crate::error::{StoreError, StoreErrorKind};
use crate::tables::deferred;
use crate::tables::deferred::Late;
use crate::tables::deliveries::Delivery;
use garson_core::id::{AccountId, NodeId};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A running transaction.
pub struct Tx<'a> {
    session: Session<'a>,
    lost: Option<StoreError>,
    failed: Option<StoreError>,
    node: Option<NodeId>,
    outcome: Outcome,
    late: Late,
    statements: u64,
    /// Something may have been written, or a statement has failed.
    is_touched: bool,
}

/// What those who wait are told after the commit.
#[derive(Default)]
pub struct Outcome {
    pub places: Vec<(AccountId, i64)>,
    pub handed: Vec<Handover>,
    /// For other nodes.
    pub words: Vec<Word>,
}

impl Outcome {
    pub fn append(&mut self, mut other: Self) {
        self.places.append(&mut other.places);
        self.handed.append(&mut other.handed);
        self.words.append(&mut other.words);
    }
}

pub enum Session<'a> {
    Sqlite(&'a mut SqliteSession),
    Postgres(&'a mut PgSession),
}

impl<'a> Tx<'a> {
    pub(super) fn new(session: Session<'a>) -> Self {
        Self {
            session,
            lost: None,
            failed: None,
            node: None,
            outcome: Outcome::default(),
            late: Late::default(),
            statements: 0,
            is_touched: false,
        }
    }

    /// Is everything as it was before, so that a job that failed need not be undone?
    pub(super) fn left_nothing(&self) -> bool {
        !self.is_touched
    }

    /// How many statements have been run.
    pub(super) fn statements(&self) -> u64 {
        self.statements
    }

    /// A transaction of a node that delivers events.
    pub(super) fn of_node(mut self, node: Option<NodeId>) -> Self {
        self.node = node;
        self
    }

    /// The error, if there was one, after which only running the transaction again helps.
    pub(super) fn take_lost(&mut self) -> Option<StoreError> {
        self.lost.take()
    }

    /// The error, if there was one, with which the job must not succeed whatever it says itself: PostgreSQL turns
    /// the commit after a failed statement into a quiet rollback.
    pub(super) fn take_failed(&mut self) -> Option<StoreError> {
        self.failed.take()
    }

    /// After the commit, those who wait for news of the account are woken, on every node; its newest place is this one,
    /// and that node delivers for it.
    pub fn tell(&mut self, account: AccountId, last: i64, owner: Option<NodeId>) {
        self.outcome.places.push((account, last));
        self.ring(Word::Places { account, owner, last });
    }

    /// After the commit, those who wait for news of the account are woken, on every node, though it has come no further.
    pub fn stir(&mut self, account: AccountId) {
        self.outcome.places.push((account, 0));
        self.ring(Word::Stir { account });
    }

    /// After the commit, other nodes are told this.
    pub fn ring(&mut self, word: Word) {
        self.outcome.words.push(word);
    }

    /// The node that this process is, if it delivers events.
    #[must_use]
    pub fn node(&self) -> Option<NodeId> {
        self.node
    }

    /// After the commit, this is handed over to those who deliver events.
    pub fn hand_over(&mut self, handover: Handover) {
        self.outcome.handed.push(handover);
    }

    /// Adds a delivery to the account's places that are to be handed over, if they are.
    pub fn hand_over_delivery(&mut self, of: AccountId, delivery: impl FnOnce() -> Delivery) {
        let places = self
            .outcome
            .handed
            .iter_mut()
            .rev()
            .find_map(|handover| match handover {
                Handover::Places {
                    account, deliveries, ..
                } if *account == of => Some(deliveries),
                _ => None,
            });
        if let Some(deliveries) = places {
            deliveries.push(delivery());
        }
    }

    pub(super) fn take_outcome(&mut self) -> Outcome {
        std::mem::take(&mut self.outcome)
    }

    /// Goes on with what earlier jobs of the same transaction have left to be written.
    pub(super) fn with_late(mut self, late: Late) -> Self {
        self.late = late;
        self
    }

    pub(super) fn take_late(&mut self) -> Late {
        std::mem::take(&mut self.late)
    }

    /// What is left to be written, for whoever adds to it.
    pub(crate) fn late(&mut self) -> &mut Late {
        self.is_touched = true;
        &mut self.late
    }

    /// Writes what was left for later. Whatever goes wrong, a row that cannot be understood included, the job must not
    /// succeed: what it left to be written would be missing for good. A panic, as of a sum that is too large, is an error
    /// as it is in a job.
    pub(super) fn settle_late(&mut self) -> Result<(), StoreError> {
        let settled = catch_unwind(AssertUnwindSafe(|| deferred::settle(self)))
            .unwrap_or_else(|_| Err(StoreError::internal("writing derived values panicked")));
        if let Err(error) = &settled
            && !error.is_temporary()
        {
            self.failed = Some(error.clone());
        }
        settled
    }

    /// Has everything written that a statement might ask for.
    fn prepare_for(&mut self, sql: &str) -> Result<(), StoreError> {
        match self.late.concerns(sql) {
            true => self.settle_late(),
            false => Ok(()),
        }
    }

    /// Runs a statement and says how many rows it touched.
    pub fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        self.prepare_for(sql)?;
        self.statements += 1;
        self.is_touched = true;
        let done = match &mut self.session {
            Session::Sqlite(session) => session.execute(sql, params),
            Session::Postgres(session) => session.execute(sql, params),
        };
        self.note(done)
    }

    /// Runs a statement whose answer nobody needs.
    pub fn write(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        self.execute_expecting(sql, params, None).map(drop)
    }

    /// Runs a statement that touches one row unless something unusual has happened; says whether it did. Where answers are
    /// far away, it is taken for granted that it did, and looked at before the commit: if it did not, the jobs are run
    /// again, one answer after the other.
    pub fn write_one(&mut self, sql: &str, params: &[Param<'_>]) -> Result<bool, StoreError> {
        self.write_many(sql, params, 1)
    }

    /// The same of a statement that touches so many rows.
    pub fn write_many(&mut self, sql: &str, params: &[Param<'_>], rows: u64) -> Result<bool, StoreError> {
        Ok(self.execute_expecting(sql, params, Some(rows))? == rows)
    }

    /// Adds one row, by a statement with `VALUES` and a row of marks and plain values; says whether it was added. In a bold
    /// transaction it is taken for granted, and rows of the same statement are added together, before the next statement of
    /// another kind; if one was not, the jobs are run again.
    pub fn insert(&mut self, sql: &str, params: &[Param<'_>]) -> Result<bool, StoreError> {
        self.prepare_for(sql)?;
        self.statements += 1;
        self.is_touched = true;
        let done = match &mut self.session {
            Session::Sqlite(session) => session.insert(sql, params),
            Session::Postgres(session) => session.insert(sql, params),
        };
        self.note(done)
    }

    fn execute_expecting(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        rows: Option<u64>,
    ) -> Result<u64, StoreError> {
        self.prepare_for(sql)?;
        self.statements += 1;
        self.is_touched = true;
        let done = match &mut self.session {
            Session::Sqlite(session) => session.execute(sql, params),
            Session::Postgres(session) => session.execute_expecting(sql, params, rows),
        };
        self.note(done)
    }

    /// Runs a query and reads every row.
    pub fn query<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.prepare_for(sql)?;
        self.statements += 1;
        // Others are statements that write and answer what they wrote.
        self.is_touched |= !sql.starts_with("SELECT");
        let rows = match &mut self.session {
            Session::Sqlite(session) => session.query(sql, params, &mut read),
            Session::Postgres(session) => session.query(sql, params, &mut read),
        };
        self.note(rows)
    }

    /// Is it taken for granted that nothing unusual has happened? Then whatever did shows in what is written, and the jobs
    /// are run again with more care.
    pub(crate) fn is_bold(&self) -> bool {
        match &self.session {
            Session::Sqlite(session) => session.is_bold(),
            Session::Postgres(session) => session.is_bold(),
        }
    }

    /// Asks something that has no answer unless something unusual has happened, which is looked at before the commit. For bold
    /// transactions only.
    pub(crate) fn expect_none(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        if let Session::Postgres(_) = self.session {
            return self.execute_expecting(sql, params, Some(0)).map(drop);
        }
        let is_surprise = !self.query(sql, params, |_| Ok(()))?.is_empty();
        if let (true, Session::Sqlite(session)) = (is_surprise, &mut self.session) {
            session.note_surprise();
        }
        Ok(())
    }

    /// Runs a query that answers at most one row.
    pub fn query_opt<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.query(sql, params, read)?.into_iter().next())
    }

    /// Runs a query that answers exactly one row.
    pub fn query_one<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.query_opt(sql, params, read)?
            .ok_or_else(|| StoreError::internal("a query that must answer did not"))
    }

    fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            self.is_touched = true;
            match error.kind {
                StoreErrorKind::Conflict | StoreErrorKind::Unavailable => self.lost = Some(error.clone()),
                // A row that cannot be understood; the statement itself has worked.
                StoreErrorKind::Corrupt => {}
                _ => self.failed = Some(error.clone()),
            }
        }
        result
    }
}
