//! The attempts in flight of all accounts, and which one loses its slot when another account has none.

use super::endpoint::SLOW_AFTER;
use super::held::Held;
use super::receiver::Receiver;
use super::slots::SlotKind;
use garson_core::id::{EndpointId, EventId, NodeId};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// An attempt is not cancelled for another account before it has had this long.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Why an attempt is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// Other deliveries wait for its slot: it counts as timed out.
    Preempted,
    /// It goes to an address that the account no longer has: it does not count.
    AddressChanged,
}

/// An event is in flight to an endpoint once per node id; an attempt under an earlier id of this node may still be in flight.
pub type Key = (NodeId, EndpointId, EventId);

struct InFlightAttempt {
    receiver: Receiver,
    kind: SlotKind,
    began: Instant,
    /// None when it was cancelled.
    cancel: Option<oneshot::Sender<CancelReason>>,
}

#[derive(Default)]
pub struct InFlightAttempts(HashMap<Key, InFlightAttempt>);

impl InFlightAttempts {
    /// Registers an attempt; the receiver tells it to cancel.
    pub fn begin(
        &mut self,
        key: Key,
        receiver: Receiver,
        kind: SlotKind,
        began: Instant,
    ) -> oneshot::Receiver<CancelReason> {
        let (cancel, cancelled) = oneshot::channel();
        let attempt = InFlightAttempt {
            receiver,
            kind,
            began,
            cancel: Some(cancel),
        };
        self.0.insert(key, attempt);
        cancelled
    }

    /// Removes an attempt that has ended; returns the kind of its slot.
    pub fn end(&mut self, key: Key) -> Option<SlotKind> {
        self.0.remove(&key).map(|attempt| attempt.kind)
    }

    pub fn cancel(&mut self, key: Key, reason: CancelReason) {
        let cancel = self.0.get_mut(&key).and_then(|attempt| attempt.cancel.take());
        if let Some(cancel) = cancel {
            // It may have just ended.
            let _ = cancel.send(reason);
        }
    }

    /// The oldest slow first attempt: it can move to a slot for troubled receivers.
    pub fn slow(&self, now: Instant) -> Option<Key> {
        let attempts = self.0.iter();
        attempts
            .filter(|(_, it)| it.kind == SlotKind::First && now.duration_since(it.began) >= SLOW_AFTER)
            .min_by_key(|(_, it)| it.began)
            .map(|(key, _)| *key)
    }

    pub fn set_kind(&mut self, key: Key, kind: SlotKind) {
        if let Some(attempt) = self.0.get_mut(&key) {
            attempt.kind = kind;
        }
    }

    /// How many slots of a kind are held, without cancelled attempts; and the number of those.
    fn held(&self, kind: SlotKind) -> (Held, usize) {
        let (mut held, mut ending) = (Held::default(), 0);
        for attempt in self.0.values().filter(|it| it.kind == kind) {
            match attempt.cancel {
                Some(_) => held.add(attempt.receiver, 1),
                None => ending += 1,
            }
        }
        (held, ending)
    }

    /// How many slots are held that count when a slot of this kind is assigned: also those that first attempts moved to.
    pub fn counted(&self, kind: SlotKind) -> Held {
        let (mut held, _) = self.held(kind);
        if kind == SlotKind::First {
            for (receiver, count) in self.held(SlotKind::Troubled).0.into_receivers() {
                held.add(receiver, count);
            }
        }
        held
    }

