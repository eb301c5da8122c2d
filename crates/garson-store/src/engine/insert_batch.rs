//! Rows that are added by the same statement wait for each other and are written together. PostgreSQL takes a statement for
//! many rows in about the time of a statement for one; SQLite opens the table and its indexes once for all of them, and finds
//! the place of a row beside the one before.

use super::Param;
use super::value::Owned;
use crate::error::StoreError;
use std::fmt::Write;

/// So many rows go together, or as many less.
const TOGETHER: [usize; 3] = [16, 4, 1];
/// When so many bytes wait, they are sent.
const MAX_BYTES: usize = 256 * 1024;

/// Who writes rows.
pub trait Writer {
    type Statement;

    fn prepare(&mut self, sql: &str) -> Result<Self::Statement, StoreError>;

    /// Adds so many rows, or will have added them when it is asked whether all is as expected.
    fn add(&mut self, statement: &Self::Statement, params: Vec<Owned>, rows: u64) -> Result<(), StoreError>;
}

/// The rows that wait, by their statements.
pub struct Stacks<S> {
    all: Vec<Stack<S>>,
    bytes: usize,
    /// Some have been sent.
    is_begun: bool,
}

struct Stack<S> {
    sql: String,
    /// The parameters of a row, and those of all rows that wait.
    width: usize,
    params: Vec<Owned>,
    /// The statement for each of [`TOGETHER`].
    prepared: [Option<S>; TOGETHER.len()],
}

impl<S> Default for Stacks<S> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            bytes: 0,
            is_begun: false,
        }
    }
}

impl<S> Stacks<S> {
    /// Must what waits be sent before another row is added by this statement?
    fn is_full_for(&self, sql: &str) -> bool {
        // The first ones go early: a server works on them while we think about the next.
        let most = TOGETHER[usize::from(!self.is_begun)];
        let is_full = |stack: &Stack<S>| stack.sql == sql && stack.rows() >= most;
        self.bytes >= MAX_BYTES || self.all.iter().any(is_full)
    }

    /// Adds a row, by a statement with `VALUES` and a row of marks and plain values.
    pub fn add(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        writer: &mut impl Writer<Statement = S>,
    ) -> Result<(), StoreError> {
        if self.is_full_for(sql) {
            self.send(writer)?;
        }
        let known = self.all.iter().position(|stack| stack.sql == sql);
        let place = known.unwrap_or_else(|| {
            self.all.push(Stack {
                sql: sql.to_owned(),
                width: params.len(),
                params: Vec::new(),
                prepared: [const { None }; TOGETHER.len()],
            });
            self.all.len() - 1
        });
        self.bytes += params.iter().map(Param::size).sum::<usize>();
        self.all[place]
            .params
            .extend(params.iter().copied().map(Owned::from));
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.bytes = 0;
        self.is_begun = false;
        for stack in &mut self.all {
            stack.params.clear();
        }
    }

    /// Sends everything that waits.
    pub fn send(&mut self, writer: &mut impl Writer<Statement = S>) -> Result<(), StoreError> {
        if self.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        self.is_begun = true;
        for stack in &mut self.all {
            let Stack {
                sql,
                width,
                params,
                prepared,
            } = stack;
            let mut params = std::mem::take(params).into_iter();
            while params.len() > 0 {
                let rows = params.len() / *width;
                let size = TOGETHER.iter().position(|size| *size <= rows).unwrap_or_default();
                let rows = TOGETHER[size];
                let statement = match &mut prepared[size] {
                    Some(statement) => statement,
                    none => none.insert(writer.prepare(&for_rows(sql, *width, rows))?),
                };
                let together = params.by_ref().take(rows * *width).collect();
                writer.add(statement, together, rows as u64)?;
            }
        }
        Ok(())
    }
}

impl<S> Stack<S> {
    fn rows(&self) -> usize {
        self.params.len() / self.width
    }
}

/// The statement for so many rows, made of that for a single one.
fn for_rows(sql: &str, width: usize, rows: usize) -> String {
    const VALUES: &str = "VALUES ";
    let start = sql.find(VALUES).map_or(sql.len(), |at| at + VALUES.len());
    let (head, rest) = sql.split_at(start);
    let (row, tail) = rest.split_at(rest.find(')').map_or(rest.len(), |at| at + 1));
    let rows: Vec<String> = (0..rows).map(|n| shifted(row, n * width)).collect();
    format!("{head}{}{tail}", rows.join(", "))
}

/// A row, or another piece of SQL, with its marks counted from further on.
pub fn shifted(row: &str, by: usize) -> String {
    let mut parts = row.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (mark, rest) = part.split_at(end);
        let mark = mark.parse::<usize>().unwrap_or_default() + by;
        // A string takes everything.
        let _ = write!(text, "?{mark}{rest}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::for_rows;

    #[test]
    fn a_statement_for_a_row_becomes_one_for_many() {
        let one = "INSERT INTO words (id, n, word) VALUES (?1, 0, ?2) ON CONFLICT (id) DO NOTHING";
        assert_eq!(for_rows(one, 2, 1), one);
        assert_eq!(
            for_rows(one, 2, 3),
            "INSERT INTO words (id, n, word) VALUES (?1, 0, ?2), (?3, 0, ?4), (?5, 0, ?6) ON CONFLICT (id) DO NOTHING"
        );
    }
}
