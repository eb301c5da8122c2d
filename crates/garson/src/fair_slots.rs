//! Slots that accounts share fairly: a free slot goes to the account that holds the fewest, and one account holds only a part
//! of all. Work that has just failed also gets only a part of the slots, since it is likely to hang again.

use garson_core::id::AccountId;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use tokio::sync::oneshot;

#[derive(Clone, Copy, Debug)]
pub struct SlotLimits {
    pub total: usize,
    pub per_account: usize,
    /// Slots that retries after a failure may hold.
    pub failing: usize,
}

#[derive(Debug)]
pub struct FairSlots {
    limits: SlotLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    held: usize,
    held_by_failing: usize,
    held_by: HashMap<AccountId, usize>,
    waiting: BTreeMap<AccountId, Queue>,
    /// The account that got the last slot; among equals the next one after it is served.
    served_last: Option<AccountId>,
}

#[derive(Debug, Default)]
struct Queue {
    healthy: VecDeque<oneshot::Sender<Permit>>,
    failing: VecDeque<oneshot::Sender<Permit>>,
}

/// A slot, until it is dropped.
#[derive(Debug)]
pub struct Permit {
    slots: Arc<FairSlots>,
    account: AccountId,
    is_failing: bool,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.slots.release(self.account, self.is_failing);
        self.slots.grant();
    }
}

impl FairSlots {
    #[must_use]
    pub fn new(limits: SlotLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            state: Mutex::default(),
        })
    }

    /// Waits for a slot; dropping the future leaves the queue.
    pub async fn acquire(self: &Arc<Self>, account: AccountId, is_failing: bool) -> Permit {
        loop {
            let (grant, granted) = oneshot::channel();
            {
                let mut state = self.state.lock();
                let queue = state.waiting.entry(account).or_default();
                if is_failing {
                    queue.failing.push_back(grant);
                } else {
                    queue.healthy.push_back(grant);
                }
            }
            self.grant();
            // A sender is dropped only after it sent a permit, or with all slots: then it is tried again.
            if let Ok(permit) = granted.await {
                return permit;
            }
        }
    }

    /// A slot if one is free now and the account holds less than its part.
    #[must_use]
    pub fn try_acquire(self: &Arc<Self>, account: AccountId) -> Option<Permit> {
        let mut state = self.state.lock();
        let is_free = state.held < self.limits.total && state.held_by(account) < self.limits.per_account;
        is_free.then(|| self.permit(&mut state, account, false))
    }

    fn permit(self: &Arc<Self>, state: &mut State, account: AccountId, is_failing: bool) -> Permit {
        state.held += 1;
        state.held_by_failing += usize::from(is_failing);
        *state.held_by.entry(account).or_default() += 1;
        Permit {
            slots: Arc::clone(self),
            account,
            is_failing,
        }
    }

    fn release(&self, account: AccountId, is_failing: bool) {
        let mut state = self.state.lock();
        state.held = state.held.saturating_sub(1);
        state.held_by_failing = state.held_by_failing.saturating_sub(usize::from(is_failing));
        if let Some(held) = state.held_by.get_mut(&account) {
            *held = held.saturating_sub(1);
            if *held == 0 {
                state.held_by.remove(&account);
            }
        }
    }

    /// Hands out the free slots.
    fn grant(self: &Arc<Self>) {
        loop {
            let (grant, permit) = {
                let mut state = self.state.lock();
                let Some((grant, account, is_failing)) = state.next(self.limits) else {
                    return;
                };
                let permit = self.permit(&mut state, account, is_failing);
                (grant, permit)
            };
            // Outside of the lock: a permit whose receiver is gone is dropped here, which releases its slot and grants it again.
            let _ = grant.send(permit);
        }
    }
}

impl State {
    fn held_by(&self, account: AccountId) -> usize {
        self.held_by.get(&account).copied().unwrap_or(0)
    }

