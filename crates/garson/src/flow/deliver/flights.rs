//! The attempts under way of all accounts: whose slot is taken back when others have none.

use super::endpoint::SLOW_AFTER;
use super::slots::Kind;
use garson_core::id::{AccountId, EventId, NodeId};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// An attempt is not ended for the sake of another account before it has had so long.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Why an attempt is to end early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// Others wait for its place: it counts like one that timed out.
    Preempted,
    /// It goes to an address that is not the account's any more: it does not count.
    Moved,
}

/// An event is under way once in the time of a node id; an attempt from an earlier time may still be.
pub type Key = (NodeId, EventId);

struct InFlight {
    account: AccountId,
    kind: Kind,
    began: Instant,
    /// Nothing when it was cancelled.
    cancel: Option<oneshot::Sender<Cancel>>,
}

#[derive(Default)]
pub struct Flights(HashMap<Key, InFlight>);

impl Flights {
    /// An attempt begins; it hears here when it is to end early.
    pub fn begin(
        &mut self,
        key: Key,
        account: AccountId,
        kind: Kind,
        began: Instant,
    ) -> oneshot::Receiver<Cancel> {
        let (cancel, cancelled) = oneshot::channel();
        let flight = InFlight {
            account,
            kind,
            began,
            cancel: Some(cancel),
        };
        self.0.insert(key, flight);
        cancelled
    }

    /// An attempt has ended; answers which slot it held.
    pub fn end(&mut self, key: Key) -> Option<Kind> {
        self.0.remove(&key).map(|flight| flight.kind)
    }

    pub fn cancel(&mut self, key: Key, why: Cancel) {
        let cancel = self.0.get_mut(&key).and_then(|flight| flight.cancel.take());
        if let Some(cancel) = cancel {
            // Whoever does not hear it any more has ended.
            let _is_heard = cancel.send(why).is_ok();
        }
    }

    /// The oldest first attempt that is slow: it can go on in a slot for troubled ones.
    pub fn slow(&self, now: Instant) -> Option<Key> {
        let flights = self.0.iter();
        flights
            .filter(|(_, it)| it.kind == Kind::Fresh && now.duration_since(it.began) >= SLOW_AFTER)
            .min_by_key(|(_, it)| it.began)
            .map(|(key, _)| *key)
    }

    pub fn set_kind(&mut self, key: Key, kind: Kind) {
        if let Some(flight) = self.0.get_mut(&key) {
            flight.kind = kind;
        }
    }

    /// How many slots of a kind accounts hold, but for those that are told to end; and how many those are.
    fn held(&self, kind: Kind) -> (HashMap<AccountId, usize>, usize) {
        let (mut held, mut ending) = (HashMap::new(), 0);
        for flight in self.0.values().filter(|it| it.kind == kind) {
            match flight.cancel {
                Some(_) => *held.entry(flight.account).or_default() += 1,
                None => ending += 1,
            }
        }
        (held, ending)
    }

    /// How many slots accounts hold that count when one of this kind is given: also those that first attempts have moved to.
    pub fn counted(&self, kind: Kind) -> HashMap<AccountId, usize> {
        let (mut held, _) = self.held(kind);
        if kind == Kind::Fresh {
            for (account, count) in self.held(Kind::Troubled).0 {
                *held.entry(account).or_default() += count;
            }
        }
        held
    }

    /// The attempt whose slot an account that waits should have: the oldest of the account that has the most slots of this
    /// kind, when that has at least two more than the one that waits. Nothing while enough have been told to end for all
    /// that wait. `hangs_after` says from when on an attempt at an account's receiver is taken to hang.
    pub fn victim(
        &self,
        kind: Kind,
        (waiting, wait): (AccountId, usize),
        now: Instant,
        hangs_after: impl Fn(AccountId) -> Duration,
    ) -> Option<Key> {
        let (held, ending) = self.held(kind);
        if ending >= wait {
            return None;
        }
        let own = held.get(&waiting).copied().unwrap_or(0);
        let held_by = |account: &AccountId| held.get(account).copied().unwrap_or(0);
        let of_the_largest = self
            .0
            .iter()
            .filter(|(_, it)| it.kind == kind && it.cancel.is_some())
            .filter(|(_, it)| now.duration_since(it.began) >= LEAST_TIME)
            .filter(|(_, it)| held_by(&it.account) >= own + 2)
            .max_by_key(|(_, it)| (held_by(&it.account), now.duration_since(it.began)))
            .map(|(key, _)| *key);
        match kind {
            Kind::Fresh => of_the_largest.or_else(|| self.hanging((waiting, wait), now, hangs_after)),
            Kind::Late | Kind::Troubled => of_the_largest,
        }
    }

