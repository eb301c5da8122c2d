//! What can go wrong with storage: a closed set of kinds, each with its context in plain words.

use std::fmt;

/// A failure of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    pub kind: StoreErrorKind,
    context: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The database is away, full or overloaded; trying again later may help.
    Unavailable,
    /// Another transaction was in the way; the engine tries again by itself.
    Conflict,
    /// A rule of the schema (uniqueness) was broken.
    Constraint,
    /// What is stored cannot be understood.
    Corrupt,
    /// The database must not be used: it is newer than this program, or another server has it.
    Refused,
    /// A defect of ours: a query that does not fit the schema.
    Internal,
}

impl StoreError {
    fn new(kind: StoreErrorKind, context: impl Into<String>) -> Self {
        Self {
            kind,
            context: context.into(),
        }
    }

    pub fn unavailable(context: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Unavailable, context)
    }

    pub fn conflict(context: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Conflict, context)
    }

    pub fn corrupt(context: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Corrupt, context)
    }

    pub fn refused(context: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Refused, context)
    }

    pub fn internal(context: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Internal, context)
    }

    /// May the same job succeed if it is tried again?
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unavailable | StoreErrorKind::Conflict)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.context)
    }
}

impl std::error::Error for StoreError {}

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
        Self::new(kind, format!("SQLite: {error}"))
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(state) = error.code() else {
            // No answer from the server: the connection is gone, or a value did not fit its column.
            let kind = if error.is_closed()
                || std::error::Error::source(&error).is_some_and(|s| s.is::<std::io::Error>())
            {
                StoreErrorKind::Unavailable
            } else {
                StoreErrorKind::Internal
            };
            return Self::new(kind, format!("PostgreSQL: {error}"));
        };
        let kind = match state.code() {
            "40001" | "40P01" => StoreErrorKind::Conflict,
            code if code.starts_with("23") => StoreErrorKind::Constraint,
            // Connection, resources, operator intervention, system error, read-only stand-by, a client that was silent.
            code if ["08", "53", "57", "58"]
                .iter()
                .any(|class| code.starts_with(class))
                || code == "25006"
                || code == "25P03" =>
            {
                StoreErrorKind::Unavailable
            }
            code if code.starts_with("28") || code == "3D000" => StoreErrorKind::Refused,
            _ => StoreErrorKind::Internal,
        };
        let detail = error
            .as_db_error()
            .map_or_else(|| error.to_string(), |db| db.message().to_owned());
        Self::new(kind, format!("PostgreSQL: {detail}"))
    }
}