    fn next(&mut self, limits: SlotLimits) -> Option<(oneshot::Sender<Permit>, AccountId, bool)> {
        if self.held >= limits.total {
            return None;
        }
        let may_fail = self.held_by_failing < limits.failing;
        self.waiting.retain(|_, queue| {
            queue.healthy.retain(|grant| !grant.is_closed());
            queue.failing.retain(|grant| !grant.is_closed());
            !queue.healthy.is_empty() || !queue.failing.is_empty()
        });
        let is_eligible = |(account, queue): &(&AccountId, &Queue)| {
            self.held_by(**account) < limits.per_account
                && (!queue.healthy.is_empty() || (may_fail && !queue.failing.is_empty()))
        };
        let after = self.served_last.map_or(Bound::Unbounded, Bound::Excluded);
        let up_to = self.served_last.map_or(Bound::Unbounded, Bound::Included);
        let mut in_turn = self.waiting.range((after, Bound::Unbounded));
        let mut again = match self.served_last {
            Some(_) => Some(self.waiting.range((Bound::Unbounded, up_to))),
            None => None,
        };
        let account = in_turn
            .by_ref()
            .chain(again.iter_mut().flatten())
            .filter(is_eligible)
            .map(|(account, _)| *account)
            .min_by_key(|account| self.held_by(*account))?;
        let queue = self.waiting.get_mut(&account)?;
        let (grant, is_failing) = match queue.healthy.pop_front() {
            Some(grant) => (grant, false),
            None => (queue.failing.pop_front()?, true),
        };
        self.served_last = Some(account);
        Some((grant, account, is_failing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    const LIMITS: SlotLimits = SlotLimits {
        total: 8,
        per_account: 4,
        failing: 4,
    };

    fn account(n: u128) -> AccountId {
        AccountId(uuid::Uuid::from_u128(n))
    }

    type Waiting = Pin<Box<dyn Future<Output = Permit>>>;

    fn wait(slots: &Arc<FairSlots>, account: AccountId, is_failing: bool) -> Waiting {
        let slots = Arc::clone(slots);
        let mut waiting: Waiting = Box::pin(async move { slots.acquire(account, is_failing).await });
        assert!(
            ready(&mut waiting).is_none() || !is_failing,
            "the case wants a queue"
        );
        waiting
    }

    fn ready(waiting: &mut Waiting) -> Option<Permit> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    fn take(slots: &Arc<FairSlots>, account: AccountId, is_failing: bool) -> Option<Permit> {
        let slots = Arc::clone(slots);
        ready(&mut (Box::pin(async move { slots.acquire(account, is_failing).await }) as Waiting))
    }

    #[test]
    fn account_with_many_waiting_holds_only_its_part() {
        let slots = FairSlots::new(LIMITS);
        let held: Vec<_> = (0..300).filter_map(|_| take(&slots, account(1), false)).collect();
        assert_eq!(held.len(), 4);
        assert!(
            take(&slots, account(2), false).is_some(),
            "another account finds one at once"
        );
        assert!(slots.try_acquire(account(1)).is_none());
        assert!(slots.try_acquire(account(2)).is_some());
    }

    #[test]
    fn failing_work_leaves_slots_for_healthy_work() {
        let slots = FairSlots::new(LIMITS);
        let held: Vec<_> = (0..100).filter_map(|n| take(&slots, account(n), true)).collect();
        assert_eq!(held.len(), 4);
        assert!(take(&slots, account(200), false).is_some());
    }

    #[test]
    fn free_slot_goes_to_the_account_that_holds_the_fewest() {
        let slots = FairSlots::new(SlotLimits { total: 4, ..LIMITS });
        let mut held: Vec<_> = (0..4).filter_map(|_| take(&slots, account(1), false)).collect();
        assert_eq!(held.len(), 4);
        let mut many: Vec<_> = (0..5).map(|_| wait(&slots, account(1), false)).collect();
        let mut two = wait(&slots, account(2), false);
        let mut three = wait(&slots, account(3), false);
        held.pop();
        let two = ready(&mut two);
        assert!(two.is_some());
        held.pop();
        let three = ready(&mut three);
        assert!(three.is_some());
        drop((two, three));
        let granted: Vec<_> = many.iter_mut().filter_map(ready).collect();
        assert_eq!(granted.len(), 2, "nothing is left free");
    }

    #[test]
    fn abandoned_wait_takes_no_slot() {
        let slots = FairSlots::new(SlotLimits { total: 1, ..LIMITS });
        let held = take(&slots, account(1), false);
        drop(wait(&slots, account(2), false));
        let granted = wait(&slots, account(3), false);
        drop(held);
        drop(granted);
        assert!(
            take(&slots, account(4), false).is_some(),
            "also one that was granted and not taken"
        );
    }
}
