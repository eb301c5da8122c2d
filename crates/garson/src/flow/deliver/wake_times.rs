//! When each account is to be handled next.

use garson_core::id::AccountId;
use std::collections::{BTreeSet, HashMap};

pub struct WakeTimes<T> {
    by_time: BTreeSet<(T, AccountId)>,
    by_account: HashMap<AccountId, T>,
}

impl<T> Default for WakeTimes<T> {
    fn default() -> Self {
        Self {
            by_time: BTreeSet::new(),
            by_account: HashMap::new(),
        }
    }
}

impl<T: Ord + Copy> WakeTimes<T> {
    pub fn set(&mut self, account: AccountId, time: Option<T>) {
        let before = match time {
            Some(time) => self.by_account.insert(account, time),
            None => self.by_account.remove(&account),
        };
        if before == time {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, account));
        }
        if let Some(time) = time {
            self.by_time.insert((time, account));
        }
    }

    pub fn clear(&mut self, account: AccountId) {
        self.set(account, None);
    }

    pub fn first(&self) -> Option<T> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Takes the accounts whose time has come.
    pub fn take_due(&mut self, now: T) -> Vec<AccountId> {
        let mut due = Vec::new();
        while let Some((time, account)) = self.by_time.first().copied() {
            if time > now {
                break;
            }
            self.clear(account);
            due.push(account);
        }
        due
    }
}
