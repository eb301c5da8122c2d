//! Rows of the same insert are buffered and written with one statement. PostgreSQL runs a statement for many rows in about the
//! time of a statement for one; SQLite opens the table and its indexes once for all of them, and finds the place of a row next
//! to the previous one.

use super::insert::Insert;
use super::value::{Owned, Param};
use crate::error::StoreError;
use std::sync::Arc;

/// Rows per statement: as many as fit, largest first. A few sizes, so that each is prepared once.
const ROWS_PER_STATEMENT: [usize; 3] = [16, 4, 1];
/// The buffer is flushed when it holds this many bytes.
const MAX_BYTES: usize = 256 * 1024;

/// What the rows are written to.
pub trait RowSink {
    type Statement;

    fn prepare(
        &mut self,
        insert: &Insert<'_>,
        width: usize,
        rows: usize,
    ) -> Result<Self::Statement, StoreError>;

    /// Writes so many rows; a pipelined sink checks the number before the commit.
    fn write(&mut self, statement: &Self::Statement, params: Vec<Owned>, rows: u64)
    -> Result<(), StoreError>;
}

/// The buffered rows of a connection, by their inserts.
pub struct InsertBuffer<S> {
    inserts: Vec<BufferedInsert<S>>,
    bytes: usize,
    /// The transaction has written some rows.
    has_flushed: bool,
}

struct BufferedInsert<S> {
    table: String,
    columns: String,
    constants: Vec<(String, String)>,
    on_conflict: String,
    /// The number of parameters of a row.
    width: usize,
    /// Those of all buffered rows.
    params: Vec<Owned>,
    /// The statement for each of [`ROWS_PER_STATEMENT`].
    prepared: [Option<S>; ROWS_PER_STATEMENT.len()],
    /// The SQL for one row that is not buffered.
    for_one_row: Arc<str>,
}

impl<S> Default for InsertBuffer<S> {
    fn default() -> Self {
        Self {
            inserts: Vec::new(),
            bytes: 0,
            has_flushed: false,
        }
    }
}

impl<S> InsertBuffer<S> {
    /// Must the buffer be flushed before another row of this insert is added?
    fn is_full(&self, index: usize) -> bool {
        // The first rows of a transaction are written early: a server works on them while the next are prepared.
        let limit = ROWS_PER_STATEMENT[usize::from(!self.has_flushed)];
        self.bytes >= MAX_BYTES || self.inserts[index].rows() >= limit
    }

    /// Adds a row.
    pub fn add(
        &mut self,
        insert: &Insert<'_>,
        params: &[Param<'_>],
        sink: &mut impl RowSink<Statement = S>,
    ) -> Result<(), StoreError> {
        let index = self.index(insert, params.len());
        if self.is_full(index) {
            self.flush(sink)?;
        }
        self.bytes += params.iter().map(Param::size).sum::<usize>();
        self.inserts[index]
            .params
            .extend(params.iter().copied().map(Owned::from));
        Ok(())
    }

    /// The SQL that inserts one row without buffering it.
    pub fn for_one_row(&mut self, insert: &Insert<'_>, width: usize) -> Arc<str> {
        let index = self.index(insert, width);
        Arc::clone(&self.inserts[index].for_one_row)
    }

    fn index(&mut self, insert: &Insert<'_>, width: usize) -> usize {
        let known = self.inserts.iter().position(|known| known.is(insert));
        known.unwrap_or_else(|| {
            self.inserts.push(BufferedInsert::new(insert, width));
            self.inserts.len() - 1
        })
    }

    /// Drops all buffered rows.
    pub fn clear(&mut self) {
        self.bytes = 0;
        self.has_flushed = false;
        for insert in &mut self.inserts {
            insert.params.clear();
        }
    }

    /// Writes all buffered rows.
    pub fn flush(&mut self, sink: &mut impl RowSink<Statement = S>) -> Result<(), StoreError> {
        if self.bytes == 0 {
            return Ok(());
        }
        self.bytes = 0;
        self.has_flushed = true;
        for insert in &mut self.inserts {
            insert.flush(sink)?;
        }
        Ok(())
    }
}

impl<S> BufferedInsert<S> {
    fn new(insert: &Insert<'_>, width: usize) -> Self {
        let owned = |(column, value): &(&str, &str)| ((*column).to_owned(), (*value).to_owned());
        Self {
            table: insert.table.to_owned(),
            columns: insert.columns.to_owned(),
            constants: insert.constants.iter().map(owned).collect(),
            on_conflict: insert.on_conflict.to_owned(),
            width,
            params: Vec::new(),
            prepared: [const { None }; ROWS_PER_STATEMENT.len()],
            for_one_row: insert.sql("INSERT", width, 1).into(),
        }
    }

    fn is(&self, insert: &Insert<'_>) -> bool {
        let constants = self
            .constants
            .iter()
            .map(|(column, value)| (column.as_str(), value.as_str()));
        self.table == insert.table
            && self.columns == insert.columns
            && self.on_conflict == insert.on_conflict
            && constants.eq(insert.constants.iter().copied())
    }

    fn rows(&self) -> usize {
        self.params.len() / self.width
    }

    fn flush(&mut self, sink: &mut impl RowSink<Statement = S>) -> Result<(), StoreError> {
        let mut params = std::mem::take(&mut self.params).into_iter();
        while params.len() > 0 {
            let left = params.len() / self.width;
            let size = ROWS_PER_STATEMENT
                .iter()
                .position(|rows| *rows <= left)
                .unwrap_or_default();
            let rows = ROWS_PER_STATEMENT[size];
            if self.prepared[size].is_none() {
                self.prepared[size] = Some(self.prepare(rows, sink)?);
            }
            if let Some(statement) = &self.prepared[size] {
                sink.write(
                    statement,
                    params.by_ref().take(rows * self.width).collect(),
                    rows as u64,
                )?;
            }
        }
        Ok(())
    }

    fn prepare(&self, rows: usize, sink: &mut impl RowSink<Statement = S>) -> Result<S, StoreError> {
        let constants: Vec<(&str, &str)> = self
            .constants
            .iter()
            .map(|(column, value)| (column.as_str(), value.as_str()))
            .collect();
        let insert = Insert {
            table: &self.table,
            columns: &self.columns,
            constants: &constants,
            on_conflict: &self.on_conflict,
        };
        sink.prepare(&insert, self.width, rows)
    }
}