    /// The attempt that loses its slot to a waiting receiver: the oldest of the account with the most slots of this kind, if it
    /// has at least two more than that of the waiting one; otherwise the oldest of another endpoint of the same account that has
    /// at least two more than the waiting one. None while enough attempts are cancelled for all that wait. `hangs_after` says
    /// after what time an attempt at a receiver counts as hanging.
    pub fn victim(
        &self,
        kind: SlotKind,
        (waiting, wait): (Receiver, usize),
        now: Instant,
        hangs_after: impl Fn(Receiver) -> Duration,
    ) -> Option<Key> {
        let (held, ending) = self.held(kind);
        if ending >= wait {
            return None;
        }
        let own = held.by_account(waiting.account);
        let candidates = || {
            let attempts = self.0.iter();
            attempts
                .filter(|(_, it)| it.kind == kind && it.cancel.is_some())
                .filter(|(_, it)| now.duration_since(it.began) >= LEAST_TIME)
        };
        let of_the_largest = candidates()
            .filter(|(_, it)| held.by_account(it.receiver.account) >= own + 2)
            .max_by_key(|(_, it)| (held.by_account(it.receiver.account), now.duration_since(it.began)))
            .map(|(key, _)| *key);
        let own = held.by_receiver(waiting);
        let of_the_largest = of_the_largest.or_else(|| {
            candidates()
                .filter(|(_, it)| it.receiver.account == waiting.account)
                .filter(|(_, it)| held.by_receiver(it.receiver) >= own + 2)
                .max_by_key(|(_, it)| (held.by_receiver(it.receiver), now.duration_since(it.began)))
                .map(|(key, _)| *key)
        });
        match kind {
            SlotKind::First => of_the_largest.or_else(|| self.hanging((waiting, wait), now, hangs_after)),
            SlotKind::Retry | SlotKind::Troubled => of_the_largest,
        }
    }

