//! The accounts in which something has been committed, for those who do slower work behind it.

use garson_core::id::AccountId;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Which accounts have come further since somebody asked. What another process has committed is that one's to look after.
#[derive(Debug, Default)]
pub struct Fresh {
    accounts: Mutex<BTreeSet<AccountId>>,
    came: Notify,
}

impl Fresh {
    pub(super) fn note(&self, places: &[(AccountId, i64)]) {
        if places.is_empty() {
            return;
        }
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let was_empty = accounts.is_empty();
        accounts.extend(places.iter().map(|(account, _)| *account));
        drop(accounts);
        if was_empty {
            self.came.notify_one();
        }
    }

    /// The accounts that have come further, once.
    #[must_use]
    pub fn take(&self) -> BTreeSet<AccountId> {
        std::mem::take(&mut *self.accounts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until there may be some.
    pub async fn came(&self) {
        self.came.notified().await;
    }
}
