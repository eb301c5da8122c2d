//! Reads rows by declared columns, in the order of the select list, instead of by column number.

use crate::Result;
use crate::engine::{FromColumn, Row};

/// A cursor over the columns of a row, from left to right.
pub struct Cells<'r, 'a> {
    row: &'r Row<'a>,
    next: usize,
}

impl<'r, 'a> Cells<'r, 'a> {
    #[inline]
    pub fn new(row: &'r Row<'a>) -> Self {
        Self { row, next: 0 }
    }

    #[inline]
    fn advance(&mut self) -> usize {
        let index = self.next;
        self.next += 1;
        index
    }

    /// The next column.
    #[inline]
    pub fn read<T: FromColumn>(&mut self) -> Result<T> {
        let index = self.advance();
        self.row.get(index)
    }

    /// The next column as text, borrowed from the row.
    #[inline]
    pub fn text(&mut self) -> Result<&'r str> {
        let index = self.advance();
        self.row.text(index)
    }

    /// The next column as text or NULL, borrowed from the row.
    #[inline]
    pub fn optional_text(&mut self) -> Result<Option<&'r str>> {
        let index = self.advance();
        self.row.optional_text(index)
    }
}

/// Makes a reader of cells a reader of whole rows.
pub fn each<T>(mut read: impl FnMut(&mut Cells<'_, '_>) -> Result<T>) -> impl FnMut(&Row<'_>) -> Result<T> {
    move |row: &Row<'_>| read(&mut Cells::new(row))
}

/// The first column of a row, usually its only one.
#[inline]
pub fn value<T: FromColumn>(row: &Row<'_>) -> Result<T> {
    row.get(0)
}

/// The first columns of a row as a tuple.
#[inline]
pub fn tuple<T: FromCells>(row: &Row<'_>) -> Result<T> {
    T::from_cells(&mut Cells::new(row))
}

/// A tuple of column types.
pub trait FromCells: Sized {
    fn from_cells(cells: &mut Cells<'_, '_>) -> Result<Self>;
}

macro_rules! tuples {
    ($(($($column:ident)*))*) => {$(
        impl<$($column: FromColumn),*> FromCells for ($($column,)*) {
            #[inline]
            fn from_cells(cells: &mut Cells<'_, '_>) -> Result<Self> {
                Ok(($(cells.read::<$column>()?,)*))
            }
        }
    )*};
}

tuples! { (A B) (A B C) (A B C D) (A B C D E) }

/// Declares the columns that a reader needs, as a select list and as the reader itself:
///
/// ```ignore
/// columns! {
///     const NODE = "n." of nodes { id, name, heartbeats: i64 = "n.beats" }
///     fn node() -> Node { Ok(Node { id, name, heartbeats }) }
/// }
/// ```
///
/// makes `NODE` the text `n.id, n.name, n.beats` and `node` a function of [`Cells`] whose body sees each column under its
/// name. A column needs a type only where the body does not determine it. Arguments of the function follow the cells.
macro_rules! columns {
    (
        $(#[$list_meta:meta])*
        $vis:vis const $list:ident = $prefix:literal of $table:ident {
            $first:ident $(: $first_type:ty)? $(= $first_sql:literal)?
            $(, $column:ident $(: $type:ty)? $(= $sql:literal)?)* $(,)?
        }
        $(#[$read_meta:meta])*
        fn $read:ident($($arg:ident: $arg_type:ty),*) -> $row_type:ty $body:block
    ) => {
        $(#[$list_meta])*
        $vis const $list: &str = concat!(
            $crate::tables::row::columns!(@sql $prefix $first $(= $first_sql)?)
            $(, ", ", $crate::tables::row::columns!(@sql $prefix $column $(= $sql)?))*
        );
        const _: () = {
            $crate::tables::row::columns!(@check $table $first $(= $first_sql)?);
            $($crate::tables::row::columns!(@check $table $column $(= $sql)?);)*
        };
        $(#[$read_meta])*
        $vis fn $read(
            cells: &mut $crate::tables::row::Cells<'_, '_>
            $(, $arg: $arg_type)*
        ) -> $crate::Result<$row_type> {
            let $first $(: $first_type)? = cells.read()?;
            $(let $column $(: $type)? = cells.read()?;)*
            $body
        }
    };
    (@sql $prefix:literal $column:ident) => { concat!($prefix, stringify!($column)) };
    (@sql $prefix:literal $column:ident = $sql:literal) => { $sql };
    (@check $table:ident $column:ident) => {
        assert!(
            $crate::tables::schema::has_column(stringify!($table), stringify!($column)),
            concat!(stringify!($table), " has no column ", stringify!($column)),
        )
    };
    (@check $table:ident $column:ident = $sql:literal) => {};
}

/// The text of declared columns, for an insert whose rows are written together: `column_list!(nodes { id, name })`.
macro_rules! column_list {
    ($table:ident { $first:ident $(, $column:ident)* $(,)? }) => {{
        const _: () = {
            $crate::tables::row::columns!(@check $table $first);
            $($crate::tables::row::columns!(@check $table $column);)*
        };
        concat!(stringify!($first) $(, ", ", stringify!($column))*)
    }};
}

/// Inserts one row, each column beside its value, and returns how many rows were written:
///
/// ```ignore
/// insert!(tx, nodes { id: &id, name: name, beats: 0 }, "ON CONFLICT (id) DO NOTHING")
/// ```
macro_rules! insert {
    ($tx:expr, $table:ident { $($column:ident: $value:expr),* $(,)? } $(, $tail:literal)?) => {{
        const _: () = { $($crate::tables::row::columns!(@check $table $column);)* };
        const SQL: &str = $crate::tables::row::insert!(
            @sql $table [$(" " $tail)?] [] [] [$($column)*]
            ["?1" "?2" "?3" "?4" "?5" "?6" "?7" "?8" "?9" "?10" "?11" "?12" "?13" "?14" "?15" "?16"]
        );
        $tx.execute(SQL, $crate::params![$($value),*])
    }};
    // Pairs the next column with the next mark.
    (@sql $table:ident $tail:tt [$($name:ident)*] [$($mark:literal)*] [$column:ident $($columns:ident)*]
     [$next:literal $($more:literal)*]) => {
        $crate::tables::row::insert!(
            @sql $table $tail [$($name)* $column] [$($mark)* $next] [$($columns)*] [$($more)*]
        )
    };
    (@sql $table:ident [$($tail:literal)*] [$name:ident $($names:ident)*] [$mark:literal $($marks:literal)*] []
     $unused:tt) => {
        concat!(
            "INSERT INTO ", stringify!($table), " (", stringify!($name) $(, ", ", stringify!($names))*,
            ") VALUES (", $mark $(, ", ", $marks)*, ")" $(, $tail)*
        )
    };
}

pub(crate) use {column_list, columns, insert};
