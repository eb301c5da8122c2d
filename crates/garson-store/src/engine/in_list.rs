//! Statements about many things at once: always of the same few lengths, so that each is prepared once.

use crate::Result;
use crate::engine::{Param, Tx};

/// Rows that are removed with one statement.
const AT_ONCE: usize = 50;

/// The marks of so many parameters from a number on: `?3, ?4, ?5`.
pub fn marks(first: usize, count: usize) -> String {
    let marks: Vec<String> = (first..first + count).map(|n| format!("?{n}")).collect();
    marks.join(", ")
}

/// Things for so many marks; the last one stands in for those that are missing.
pub fn filled<T>(things: &[T], count: usize) -> impl Iterator<Item = &T> {
    things.iter().chain(things.last().into_iter().cycle()).take(count)
}

/// Removes the rows of a table whose column has one of these values. They stand in the statement, so that a table of any size
/// is asked for just these.
pub fn remove<'a, T>(tx: &mut Tx<'_>, table: &str, column: &str, values: &'a [T]) -> Result<()>
where
    Param<'a>: From<&'a T>,
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
    fn what_is_missing_is_stood_in_for() {
        assert_eq!(marks(3, 2), "?3, ?4");
        assert_eq!(filled(&[1, 2], 4).collect::<Vec<_>>(), [&1, &2, &2, &2]);
        assert_eq!(filled(&[1, 2, 3], 2).collect::<Vec<_>>(), [&1, &2]);
        assert_eq!(filled::<u8>(&[], 2).count(), 0);
    }
}
