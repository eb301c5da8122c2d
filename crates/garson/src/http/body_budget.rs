//! Memory for request bodies: each kind of sender has a budget of its own, of which an account has a share. A body is charged
//! for what has arrived of it, from then until it has been parsed. When a budget or a share is used up, the slowest of those
//! that still send are given up.

use garson_core::id::AccountId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Nobody is given up for being slow before this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked again whether somebody has become slow.
const LOOK: Duration = Duration::from_millis(50);

/// Which budget a body is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Somebody whom nobody knows yet: a form before signing in.
    Guest,
    /// A platform.
    Hook,
    /// A client with a key of this account, or one that is signed in.
    Known(AccountId),
}

impl Sender {
    /// The largest body that is taken.
    #[must_use]
    pub fn largest(self) -> usize {
        match self {
            Self::Guest => 16 * 1024,
            Self::Hook | Self::Known(_) => crate::api::MAX_BODY,
        }
    }
}

/// The budgets of all.
pub struct Budgets {
    guest: Arc<Budget>,
    hook: Arc<Budget>,
    known: Arc<Budget>,
}

impl Default for Budgets {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            guest: Budget::new(4 * MIB),
            hook: Budget::new(64 * MIB),
            known: Budget::with_shares(64 * MIB, 16 * MIB),
        }
    }
}

impl Budgets {
    /// A body begins to arrive.
    #[must_use]
    pub fn begin(&self, sender: Sender) -> Charge {
        match sender {
            Sender::Guest => self.guest.begin(None),
            Sender::Hook => self.hook.begin(None),
            Sender::Known(account) => self.known.begin(Some(account)),
        }
    }
}

/// So many bytes for all bodies of a kind.
pub struct Budget {
    limit: usize,
    /// The most that one account may hold of it.
    share: usize,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Default)]
struct State {
    used: usize,
    used_by: HashMap<AccountId, usize>,
    next: u64,
    /// Those whose bodies have not arrived whole.
    arriving: HashMap<u64, Arriving>,
}

struct Arriving {
    bytes: usize,
    account: Option<AccountId>,
    since: Instant,
    give_up: Arc<Notify>,
    is_given_up: bool,
}

impl State {
    fn used_by(&self, account: Option<AccountId>) -> usize {
        account
            .and_then(|account| self.used_by.get(&account))
            .copied()
            .unwrap_or(0)
    }

    fn give_back(&mut self, account: Option<AccountId>, bytes: usize) {
        self.used -= bytes;
        if let Some(account) = account
            && let Some(used) = self.used_by.get_mut(&account)
        {
            *used -= bytes;
            if *used == 0 {
                self.used_by.remove(&account);
            }
        }
    }
}

impl Budget {
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Self::with_shares(limit, limit)
    }

    /// A budget of which each account may hold a part.
    #[must_use]
    pub fn with_shares(limit: usize, share: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            share,
            state: Mutex::default(),
            freed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A body begins to arrive, for an account if that is known.
    #[must_use]
    pub fn begin(self: &Arc<Self>, account: Option<AccountId>) -> Charge {
        let mut state = self.lock();
        let (id, give_up) = (state.next, Arc::<Notify>::default());
        state.next += 1;
        let arriving = Arriving {
            bytes: 0,
            account,
            since: Instant::now(),
            give_up: Arc::clone(&give_up),
            is_given_up: false,
        };
        state.arriving.insert(id, arriving);
        Charge {
            budget: Arc::clone(self),
            id,
            account,
            bytes: 0,
            give_up,
        }
    }

    /// Takes so many bytes, if there are as many. If not, the slowest sender is given up, unless none is slow: one of the same
    /// account where that has used up its share.
    fn take(&self, id: u64, account: Option<AccountId>, bytes: usize) -> bool {
        let mut state = self.lock();
        let of_account = state.used_by(account);
        let is_within_share = account.is_none() || of_account.saturating_add(bytes) <= self.share;
        if is_within_share && state.used.saturating_add(bytes) <= self.limit {
            state.used += bytes;
            if let Some(account) = account {
                *state.used_by.entry(account).or_default() += bytes;
            }
            if let Some(arriving) = state.arriving.get_mut(&id) {
                arriving.bytes += bytes;
            }
            return true;
        }
        let (used, limit) = match is_within_share {
            true => (state.used, self.limit),
            false => (of_account, self.share),
        };
        let is_concerned = |it: &Arriving| is_within_share || it.account == account;
        // What those hold that have been given up and have not noticed yet.
        let leaving = state
            .arriving
            .values()
            .filter(|it| it.is_given_up && is_concerned(it));
        let leaving: usize = leaving.map(|it| it.bytes).sum();
        if used.saturating_sub(leaving).saturating_add(bytes) <= limit {
            return false;
        }
        let slowest = state
            .arriving
            .iter_mut()
            .filter(|(other, it)| **other != id && it.bytes > 0 && !it.is_given_up && is_concerned(it))
            .filter(|(_, it)| it.since.elapsed() >= PATIENCE)
            .min_by_key(|(_, it)| it.bytes as u128 * 1000 / it.since.elapsed().as_millis())
            .map(|(_, it)| it);
        if let Some(slowest) = slowest {
            slowest.is_given_up = true;
            slowest.give_up.notify_one();
        }
        false
    }
}

