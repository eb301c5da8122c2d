//! API calls that are not stored yet. They are written in batches, so that a call waits for no statement; a crash loses those of the
//! last second.

use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use garson_store::tables::request_log::{KEPT, LoggedCall};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};

/// How many calls wait at most, of all accounts: some megabytes.
const MAX_WAITING: usize = 20_000;
/// Bits of a number that tell the calls of nodes apart, and those that count the calls of a millisecond.
const NODE_BITS: u32 = 8;
const COUNT_BITS: u32 = 12;

/// The waiting calls of an account, oldest first.
pub struct WaitingCalls {
    pub account: AccountId,
    pub calls: VecDeque<LoggedCall>,
}

#[derive(Debug)]
pub struct RequestLog {
    waiting: Mutex<Waiting>,
    /// Tells this node's numbers from those of others. If two nodes draw the same one, a call is lost if both number one of the same
    /// account in the same way.
    node: i64,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The last number, without the node's bits.
    last: i64,
    count: usize,
    accounts: HashMap<AccountId, VecDeque<LoggedCall>>,
}

impl Default for RequestLog {
    #[expect(clippy::disallowed_methods, reason = "must differ from node to node")]
    fn default() -> Self {
        let draw = getrandom::u32().unwrap_or_default();
        Self {
            waiting: Mutex::default(),
            node: i64::from(draw % (1 << NODE_BITS)),
        }
    }
}

impl RequestLog {
    /// Adds a call, whose number is set here. Returns how many calls were dropped for it.
    pub(crate) fn add(&self, account: AccountId, now: Timestamp, call: LoggedCall) -> usize {
        let mut waiting = self.waiting.lock();
        let by_time = now.as_millis().saturating_mul(1 << COUNT_BITS);
        waiting.last = by_time.max(waiting.last.saturating_add(1));
        let number = waiting.last.saturating_mul(1 << NODE_BITS) | self.node;
        waiting.add(account, VecDeque::from([LoggedCall { number, ..call }]))
    }

    /// Takes what is not stored yet, by account: nodes lock the rows of several accounts in the same order.
    pub(crate) fn take(&self) -> Vec<WaitingCalls> {
        let taken = {
            let mut waiting = self.waiting.lock();
            waiting.count = 0;
            std::mem::take(&mut waiting.accounts)
        };
        let mut taken: Vec<WaitingCalls> = taken
            .into_iter()
            .map(|(account, calls)| WaitingCalls { account, calls })
            .collect();
        taken.sort_by_key(|it| it.account);
        taken
    }

    /// Puts back what could not be stored. Returns how many calls were dropped.
    pub(crate) fn put_back(&self, account: AccountId, mut calls: VecDeque<LoggedCall>) -> usize {
        let mut waiting = self.waiting.lock();
        let newer = waiting.accounts.remove(&account).unwrap_or_default();
        waiting.count -= newer.len();
        calls.extend(newer);
        waiting.add(account, calls)
    }
}

impl Waiting {
    fn add(&mut self, account: AccountId, calls: VecDeque<LoggedCall>) -> usize {
        let kept = usize::try_from(KEPT).unwrap_or(usize::MAX);
        let of_account = self.accounts.entry(account).or_default();
        self.count += calls.len();
        of_account.extend(calls);
        // Older ones would not be kept in the table either, so they are not lost.
        let trimmed = of_account.len().saturating_sub(kept);
        // Accounts do not take each other's place.
        let excess = (self.count - trimmed)
            .saturating_sub(MAX_WAITING)
            .min(of_account.len() - trimmed);
        of_account.drain(..trimmed + excess);
        self.count -= trimmed + excess;
        if of_account.is_empty() {
            self.accounts.remove(&account);
        }
        excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::KeyId;

    fn call(path: &str) -> LoggedCall {
        let at = Timestamp::from_millis(1);
        LoggedCall {
            number: 0,
            at,
            key: KeyId::at(at),
            key_name: "kasa".to_owned(),
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: None,
            status: 200,
            code: None,
            duration_ms: 1,
            size: None,
            request_id: "r".to_owned(),
            address: None,
        }
    }

    fn account(n: i64) -> AccountId {
        AccountId::at(Timestamp::from_millis(n))
    }

    fn paths(calls: &VecDeque<LoggedCall>) -> Vec<&str> {
        calls.iter().map(|it| it.path.as_str()).collect()
    }

    #[test]
    fn numbers_grow_while_the_clock_stands_still_or_goes_back() {
        let log = RequestLog::default();
        let one = account(1);
        for (now, path) in [(5, "a"), (5, "b"), (4, "c"), (6, "d")] {
            assert_eq!(log.add(one, Timestamp::from_millis(now), call(path)), 0);
        }
        let taken = log.take();
        let calls = &taken[0].calls;
        assert_eq!(paths(calls), ["a", "b", "c", "d"]);
        assert!(
            calls
                .iter()
                .zip(calls.iter().skip(1))
                .all(|(a, b)| a.number < b.number)
        );
        assert!(log.take().is_empty());
    }

    #[test]
    fn account_keeps_its_last_calls_and_loses_none_to_others() {
        let log = RequestLog::default();
        let (busy, quiet) = (account(1), account(2));
        let now = Timestamp::from_millis(1);
        assert_eq!(log.add(quiet, now, call("quiet")), 0);
        for n in 0..1_500 {
            assert_eq!(log.add(busy, now, call(&n.to_string())), 0);
        }
        let taken = log.take();
        let of = |account| &taken.iter().find(|it| it.account == account).unwrap().calls;
        assert_eq!(paths(of(quiet)), ["quiet"]);
        assert_eq!(of(busy).len(), 1_000);
        assert_eq!(of(busy)[0].path, "500");
    }

    #[test]
    fn memory_is_bounded_and_dropped_calls_are_counted() {
        let log = RequestLog::default();
        let now = Timestamp::from_millis(1);
        let add = |n: usize| log.add(account(i64::try_from(n).unwrap()), now, call("x"));
        let dropped: usize = (0..MAX_WAITING).map(add).sum();
        assert_eq!(dropped, 0);
        // A new account has no older call to drop, one that waits already loses its oldest.
        assert_eq!(add(MAX_WAITING), 1);
        assert_eq!(add(0), 1);
        let count: usize = log.take().iter().map(|it| it.calls.len()).sum();
        assert_eq!(count, MAX_WAITING);
    }

    #[test]
    fn calls_that_were_put_back_stay_in_order() {
        let log = RequestLog::default();
        let (one, now) = (account(1), Timestamp::from_millis(1));
        log.add(one, now, call("a"));
        log.add(one, now, call("b"));
        let taken = log.take().remove(0);
        log.add(one, now, call("c"));
        assert_eq!(log.put_back(one, taken.calls), 0);
        assert_eq!(paths(&log.take()[0].calls), ["a", "b", "c"]);
    }
}
