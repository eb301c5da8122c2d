//! Tells the worker that makes calls where there may be something to do, and waiting clients that a call of their order ended.

use garson_core::id::{IntegrationId, OrderId};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Where calls may have become due.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hints {
    pub integrations: HashSet<IntegrationId>,
    /// It is not known where.
    pub anywhere: bool,
}

/// Wakes the worker that makes calls.
#[derive(Debug, Default)]
pub struct CallWaker {
    hints: Mutex<Hints>,
    notify: Notify,
}

impl CallWaker {
    /// Calls of an integration have been written, or may be made now.
    pub fn look_at(&self, integration: IntegrationId) {
        let mut hints = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        hints.integrations.insert(integration);
        drop(hints);
        self.notify.notify_one();
    }

    /// Anything may have become due: another node has gone, or the clock was set.
    pub fn look_everywhere(&self) {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).anywhere = true;
        self.notify.notify_one();
    }

    pub(crate) fn take(&self) -> Hints {
        std::mem::take(&mut *self.hints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) async fn woken(&self) {
        self.notify.notified().await;
    }
}

/// Clients that wait for a call of an order to end.
#[derive(Debug, Default)]
pub struct OrderWaiters(Mutex<HashMap<OrderId, Arc<Notify>>>);

/// A client that waits; others are not woken for its order, nor it for theirs.
pub struct OrderWaiter<'a> {
    all: &'a OrderWaiters,
    order: OrderId,
    ended: Arc<Notify>,
}

impl OrderWaiters {
    pub fn join(&self, order: OrderId) -> OrderWaiter<'_> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        OrderWaiter {
            all: self,
            order,
            ended: Arc::clone(waiting.entry(order).or_default()),
        }
    }

    /// A call of the order has ended.
    pub fn wake(&self, order: OrderId) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ended) = waiting.get(&order) {
            ended.notify_waiters();
        }
    }
}

impl OrderWaiter<'_> {
    /// A call of the order has ended since this was asked for, if it is enabled at once.
    pub fn ended(&self) -> tokio::sync::futures::Notified<'_> {
        self.ended.notified()
    }
}

impl Drop for OrderWaiter<'_> {
    fn drop(&mut self) {
        let mut waiting = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One is in the map, and one is this waiter's.
        if waiting
            .get(&self.order)
            .is_some_and(|ended| Arc::strong_count(ended) <= 2)
        {
            waiting.remove(&self.order);
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
    async fn only_those_who_wait_for_the_order_are_woken() {
        let waiters = OrderWaiters::default();
        let (one, two) = (OrderId(Uuid::now_v7()), OrderId(Uuid::now_v7()));
        let (first, second, other) = (waiters.join(one), waiters.join(one), waiters.join(two));
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
    fn nothing_is_left_of_those_who_have_gone() {
        let waiters = OrderWaiters::default();
        let order = OrderId(Uuid::now_v7());
        let (first, second) = (waiters.join(order), waiters.join(order));
        drop(first);
        assert_eq!(waiters.0.lock().unwrap().len(), 1);
        drop(second);
        assert_eq!(waiters.0.lock().unwrap().len(), 0);
    }

    #[test]
    fn hints_are_taken_once() {
        let waker = CallWaker::default();
        let integration = IntegrationId(Uuid::now_v7());
        waker.look_at(integration);
        waker.look_at(integration);
        assert_eq!(waker.take().integrations.len(), 1);
        assert_eq!(waker.take(), Hints::default());
    }
}
