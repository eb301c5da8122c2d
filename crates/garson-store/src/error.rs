//! Storage errors: a closed set of kinds, with what failed and why.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// The result of a storage function.
pub type Result<T> = std::result::Result<T, StoreError>;

/// A failure of storage.
#[derive(Clone, Debug)]
pub struct StoreError {
    pub kind: StoreErrorKind,
    /// What failed, in words for an operator.
    operation: Cow<'static, str>,
    cause: Option<Arc<Cause>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The database is unreachable, full or overloaded; a later retry may succeed.
    Unavailable,
    /// Another transaction interfered; the engine retries by itself.
    Conflict,
    /// A constraint of the schema was violated.
    Constraint,
    /// Stored data cannot be decoded.
    Corrupt,
    /// The database must not be used: it is newer than this program, or another server has it.
    Refused,
    /// A bug: a statement that does not fit the schema.
    Internal,
}

/// The error below a [`StoreError`]. Its text is part of the message, so the source of a `StoreError` is the source of its cause.
#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[error("{}", postgres_message(.0))]
    Postgres(#[source] tokio_postgres::Error),
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

/// The message of the server, without the prefix that the client library puts before it.
fn postgres_message(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |db| db.message().to_owned())
}

impl Cause {
    fn below(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its own source repeats the message of the server.
            Self::Postgres(error) if error.as_db_error().is_some() => None,
            Self::Postgres(error) => error.source(),
            other => other.source(),
        }
    }
}

impl StoreError {
    fn new(kind: StoreErrorKind, operation: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            operation: operation.into(),
            cause: None,
        }
    }

    pub fn unavailable(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StoreErrorKind::Unavailable, operation)
    }

    pub fn conflict(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StoreErrorKind::Conflict, operation)
    }

    pub fn corrupt(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StoreErrorKind::Corrupt, operation)
    }

    pub fn refused(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StoreErrorKind::Refused, operation)
    }

    pub fn internal(operation: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StoreErrorKind::Internal, operation)
    }

    /// The database did not answer in time.
    pub(crate) fn timed_out() -> Self {
        Self::unavailable("the database does not answer")
    }

    /// Adds the error that made the operation fail.
    #[must_use]
    pub fn caused_by(mut self, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Arc::new(Cause::Other(error.into())));
        self
    }

    /// May the same job succeed if it is tried again?
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unavailable | StoreErrorKind::Conflict)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(f, "{}: {cause}", self.operation),
            None => f.write_str(&self.operation),
        }
    }
}

/// Errors are equal if they read the same.
impl PartialEq for StoreError {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.to_string() == other.to_string()
    }
}

impl Eq for StoreError {}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref()?.below()
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let kind = match error.sqlite_error_code() {
            Some(Code::ConstraintViolation) => StoreErrorKind::Constraint,
            Some(
                Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::DiskFull
                | Code::SystemIoFailure
                | Code::CannotOpen
                | Code::OutOfMemory
                | Code::ReadOnly
                | Code::PermissionDenied,
            ) => StoreErrorKind::Unavailable,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => StoreErrorKind::Corrupt,
            _ => StoreErrorKind::Internal,
        };
        Self {
            cause: Some(Arc::new(Cause::Sqlite(error))),
            ..Self::new(kind, "SQLite")
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let kind = match error.code() {
            Some(state) => kind_of_sql_state(state.code()),
            // No reply from the server: the connection was lost, or a value did not fit its column.
            None if error.is_closed()
                || error.source().is_some_and(|source| source.is::<std::io::Error>()) =>
            {
                StoreErrorKind::Unavailable
            }
            None => StoreErrorKind::Internal,
        };
        Self {
            cause: Some(Arc::new(Cause::Postgres(error))),
            ..Self::new(kind, "PostgreSQL")
        }
    }
}

fn kind_of_sql_state(code: &str) -> StoreErrorKind {
    let is_in_class = |classes: &[&str]| classes.iter().any(|class| code.starts_with(class));
    match code {
        // A lock was not available in time, where a statement waits for a limited time.
        "40001" | "40P01" | "55P03" => StoreErrorKind::Conflict,
        // A read-only stand-by; a client that was idle within a transaction.
        "25006" | "25P03" => StoreErrorKind::Unavailable,
        "3D000" => StoreErrorKind::Refused,
        _ if is_in_class(&["23"]) => StoreErrorKind::Constraint,
        // Connection, resources, operator intervention, system error.
        _ if is_in_class(&["08", "53", "57", "58"]) => StoreErrorKind::Unavailable,
        _ if is_in_class(&["28"]) => StoreErrorKind::Refused,
        _ => StoreErrorKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn message_names_operation_and_cause_once() {
        let inner = io::Error::other(io::Error::from(io::ErrorKind::NotFound));
        let error = StoreError::unavailable("cannot open garson.db").caused_by(inner);
        let mut texts = vec![error.to_string()];
        let mut source = error.source();
        while let Some(error) = source {
            texts.push(error.to_string());
            source = error.source();
        }
        assert_eq!(
            texts.first().map(String::as_str),
            Some("cannot open garson.db: entity not found")
        );
        assert!(StoreError::unavailable("full").source().is_none());
    }

    #[test]
    fn sqlite_error_keeps_its_text() {
        let error = StoreError::from(rusqlite::Error::QueryReturnedNoRows);
        assert_eq!(error.to_string(), "SQLite: Query returned no rows");
        assert_eq!(error.kind, StoreErrorKind::Internal);
    }
}