    /// The attempt that makes room for a receiver without any in flight, even where every receiver holds only one slot: the
    /// oldest that hangs. It may be in a slot for troubled receivers, to which a slow first attempt then moves.
    fn hanging(
        &self,
        (waiting, wait): (Receiver, usize),
        now: Instant,
        hangs_after: impl Fn(Receiver) -> Duration,
    ) -> Option<Key> {
        // If no first attempt is slow, one ends soon anyway.
        self.slow(now)?;
        let concerned = || self.0.iter().filter(|(_, it)| it.kind != SlotKind::Retry);
        let ending = concerned().filter(|(_, it)| it.cancel.is_none()).count();
        if ending >= wait || concerned().any(|(_, it)| it.receiver == waiting) {
            return None;
        }
        concerned()
            .filter(|(_, it)| it.cancel.is_some())
            .filter(|(_, it)| now.duration_since(it.began) >= hangs_after(it.receiver).max(LEAST_TIME))
            .min_by_key(|(_, it)| it.began)
            .map(|(key, _)| *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::AccountId;
    use garson_core::time::Timestamp;

    fn account(n: u128) -> Receiver {
        Receiver::default_of(AccountId(uuid::Uuid::from_u128(n)))
    }

    fn key() -> Key {
        (
            NodeId::at(Timestamp::from_millis(1)),
            EndpointId(uuid::Uuid::nil()),
            EventId::at(Timestamp::from_millis(2)),
        )
    }

    fn victim(
        attempts: &InFlightAttempts,
        kind: SlotKind,
        waiting: u128,
        wait: usize,
        now: Instant,
    ) -> Option<Key> {
        attempts.victim(kind, (account(waiting), wait), now, |_| Duration::ZERO)
    }

    #[test]
    fn account_with_the_most_slots_loses_its_oldest_attempt() {
        let (mut attempts, began) = (InFlightAttempts::default(), Instant::now());
        let mut cancelled = Vec::new();
        for (n, count) in [(1, 5), (2, 9), (3, 1)] {
            for i in 0..count {
                let began = began + Duration::from_millis(10 * i);
                cancelled.push(attempts.begin(key(), account(n), SlotKind::First, began));
            }
        }
        let now = began + Duration::from_millis(900);
        assert!(
            victim(&attempts, SlotKind::First, 9, 1, now).is_none(),
            "all are young"
        );
        let now = began + Duration::from_secs(2);
        assert!(victim(&attempts, SlotKind::Retry, 9, 1, now).is_none());
        let first = victim(&attempts, SlotKind::First, 9, 1, now);
        let Some(first) = first else {
            panic!("nothing was found")
        };
        attempts.cancel(first, CancelReason::Preempted);
        assert_eq!(
            cancelled.get_mut(5).map(|it| it.try_recv()),
            Some(Ok(CancelReason::Preempted))
        );
        assert!(
            victim(&attempts, SlotKind::First, 9, 1, now).is_none(),
            "one is ending for the one that waits"
        );
        assert!(victim(&attempts, SlotKind::First, 9, 2, now).is_some());
        // An account that holds as many itself waits until one ends.
        assert!(victim(&attempts, SlotKind::First, 2, 2, now).is_none());
        assert_eq!(attempts.end(first), Some(SlotKind::First));
        assert_eq!(attempts.end(first), None);
    }

    #[test]
    fn account_without_a_slot_gets_one_although_each_other_holds_only_one() {
        let (mut attempts, began) = (InFlightAttempts::default(), Instant::now());
        let mut keys = Vec::new();
        let mut cancelled = Vec::new();
        for n in 0..6 {
            let kind = if n < 2 {
                SlotKind::Troubled
            } else {
                SlotKind::First
            };
            let began = began + Duration::from_millis(10 * n);
            let key = key();
            keys.push(key);
            cancelled.push(attempts.begin(key, account(u128::from(n)), kind, began));
        }
        let late = key();
        let _late = attempts.begin(late, account(7), SlotKind::Retry, began);
        // Accounts whose only attempt has moved do not go before one that has none.
        assert!((0..6).all(|n| attempts.counted(SlotKind::First).by_receiver(account(n)) == 1));
        assert_eq!(attempts.counted(SlotKind::Retry).into_receivers().count(), 1);
        let young = began + Duration::from_millis(900);
        assert_eq!(victim(&attempts, SlotKind::First, 9, 1, young), None);
        let now = began + Duration::from_secs(2);
        assert_eq!(victim(&attempts, SlotKind::First, 9, 1, now), Some(keys[0]));
        assert_eq!(victim(&attempts, SlotKind::First, 5, 1, now), None, "it has one");
        assert_eq!(victim(&attempts, SlotKind::Retry, 9, 1, now), None);
        assert_eq!(victim(&attempts, SlotKind::Troubled, 9, 1, now), None);
        // A receiver that usually takes long does not count as hanging.
        let slow = |of: Receiver| {
            if of == account(0) {
                Duration::from_secs(3)
            } else {
                Duration::ZERO
            }
        };
        let spared = attempts.victim(SlotKind::First, (account(9), 1), now, slow);
        assert_eq!(spared, Some(keys[1]));
        attempts.cancel(keys[0], CancelReason::Preempted);
        assert_eq!(
            victim(&attempts, SlotKind::First, 9, 1, now),
            None,
            "one is ending"
        );
        assert_eq!(victim(&attempts, SlotKind::First, 9, 2, now), Some(keys[1]));
        // Its slot is of use only if a first attempt is slow and can move there.
        for key in keys.iter().skip(2) {
            attempts.end(*key);
        }
        assert_eq!(victim(&attempts, SlotKind::First, 9, 2, now), None);
    }

    #[test]
    fn hanging_endpoint_makes_room_for_another_one_of_its_account() {
        let (mut attempts, began) = (InFlightAttempts::default(), Instant::now());
        let of = AccountId(uuid::Uuid::from_u128(1));
        let endpoint = |n| Receiver {
            account: of,
            endpoint: EndpointId(uuid::Uuid::from_u128(n)),
        };
        let mut cancelled = Vec::new();
        let mut keys = Vec::new();
        for n in 0..3 {
            let key = key();
            keys.push(key);
            cancelled.push(attempts.begin(
                key,
                endpoint(7),
                SlotKind::First,
                began + Duration::from_millis(n),
            ));
        }
        let now = began + Duration::from_secs(2);
        let victim =
            |waiting| attempts.victim(SlotKind::First, (waiting, 1), now, |_| Duration::from_secs(60));
        assert_eq!(victim(endpoint(8)), Some(keys[0]));
        assert_eq!(victim(endpoint(7)), None, "the hanging endpoint gets no more");
    }
}
