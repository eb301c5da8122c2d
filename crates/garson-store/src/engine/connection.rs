//! What the threads that run jobs need of a connection.

use super::session::Session;
use crate::error::StoreError;

pub trait Connection: Session + Sized {
    /// May beginning a transaction be retried? A remote connection may have broken while it was idle, which shows only now; a
    /// local one has waited for its turn long enough.
    const RETRIES_BEGIN: bool;
    /// May others change the same rows at the same time?
    const IS_SHARED: bool;
    /// After a wrong assumption, so many batches run without any.
    const CAUTIOUS_BATCHES: u32;

    /// Begins a transaction that writes. An optimistic one assumes likely results and checks them before the commit.
    fn begin_write(&mut self, is_optimistic: bool) -> Result<(), StoreError>;
    fn begin_read(&mut self) -> Result<(), StoreError>;
    fn commit(&mut self) -> Result<(), StoreError>;
    fn roll_back(&mut self) -> Result<(), StoreError>;
    /// Runs a statement of the transaction itself.
    fn command(&mut self, sql: &'static str) -> Result<(), StoreError>;

    fn set_savepoint(&mut self) -> Result<(), StoreError> {
        self.command("SAVEPOINT job")
    }

    fn release_savepoint(&mut self) -> Result<(), StoreError> {
        self.command("RELEASE SAVEPOINT job")
    }

    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreError> {
        self.command("ROLLBACK TO SAVEPOINT job")
    }

    /// Were all assumptions since the beginning of the transaction right?
    fn assumptions_held(&mut self) -> bool;
    /// Does the transaction still exist, so that it can be committed?
    fn in_transaction(&mut self) -> bool;
    /// Makes the connection usable again if it is not; cheap when it is.
    fn ensure_usable(&mut self) -> Result<(), StoreError>;
    /// Work that can wait until the callers have their replies.
    fn after_replies(&mut self) {}
}
