//! The accounts in which this process has committed something, for slower work that follows commits.

use garson_core::id::AccountId;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use tokio::sync::Notify;

/// The accounts that have changed since the last [`ChangedAccounts::take`].
#[derive(Debug, Default)]
pub struct ChangedAccounts {
    accounts: Mutex<BTreeSet<AccountId>>,
    added: Notify,
}

impl ChangedAccounts {
    pub(super) fn add(&self, positions: &[(AccountId, i64)]) {
        if positions.is_empty() {
            return;
        }
        let mut accounts = self.accounts.lock();
        let was_empty = accounts.is_empty();
        accounts.extend(positions.iter().map(|(account, _)| *account));
        drop(accounts);
        if was_empty {
            self.added.notify_one();
        }
    }

    #[must_use]
    pub fn take(&self) -> BTreeSet<AccountId> {
        std::mem::take(&mut *self.accounts.lock())
    }

    /// Waits until there may be some.
    pub async fn wait(&self) {
        self.added.notified().await;
    }
}