/// What one body has taken of its budget; given back when it is dropped.
pub struct Charge {
    budget: Arc<Budget>,
    id: u64,
    account: Option<AccountId>,
    bytes: usize,
    give_up: Arc<Notify>,
}

impl Charge {
    /// So much more has arrived; waits until there is room for it.
    pub async fn grow(&mut self, bytes: usize) {
        while !self.budget.take(self.id, self.account, bytes) {
            // Whoever frees something wakes one; a sender becomes slow without waking anybody.
            let _looked_again = tokio::time::timeout(LOOK, self.budget.freed.notified()).await;
        }
        self.bytes += bytes;
    }

    /// Resolves when this body is given up in favour of others.
    pub fn given_up(&self) -> impl Future<Output = ()> + use<> {
        let give_up = Arc::clone(&self.give_up);
        async move { give_up.notified().await }
    }

    /// All of it has arrived.
    pub fn arrived(&self) {
        self.budget.lock().arriving.remove(&self.id);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.give_back(self.account, self.bytes);
        state.arriving.remove(&self.id);
        drop(state);
        self.budget.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_costs_what_has_arrived_and_gives_it_back() {
        let budget = Budget::new(100);
        let idle: Vec<Charge> = (0..1000).map(|_| budget.begin(None)).collect();
        let mut one = budget.begin(None);
        one.grow(60).await;
        let mut other = budget.begin(None);
        other.grow(40).await;
        let mut third = budget.begin(None);
        let waiting = tokio::time::timeout(Duration::from_millis(200), third.grow(50)).await;
        assert!(waiting.is_err());
        drop(one);
        third.grow(50).await;
        drop((idle, other, third));
        assert_eq!(budget.lock().used, 0);
        assert!(budget.lock().arriving.is_empty());
    }

    #[tokio::test]
    async fn the_slowest_sender_makes_room_and_nobody_who_has_finished() {
        let budget = Budget::new(100);
        let mut done = budget.begin(None);
        done.grow(50).await;
        done.arrived();
        let mut slow = budget.begin(None);
        slow.grow(10).await;
        let mut quicker = budget.begin(None);
        quicker.grow(40).await;
        let slow_ends = tokio::spawn(async move {
            slow.given_up().await;
            drop(slow);
        });
        let mut fresh = budget.begin(None);
        tokio::time::timeout(Duration::from_secs(30), fresh.grow(10))
            .await
            .unwrap();
        slow_ends.await.unwrap();
        let kept = tokio::time::timeout(Duration::from_millis(50), quicker.given_up()).await;
        assert!(kept.is_err());
    }

    fn account(n: u128) -> Option<AccountId> {
        Some(AccountId(uuid::Uuid::from_u128(n)))
    }

    #[tokio::test]
    async fn an_account_has_a_share_and_makes_room_in_it_by_itself() {
        let budget = Budget::with_shares(100, 40);
        let mut slow = budget.begin(account(1));
        slow.grow(10).await;
        let mut done = budget.begin(account(1));
        done.grow(30).await;
        done.arrived();
        let mut more = budget.begin(account(1));
        let waiting = tokio::time::timeout(Duration::from_millis(200), more.grow(10)).await;
        assert!(waiting.is_err(), "there is room, but not for this account");
        let mut other = budget.begin(account(2));
        other.grow(10).await;
        // When the slow one can be given up, it is one of the same account.
        let slow_ends = tokio::spawn(async move {
            slow.given_up().await;
            drop(slow);
        });
        tokio::time::timeout(Duration::from_secs(30), more.grow(10))
            .await
            .unwrap();
        slow_ends.await.unwrap();
        let kept = tokio::time::timeout(Duration::from_millis(50), other.given_up()).await;
        assert!(kept.is_err());
        drop((done, more, other));
        assert_eq!(budget.lock().used, 0);
        assert!(budget.lock().used_by.is_empty());
    }
}
