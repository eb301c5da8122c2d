//! A whole menu sent to a platform, and the result of its import.

mod import;
mod progress;

pub use import::{CatalogImport, CatalogLogEntry, CatalogState};
pub use progress::{CatalogAnswer, CatalogProgress, CatalogStage, OtherImport};

use crate::menu::Menu;

/// A menu for one branch, to be imported by a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogPush<'a> {
    pub menu: &'a Menu,
    /// The callback URL for the result, if any.
    pub callback_url: Option<&'a str>,
}

/// The platform has accepted a catalog and is processing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogSubmitted {
    pub import_id: String,
}
