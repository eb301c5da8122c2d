//! An insert, declared by its parts, so that one statement can be made for any number of rows.

use std::fmt::Write;

/// An insert of rows whose values are parameters, except for some constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insert<'a> {
    pub table: &'a str,
    /// The columns that parameters are for, in their order.
    pub columns: &'a str,
    /// Further columns with the SQL of their values, the same in every row.
    pub constants: &'a [(&'a str, &'a str)],
    /// An `ON CONFLICT` clause, or nothing.
    pub on_conflict: &'a str,
}

impl<'a> Insert<'a> {
    /// An insert into these columns, without constants and without an `ON CONFLICT` clause.
    #[must_use]
    pub const fn into(table: &'a str, columns: &'a str) -> Self {
        Self {
            table,
            columns,
            constants: &[],
            on_conflict: "",
        }
    }

    /// The statement for so many rows with so many parameters each; `verb` is `INSERT` or an engine's own form of it.
    pub(super) fn sql(&self, verb: &str, width: usize, rows: usize) -> String {
        let mut sql = format!("{verb} INTO {} ({}", self.table, self.columns);
        for (column, _) in self.constants {
            sql.push_str(", ");
            sql.push_str(column);
        }
        sql.push_str(") VALUES ");
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 1..=width {
                let comma = if column == 1 { "" } else { ", " };
                // Writing to a string cannot fail.
                let _ = write!(sql, "{comma}?{}", row * width + column);
            }
            for (_, value) in self.constants {
                sql.push_str(", ");
                sql.push_str(value);
            }
            sql.push(')');
        }
        if !self.on_conflict.is_empty() {
            sql.push(' ');
            sql.push_str(self.on_conflict);
        }
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_repeats_the_row() {
        let insert = Insert {
            constants: &[("n", "COALESCE(NULL, 0)")],
            on_conflict: "ON CONFLICT (id) DO NOTHING",
            ..Insert::into("words", "id, word")
        };
        assert_eq!(
            insert.sql("INSERT", 2, 1),
            "INSERT INTO words (id, word, n) VALUES (?1, ?2, COALESCE(NULL, 0)) ON CONFLICT (id) DO NOTHING"
        );
        assert_eq!(
            Insert::into("words", "id, word").sql("INSERT OR FAIL", 2, 3),
            "INSERT OR FAIL INTO words (id, word) VALUES (?1, ?2), (?3, ?4), (?5, ?6)"
        );
    }
}
