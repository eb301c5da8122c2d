//! A platform's report about an import.

use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogImport {
    pub import_id: String,
    pub state: CatalogState,
    /// The platform's own words.
    pub message: Option<String>,
    pub details: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogState {
    InProgress,
    Done,
    DoneWithErrors,
    Failed,
    /// The platform's value is unknown.
    Unknown,
}

impl CatalogState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::DoneWithErrors => "done_with_errors",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// An entry of the platform's log of imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogLogEntry {
    pub import: CatalogImport,
    pub created_at: Option<Timestamp>,
}
