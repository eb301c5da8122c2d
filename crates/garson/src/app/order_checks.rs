//! Orders that are being fetched from their platforms because a message said that they have changed, and those that wait
//! for it: each order once at a time, and a bounded number of each account.

use crate::fair_slots::{FairSlots, SlotLimits};
use garson_core::id::{AccountId, OrderId};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Requests at the same time.
const SLOTS: SlotLimits = SlotLimits {
    total: 64,
    per_account: 8,
    failing: 64,
};
/// Pending checks, in all and of one account. Further orders are not checked.
const MAX_PENDING: usize = 10_000;
const MAX_PENDING_OF_ACCOUNT: usize = 1_000;

pub struct OrderChecks {
    slots: Arc<FairSlots>,
    pending: Mutex<PendingChecks>,
}

impl Default for OrderChecks {
    fn default() -> Self {
        Self {
            slots: FairSlots::new(SLOTS),
            pending: Mutex::default(),
        }
    }
}

/// The answer to a request to check an order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Start,
    /// A check is pending; it will be repeated.
    Repeat,
    Full,
}

#[derive(Default)]
struct PendingChecks {
    orders: HashMap<OrderId, PendingCheck>,
    of_accounts: HashMap<AccountId, usize>,
}

struct PendingCheck {
    account: AccountId,
    /// The order has changed again since this check was requested.
    repeat: bool,
}

impl PendingChecks {
    fn add(&mut self, account: AccountId, order: OrderId) {
        let check = PendingCheck {
            account,
            repeat: false,
        };
        self.orders.insert(order, check);
        *self.of_accounts.entry(account).or_default() += 1;
    }

    fn remove(&mut self, order: OrderId) {
        let Some(PendingCheck { account, .. }) = self.orders.remove(&order) else {
            return;
        };
        if let Entry::Occupied(mut count) = self.of_accounts.entry(account) {
            match *count.get() {
                0 | 1 => {
                    count.remove();
                }
                more => *count.get_mut() = more - 1,
            }
        }
    }

    fn has_room_for(&self, account: AccountId) -> bool {
        let of_account = self.of_accounts.get(&account).copied().unwrap_or_default();
        self.orders.len() < MAX_PENDING && of_account < MAX_PENDING_OF_ACCOUNT
    }
}

impl OrderChecks {
    pub(crate) fn slots(&self) -> Arc<FairSlots> {
        Arc::clone(&self.slots)
    }

    pub(crate) fn admit(&self, account: AccountId, order: OrderId) -> Admission {
        let mut pending = self.pending();
        if let Some(check) = pending.orders.get_mut(&order) {
            check.repeat = true;
            return Admission::Repeat;
        }
        if !pending.has_room_for(account) {
            return Admission::Full;
        }
        pending.add(account, order);
        Admission::Start
    }

    /// Must a check that has ended be repeated? If not, it is removed.
    pub(crate) fn must_repeat(&self, order: OrderId) -> bool {
        let mut pending = self.pending();
        match pending.orders.get_mut(&order) {
            Some(check) if check.repeat => {
                check.repeat = false;
                true
            }
            _ => {
                pending.remove(order);
                false
            }
        }
    }

    pub(crate) fn remove(&self, order: OrderId) {
        self.pending().remove(order);
    }

    fn pending(&self) -> MutexGuard<'_, PendingChecks> {
        self.pending.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(n: usize) -> OrderId {
        OrderId(uuid::Uuid::from_u128(n as u128))
    }

    fn account(n: usize) -> AccountId {
        AccountId(uuid::Uuid::from_u128(n as u128))
    }

    #[test]
    fn order_is_checked_once_at_a_time_and_repeated_once() {
        let (checks, one, a) = (OrderChecks::default(), order(1), account(1));
        assert_eq!(checks.admit(a, one), Admission::Start);
        assert_eq!(checks.admit(a, one), Admission::Repeat);
        assert_eq!(checks.admit(a, one), Admission::Repeat);
        assert!(checks.must_repeat(one));
        assert!(!checks.must_repeat(one), "a hundred messages are one repetition");
        assert_eq!(checks.admit(a, one), Admission::Start);
    }

    #[test]
    fn pending_checks_are_bounded() {
        let checks = OrderChecks::default();
        for n in 0..MAX_PENDING {
            assert_eq!(checks.admit(account(n % 20), order(n)), Admission::Start);
        }
        assert_eq!(checks.admit(account(1), order(MAX_PENDING)), Admission::Full);
        assert_eq!(checks.admit(account(1), order(1)), Admission::Repeat);
        assert!(checks.must_repeat(order(1)));
        assert!(!checks.must_repeat(order(1)));
        assert_eq!(checks.admit(account(1), order(MAX_PENDING)), Admission::Start);
    }

    #[test]
    fn account_at_its_limit_leaves_room_for_others() {
        let checks = OrderChecks::default();
        for n in 0..MAX_PENDING_OF_ACCOUNT {
            assert_eq!(checks.admit(account(1), order(n)), Admission::Start);
        }
        let more = order(MAX_PENDING_OF_ACCOUNT);
        assert_eq!(checks.admit(account(1), more), Admission::Full);
        assert_eq!(checks.admit(account(2), more), Admission::Start);
        for n in 0..=MAX_PENDING_OF_ACCOUNT {
            // Removing one twice does not count twice.
            checks.remove(order(n));
            checks.remove(order(n));
        }
        assert!(checks.pending().of_accounts.is_empty());
        assert_eq!(checks.admit(account(1), more), Admission::Start);
    }
}