    /// The attempt that makes room for the first one of an account that has none under way, also where every account holds one
    /// slot: the oldest that hangs. It may be in a slot for troubled ones, into which a slow first attempt moves then.
    fn hanging(
        &self,
        (waiting, wait): (AccountId, usize),
        now: Instant,
        hangs_after: impl Fn(AccountId) -> Duration,
    ) -> Option<Key> {
        // Where no first attempt is slow, one ends soon by itself.
        self.slow(now)?;
        let concerned = || self.0.iter().filter(|(_, it)| it.kind != Kind::Late);
        let ending = concerned().filter(|(_, it)| it.cancel.is_none()).count();
        if ending >= wait || concerned().any(|(_, it)| it.account == waiting) {
            return None;
        }
        concerned()
            .filter(|(_, it)| it.cancel.is_some())
            .filter(|(_, it)| now.duration_since(it.began) >= hangs_after(it.account).max(LEAST_TIME))
            .min_by_key(|(_, it)| it.began)
            .map(|(key, _)| *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::time::Timestamp;

    fn account(n: u128) -> AccountId {
        AccountId(uuid::Uuid::from_u128(n))
    }

    fn key() -> Key {
        (
            NodeId::at(Timestamp::from_millis(1)),
            EventId::at(Timestamp::from_millis(2)),
        )
    }

    fn victim(flights: &Flights, kind: Kind, waiting: u128, wait: usize, now: Instant) -> Option<Key> {
        flights.victim(kind, (account(waiting), wait), now, |_| Duration::ZERO)
    }

    #[test]
    fn the_account_with_the_most_slots_gives_its_oldest_back() {
        let (mut flights, began) = (Flights::default(), Instant::now());
        let mut cancelled = Vec::new();
        for (n, count) in [(1, 5), (2, 9), (3, 1)] {
            for i in 0..count {
                let began = began + Duration::from_millis(10 * i);
                cancelled.push(flights.begin(key(), account(n), Kind::Fresh, began));
            }
        }
        let now = began + Duration::from_millis(900);
        assert!(
            victim(&flights, Kind::Fresh, 9, 1, now).is_none(),
            "all are young"
        );
        let now = began + Duration::from_secs(2);
        assert!(victim(&flights, Kind::Late, 9, 1, now).is_none());
        let first = victim(&flights, Kind::Fresh, 9, 1, now);
        let Some(first) = first else {
            panic!("nothing was found")
        };
        flights.cancel(first, Cancel::Preempted);
        assert_eq!(
            cancelled.get_mut(5).map(|it| it.try_recv()),
            Some(Ok(Cancel::Preempted))
        );
        assert!(
            victim(&flights, Kind::Fresh, 9, 1, now).is_none(),
            "one is ending for the one that waits"
        );
        assert!(victim(&flights, Kind::Fresh, 9, 2, now).is_some());
        // Whoever holds as many itself waits until something ends.
        assert!(victim(&flights, Kind::Fresh, 2, 2, now).is_none());
        assert_eq!(flights.end(first), Some(Kind::Fresh));
        assert_eq!(flights.end(first), None);
    }

    #[test]
    fn an_account_without_any_slot_gets_one_although_each_holds_only_one() {
        let (mut flights, began) = (Flights::default(), Instant::now());
        let mut keys = Vec::new();
        let mut cancelled = Vec::new();
        for n in 0..6 {
            let kind = if n < 2 { Kind::Troubled } else { Kind::Fresh };
            let began = began + Duration::from_millis(10 * n);
            let key = key();
            keys.push(key);
            cancelled.push(flights.begin(key, account(u128::from(n)), kind, began));
        }
        let late = key();
        let _late = flights.begin(late, account(7), Kind::Late, began);
        // Accounts whose only attempt has moved do not go before one that has none.
        assert!((0..6).all(|n| flights.counted(Kind::Fresh).get(&account(n)) == Some(&1)));
        assert_eq!(flights.counted(Kind::Late).len(), 1);
        let young = began + Duration::from_millis(900);
        assert_eq!(victim(&flights, Kind::Fresh, 9, 1, young), None);
        let now = began + Duration::from_secs(2);
        assert_eq!(victim(&flights, Kind::Fresh, 9, 1, now), Some(keys[0]));
        assert_eq!(victim(&flights, Kind::Fresh, 5, 1, now), None, "it has one");
        assert_eq!(victim(&flights, Kind::Late, 9, 1, now), None);
        assert_eq!(victim(&flights, Kind::Troubled, 9, 1, now), None);
        // A receiver that usually needs long is not taken to hang.
        let slow = |of: AccountId| match of == account(0) {
            true => Duration::from_secs(3),
            false => Duration::ZERO,
        };
        let spared = flights.victim(Kind::Fresh, (account(9), 1), now, slow);
        assert_eq!(spared, Some(keys[1]));
        flights.cancel(keys[0], Cancel::Preempted);
        assert_eq!(victim(&flights, Kind::Fresh, 9, 1, now), None, "one is ending");
        assert_eq!(victim(&flights, Kind::Fresh, 9, 2, now), Some(keys[1]));
        // Its slot is of use only if a first attempt is slow and can move there.
        for key in keys.iter().skip(2) {
            flights.end(*key);
        }
        assert_eq!(victim(&flights, Kind::Fresh, 9, 2, now), None);
    }
}
