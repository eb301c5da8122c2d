//! Parameters and columns, for both engines.

use crate::error::StoreError;
use std::error::Error;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut};

/// A parameter of a statement, `?1`, `?2` …
#[derive(Clone, Copy, Debug)]
pub enum Param<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl Param<'_> {
    /// Its approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Null | Self::Int(_) | Self::Real(_) => size_of::<i64>(),
            Self::Text(text) => text.len(),
            Self::Blob(blob) => blob.len(),
        }
    }
}

macro_rules! params_from {
    ($($from:ty => $make:expr;)*) => {$(
        impl<'a> From<$from> for Param<'a> {
            fn from(value: $from) -> Self {
                let make: fn($from) -> Param<'a> = $make;
                make(value)
            }
        }
    )*};
}

params_from! {
    i64 => Param::Int;
    f64 => Param::Real;
    bool => |b| Param::Int(i64::from(b));
    &'a str => Param::Text;
    &'a String => |s| Param::Text(s.as_str());
    &'a [u8] => Param::Blob;
    &'a Vec<u8> => |b| Param::Blob(b.as_slice());
    &'a [u8; 32] => |b| Param::Blob(b.as_slice());
    garson_core::time::Timestamp => |t| Param::Int(t.as_millis());
    garson_core::money::Minor => |m| Param::Int(m.0);
    garson_core::order::Status => |s| Param::Int(s.code());
    &'a garson_core::money::Currency => |c| Param::Text(c.as_str());
    garson_core::payment::PaymentType => |p| Param::Text(p.as_str());
    &'a garson_core::platform::Provider => |p| Param::Text(p.as_str());
}

impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Param::Null, Into::into)
    }
}

macro_rules! params_from_ids {
    ($($id:ident)*) => {$(
        impl<'a> From<&'a garson_core::id::$id> for Param<'a> {
            fn from(id: &'a garson_core::id::$id) -> Self {
                Param::Blob(id.as_bytes())
            }
        }

        impl FromColumn for garson_core::id::$id {
            fn from_column(value: Column<'_>) -> Option<Self> {
                match value {
                    Column::Blob(bytes) => uuid::Uuid::from_slice(bytes).ok().map(Self),
                    _ => None,
                }
            }
        }
    )*};
}

params_from_ids! { AccountId KeyId UserId BusinessId RestaurantId IntegrationId PackageId OrderId EventId CallId InboxId ResendId PrinterId PrintJobId ProductId PricePushId CatalogPushId ChannelId MessageId ErasureId EndpointId NodeId }

/// Makes a parameter list: `params![id, name]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::engine::Param::from($value)),*] };
}

impl<'a> Param<'a> {
    fn for_sqlite(self) -> rusqlite::types::ToSqlOutput<'a> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(int),
            Self::Real(real) => ValueRef::Real(real),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(blob) => ValueRef::Blob(blob),
        })
    }
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(self.for_sqlite())
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) => int.to_sql_checked(ty, out),
            Self::Real(real) => real.to_sql_checked(ty, out),
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Blob(blob) => blob.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

/// The value of a column.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A type that a column can be decoded to.
pub trait FromColumn: Sized {
    fn from_column(value: Column<'_>) -> Option<Self>;
}

macro_rules! from_columns {
    ($($ty:ty, $pattern:pat => $value:expr;)*) => {$(
        impl FromColumn for $ty {
            fn from_column(value: Column<'_>) -> Option<Self> {
                match value {
                    $pattern => $value,
                    _ => None,
                }
            }
        }
    )*};
}

from_columns! {
    i64, Column::Int(int) => Some(int);
    f64, Column::Real(real) => Some(real);
    bool, Column::Int(int) => Some(int != 0);
    String, Column::Text(text) => Some(text.to_owned());
    Vec<u8>, Column::Blob(blob) => Some(blob.to_vec());
    garson_core::time::Timestamp, Column::Int(int) => Some(Self::from_millis(int));
    garson_core::money::Minor, Column::Int(int) => Some(Self(int));
    garson_core::order::Status, Column::Int(int) => Self::from_code(int);
    garson_core::money::Currency, Column::Text(text) => text.parse().ok();
    garson_core::payment::PaymentType, Column::Text(text) => Self::named(text);
    garson_core::platform::Provider, Column::Text(text) => text.parse().ok();
    garson_core::explanation::Explanation, Column::Text(text) => Some(Self::read(text));
    garson_core::order::TimelineReason, Column::Text(text) => Some(Self::read(text));
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(value: Column<'_>) -> Option<Self> {
        match value {
            Column::Null => Some(None),
            other => T::from_column(other).map(Some),
        }
    }
}

/// A row of a result.
pub enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The value of a column, by its index in the select list.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, StoreError> {
        T::from_column(self.column(index)?).ok_or_else(|| unexpected(index))
    }

