//! Requests that wait for a platform to answer: for a call of an order to end, or for a restaurant's stores to change.

use garson_core::id::OrderId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

#[derive(Debug)]
pub struct CallWaiters<K: Copy + Eq + Hash = OrderId>(Mutex<HashMap<K, Arc<Notify>>>);

/// One waiting request; it is woken for its own order only.
pub struct CallWaiter<'a, K: Copy + Eq + Hash = OrderId> {
    all: &'a CallWaiters<K>,
    of: K,
    ended: Arc<Notify>,
}

impl<K: Copy + Eq + Hash> Default for CallWaiters<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash> CallWaiters<K> {
    pub fn register(&self, of: K) -> CallWaiter<'_, K> {
        CallWaiter {
            all: self,
            of,
            ended: Arc::clone(self.0.lock().entry(of).or_default()),
        }
    }

    /// Wakes the requests that wait for a call of this order.
    pub fn wake(&self, of: K) {
        if let Some(ended) = self.0.lock().get(&of) {
            ended.notify_waiters();
        }
    }
}

impl<K: Copy + Eq + Hash> CallWaiter<'_, K> {
    /// Completes when a call of the order ends. Enable it before checking the call, so that no end is missed.
    pub fn ended(&self) -> Notified<'_> {
        self.ended.notified()
    }
}

impl<K: Copy + Eq + Hash> Drop for CallWaiter<'_, K> {
    fn drop(&mut self) {
        let mut waiting = self.all.0.lock();
        // One reference is in the map, and one is this waiter's.
        if waiting
            .get(&self.of)
            .is_some_and(|ended| Arc::strong_count(ended) <= 2)
        {
            waiting.remove(&self.of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::time::Duration;
    use uuid::Uuid;

    #[tokio::test]
    async fn only_waiters_of_the_order_are_woken() {
        let waiters = CallWaiters::default();
        let (one, two) = (OrderId(Uuid::now_v7()), OrderId(Uuid::now_v7()));
        let (first, second, other) = (
            waiters.register(one),
            waiters.register(one),
            waiters.register(two),
        );
        let (mut a, mut b, mut c) = (pin!(first.ended()), pin!(second.ended()), pin!(other.ended()));
        for waiting in [a.as_mut(), b.as_mut(), c.as_mut()] {
            waiting.enable();
        }
        waiters.wake(one);
        let time = Duration::from_millis(1);
        assert!(tokio::time::timeout(time, a).await.is_ok());
        assert!(tokio::time::timeout(time, b).await.is_ok());
        assert!(tokio::time::timeout(time, c).await.is_err());
    }

    #[test]
    fn last_waiter_of_an_order_removes_its_entry() {
        let waiters = CallWaiters::default();
        let order = OrderId(Uuid::now_v7());
        let (first, second) = (waiters.register(order), waiters.register(order));
        drop(first);
        assert_eq!(waiters.0.lock().len(), 1);
        drop(second);
        assert_eq!(waiters.0.lock().len(), 0);
    }
}
