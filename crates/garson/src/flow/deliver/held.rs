//! How many slots are held.

use super::receiver::Receiver;
use garson_core::id::AccountId;
use std::collections::HashMap;

/// How many slots each account and each receiver holds.
#[derive(Debug, Default)]
pub struct Held {
    accounts: HashMap<AccountId, usize>,
    receivers: HashMap<Receiver, usize>,
}

impl Held {
    pub fn by_account(&self, account: AccountId) -> usize {
        self.accounts.get(&account).copied().unwrap_or(0)
    }

    pub fn by_receiver(&self, receiver: Receiver) -> usize {
        self.receivers.get(&receiver).copied().unwrap_or(0)
    }

    pub fn add(&mut self, receiver: Receiver, count: usize) {
        *self.accounts.entry(receiver.account).or_default() += count;
        *self.receivers.entry(receiver).or_default() += count;
    }

    pub fn into_receivers(self) -> impl Iterator<Item = (Receiver, usize)> {
        self.receivers.into_iter()
    }
}
