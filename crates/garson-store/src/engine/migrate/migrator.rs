//! What migrations need of a connection.

use crate::engine::session::Session;
use crate::error::StoreError;
use std::time::Duration;

/// What migrations need of a connection.
pub trait Migrator: Session + Sized {
    /// Can no other process use the database? Then whatever would block others is done at the start.
    const IS_ALONE: bool;

    /// Does the work in a transaction that excludes other migrators. With a limit, statements fail with a conflict that wait for
    /// a lock for longer.
    fn exclusively(
        &mut self,
        lock_timeout: Option<Duration>,
        work: &mut dyn FnMut(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
    /// Reserves tables for changes, without blocking those that read and write. May wait for longer than the limit, which holds again
    /// afterwards.
    fn reserve(&mut self, tables: &[&str], lock_timeout: Duration) -> Result<(), StoreError>;
    /// Runs a script of several statements.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
}