    /// The text of a column, borrowed.
    pub fn text(&self, index: usize) -> Result<&str, StoreError> {
        self.optional_text(index)?.ok_or_else(|| unexpected(index))
    }

    /// The text of a column that may be null, borrowed.
    pub fn optional_text(&self, index: usize) -> Result<Option<&str>, StoreError> {
        match self.column(index)? {
            Column::Text(text) => Ok(Some(text)),
            Column::Null => Ok(None),
            _ => Err(unexpected(index)),
        }
    }

    #[inline]
    fn column(&self, index: usize) -> Result<Column<'_>, StoreError> {
        match self {
            Self::Sqlite(row) => sqlite_column(row, index),
            Self::Postgres(row) => postgres_column(row, index),
        }
    }
}

#[cold]
fn unexpected(index: usize) -> StoreError {
    StoreError::corrupt(format!("column {index} has an unexpected value"))
}

#[inline]
fn sqlite_column<'a>(row: &'a rusqlite::Row<'_>, index: usize) -> Result<Column<'a>, StoreError> {
    use rusqlite::types::ValueRef;
    Ok(match row.get_ref(index)? {
        ValueRef::Null => Column::Null,
        ValueRef::Integer(int) => Column::Int(int),
        ValueRef::Real(real) => Column::Real(real),
        ValueRef::Text(text) => Column::Text(
            std::str::from_utf8(text).map_err(|_| StoreError::corrupt("stored text is not UTF-8"))?,
        ),
        ValueRef::Blob(blob) => Column::Blob(blob),
    })
}

fn postgres_column(row: &tokio_postgres::Row, index: usize) -> Result<Column<'_>, StoreError> {
    let column = row
        .columns()
        .get(index)
        .ok_or_else(|| StoreError::internal(format!("no column {index}")))?;
    let value = match *column.type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map(Column::Int),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(index)?.map(Column::Real),
        Type::BYTEA => row.try_get::<_, Option<&[u8]>>(index)?.map(Column::Blob),
        Type::TEXT => row.try_get::<_, Option<&str>>(index)?.map(Column::Text),
        ref other => {
            return Err(StoreError::internal(format!(
                "column {index} has the type {other}"
            )));
        }
    };
    Ok(value.unwrap_or(Column::Null))
}

/// An owned parameter or column.
#[derive(Clone, Debug, PartialEq)]
pub enum Owned {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<Param<'_>> for Owned {
    fn from(param: Param<'_>) -> Self {
        match param {
            Param::Null => Self::Null,
            Param::Int(int) => Self::Int(int),
            Param::Real(real) => Self::Real(real),
            Param::Text(text) => Self::Text(text.to_owned()),
            Param::Blob(blob) => Self::Blob(blob.to_vec()),
        }
    }
}

impl FromColumn for Owned {
    fn from_column(column: Column<'_>) -> Option<Self> {
        Some(match column {
            Column::Null => Self::Null,
            Column::Int(int) => Self::Int(int),
            Column::Real(real) => Self::Real(real),
            Column::Text(text) => Self::Text(text.to_owned()),
            Column::Blob(blob) => Self::Blob(blob.to_vec()),
        })
    }
}

impl<'a> From<&'a Owned> for Param<'a> {
    fn from(value: &'a Owned) -> Self {
        match value {
            Owned::Null => Self::Null,
            Owned::Int(int) => Self::Int(*int),
            Owned::Real(real) => Self::Real(*real),
            Owned::Text(text) => Self::Text(text),
            Owned::Blob(blob) => Self::Blob(blob),
        }
    }
}

impl rusqlite::ToSql for Owned {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(Param::from(self).for_sqlite())
    }
}

impl ToSql for Owned {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        ToSql::to_sql(&Param::from(self), ty, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
