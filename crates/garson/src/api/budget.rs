//! Memory for request bodies: each kind of sender has a budget of its own, and a body is charged for what has arrived of it,
//! from then until its request is done. When a budget is used up, the slowest of those who still send are given up.

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
    /// Somebody with a key, or who is signed in.
    Known,
}

impl Sender {
    /// The largest body that is taken.
    #[must_use]
    pub fn largest(self) -> usize {
        match self {
            Self::Guest => 16 * 1024,
            Self::Hook | Self::Known => super::MAX_BODY,
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
            known: Budget::new(64 * MIB),
        }
    }
}

impl Budgets {
    #[must_use]
    pub fn of(&self, sender: Sender) -> &Arc<Budget> {
        match sender {
            Sender::Guest => &self.guest,
            Sender::Hook => &self.hook,
            Sender::Known => &self.known,
        }
    }
}

/// So many bytes for all bodies of a kind.
pub struct Budget {
    limit: usize,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Default)]
struct State {
    used: usize,
    /// What those hold who have been given up and have not noticed yet.
    leaving: usize,
    next: u64,
    /// Those whose bodies have not arrived whole.
    arriving: HashMap<u64, Arriving>,
}

struct Arriving {
    bytes: usize,
    since: Instant,
    give_up: Arc<Notify>,
    is_given_up: bool,
}

impl State {
    /// A body does not arrive any more: it is there, or given up.
    fn forget(&mut self, id: u64) {
        if let Some(arriving) = self.arriving.remove(&id)
            && arriving.is_given_up
        {
            self.leaving -= arriving.bytes;
        }
    }
}

impl Budget {
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            state: Mutex::default(),
            freed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A body begins to arrive.
    #[must_use]
    pub fn begin(self: &Arc<Self>) -> Charge {
        let mut state = self.lock();
        let (id, give_up) = (state.next, Arc::<Notify>::default());
        state.next += 1;
        let arriving = Arriving {
            bytes: 0,
            since: Instant::now(),
            give_up: Arc::clone(&give_up),
            is_given_up: false,
        };
        state.arriving.insert(id, arriving);
        Charge {
            budget: Arc::clone(self),
            id,
            bytes: 0,
            give_up,
        }
    }

    /// Takes so many bytes, if there are as many. If not, the slowest sender is given up, unless nobody is slow.
    fn take(&self, id: u64, bytes: usize) -> bool {
        let mut state = self.lock();
        if state.used.saturating_add(bytes) <= self.limit {
            state.used += bytes;
            if let Some(arriving) = state.arriving.get_mut(&id) {
                arriving.bytes += bytes;
                if arriving.is_given_up {
                    state.leaving += bytes;
                }
            }
            return true;
        }
        if (state.used - state.leaving).saturating_add(bytes) <= self.limit {
            return false;
        }
        let slowest = state
            .arriving
            .iter_mut()
            .filter(|(other, arriving)| **other != id && arriving.bytes > 0 && !arriving.is_given_up)
            .filter(|(_, arriving)| arriving.since.elapsed() >= PATIENCE)
            .min_by_key(|(_, arriving)| arriving.bytes as u128 * 1000 / arriving.since.elapsed().as_millis())
            .map(|(_, arriving)| arriving);
        if let Some(slowest) = slowest {
            slowest.is_given_up = true;
            slowest.give_up.notify_one();
            let bytes = slowest.bytes;
            state.leaving += bytes;
        }
        false
    }
}

/// What one body has taken of its budget; given back when it is dropped.
pub struct Charge {
    budget: Arc<Budget>,
    id: u64,
    bytes: usize,
    give_up: Arc<Notify>,
}

impl Charge {
    /// So much more has arrived; waits until there is room for it.
    pub async fn grow(&mut self, bytes: usize) {
        while !self.budget.take(self.id, bytes) {
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
        self.budget.lock().forget(self.id);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.used -= self.bytes;
        state.forget(self.id);
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
        let idle: Vec<Charge> = (0..1000).map(|_| budget.begin()).collect();
        let mut one = budget.begin();
        one.grow(60).await;
        let mut other = budget.begin();
        other.grow(40).await;
        let mut third = budget.begin();
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
        let mut done = budget.begin();
        done.grow(50).await;
        done.arrived();
        let mut slow = budget.begin();
        slow.grow(10).await;
        let mut quicker = budget.begin();
        quicker.grow(40).await;
        let slow_ends = tokio::spawn(async move {
            slow.given_up().await;
            drop(slow);
        });
        let mut fresh = budget.begin();
        tokio::time::timeout(Duration::from_secs(30), fresh.grow(10))
            .await
            .unwrap();
        slow_ends.await.unwrap();
        let kept = tokio::time::timeout(Duration::from_millis(50), quicker.given_up()).await;
        assert!(kept.is_err());
    }
}
