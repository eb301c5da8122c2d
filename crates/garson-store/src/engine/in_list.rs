//! Lists of parameters in statements: always of the same few lengths, so that each statement is prepared once.

use super::tx::{Hooks, Tx};
use super::value::Param;
use crate::error::StoreError;
use std::fmt::Write;

/// Rows that are deleted with one statement.
const AT_ONCE: usize = 50;

/// Parameter marks from a number on: `?3, ?4, ?5`.
pub fn marks(first: usize, count: usize) -> String {
    let marks: Vec<String> = (first..first + count).map(|n| format!("?{n}")).collect();
    marks.join(", ")
}

/// A piece of SQL with its parameter marks numbered from further on.
pub fn shifted(sql: &str, by: usize) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (mark, rest) = part.split_at(end);
        let mark = mark.parse::<usize>().unwrap_or_default() + by;
        // Writing to a string cannot fail.
        let _ = write!(text, "?{mark}{rest}");
    }
    text
}

/// Values for so many marks; the last one is repeated for those that are missing.
pub fn filled<T>(values: &[T], count: usize) -> impl Iterator<Item = &T> {
    values.iter().chain(values.last().into_iter().cycle()).take(count)
}

/// Deletes the rows of a table whose column has one of these values.
pub fn remove<'a, T, H>(
    tx: &mut Tx<'_, H>,
    table: &str,
    column: &str,
    values: &'a [T],
) -> Result<(), StoreError>
where
    Param<'a>: From<&'a T>,
    H: Hooks,
{
    let sql = format!("DELETE FROM {table} WHERE {column} IN ({})", marks(1, AT_ONCE));
    for some in values.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        tx.write(&sql, &params)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_value_is_repeated() {
        assert_eq!(marks(3, 2), "?3, ?4");
        assert_eq!(filled(&[1, 2], 4).collect::<Vec<_>>(), [&1, &2, &2, &2]);
        assert_eq!(filled(&[1, 2, 3], 2).collect::<Vec<_>>(), [&1, &2]);
        assert_eq!(filled::<u8>(&[], 2).count(), 0);
    }

    #[test]
    fn marks_are_renumbered() {
        assert_eq!(shifted("a = ?1 AND b > ?12", 3), "a = ?4 AND b > ?15");
    }
}
