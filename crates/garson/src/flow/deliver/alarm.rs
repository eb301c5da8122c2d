//! Moments at which something is to be done about an account.

use garson_core::id::AccountId;
use std::collections::{BTreeSet, HashMap};

/// Moments at which accounts are to be looked at.
pub struct Alarm<T> {
    moments: BTreeSet<(T, AccountId)>,
    of: HashMap<AccountId, T>,
}

impl<T> Default for Alarm<T> {
    fn default() -> Self {
        Self {
            moments: BTreeSet::new(),
            of: HashMap::new(),
        }
    }
}

impl<T: Ord + Copy> Alarm<T> {
    pub fn set(&mut self, account: AccountId, moment: Option<T>) {
        let before = match moment {
            Some(moment) => self.of.insert(account, moment),
            None => self.of.remove(&account),
        };
        if before == moment {
            return;
        }
        if let Some(before) = before {
            self.moments.remove(&(before, account));
        }
        if let Some(moment) = moment {
            self.moments.insert((moment, account));
        }
    }

    pub fn clear(&mut self, account: AccountId) {
        self.set(account, None);
    }

    pub fn first(&self) -> Option<T> {
        self.moments.first().map(|(moment, _)| *moment)
    }

    /// The accounts whose moment has come; they are not set any more.
    pub fn due(&mut self, now: T) -> Vec<AccountId> {
        let mut due = Vec::new();
        while let Some((moment, account)) = self.moments.first().copied() {
            if moment > now {
                break;
            }
            self.clear(account);
            due.push(account);
        }
        due
    }
}
