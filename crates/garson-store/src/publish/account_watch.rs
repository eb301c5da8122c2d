//! Wakes the watchers of an account after each commit that changes it.

use garson_core::id::AccountId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use tokio::sync::watch;

/// The watched accounts, each with its newest known position.
#[derive(Debug, Default)]
pub struct AccountWatch(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    accounts: HashMap<AccountId, WatchedAccount>,
    watchers: usize,
}

#[derive(Debug)]
struct WatchedAccount {
    position: watch::Sender<i64>,
    programs: usize,
    people: usize,
    workers: usize,
}

impl WatchedAccount {
    fn count(&mut self, kind: WatcherKind) -> &mut usize {
        match kind {
            WatcherKind::Programs => &mut self.programs,
            WatcherKind::People => &mut self.people,
            WatcherKind::Workers => &mut self.workers,
        }
    }
}

/// Programs and people have separate limits, so that neither can use up the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatcherKind {
    Programs,
    People,
    /// Workers of the service itself, which count towards no limit.
    Workers,
}

impl AccountWatch {
    /// Watches an account, if it has fewer than `of_account` watchers of this kind, and all accounts together have fewer than
    /// `of_all` watchers.
    #[must_use]
    pub fn watch(
        self: &Arc<Self>,
        account: AccountId,
        kind: WatcherKind,
        of_account: usize,
        of_all: usize,
    ) -> Option<Watcher> {
        let mut watched = self.0.lock();
        let has = watched
            .accounts
            .get_mut(&account)
            .map_or(0, |watched| *watched.count(kind));
        if kind != WatcherKind::Workers {
            if has >= of_account || watched.watchers >= of_all {
                return None;
            }
            watched.watchers += 1;
        }
        let entry = watched.accounts.entry(account).or_insert_with(|| WatchedAccount {
            position: watch::Sender::new(0),
            programs: 0,
            people: 0,
            workers: 0,
        });
        *entry.count(kind) += 1;
        Some(Watcher {
            position: entry.position.subscribe(),
            account,
            kind,
            watch: Arc::clone(self),
        })
    }

    #[must_use]
    pub fn watched_accounts(&self) -> Vec<AccountId> {
        self.0.lock().accounts.keys().copied().collect()
    }

    #[must_use]
    pub fn watcher_count(&self) -> usize {
        self.0.lock().watchers
    }

    /// Wakes the watchers of these accounts: something was committed, up to these positions.
    pub(super) fn notify(&self, positions: &[(AccountId, i64)]) {
        if positions.is_empty() {
            return;
        }
        let watched = self.0.lock();
        for (account, position) in positions {
            if let Some(watched) = watched.accounts.get(account) {
                watched
                    .position
                    .send_modify(|newest| *newest = (*newest).max(*position));
            }
        }
    }

    /// Wakes the watchers of accounts with newer positions than known here: another process has committed.
    pub fn notify_newer(&self, positions: &[(AccountId, i64)]) {
        let watched = self.0.lock();
        for (account, position) in positions {
            if let Some(watched) = watched.accounts.get(account) {
                watched.position.send_if_modified(|newest| {
                    let is_newer = *position > *newest;
                    *newest = (*newest).max(*position);
                    is_newer
                });
            }
        }
    }
}

/// A watcher of an account; dropping it ends the watch.
#[derive(Debug)]
pub struct Watcher {
    position: watch::Receiver<i64>,
    account: AccountId,
    kind: WatcherKind,
    watch: Arc<AccountWatch>,
}

impl Watcher {
    /// Marks everything committed so far as seen. To be called before reading, so that what is committed during the read counts
    /// as a change.
    pub fn mark_seen(&mut self) {
        self.position.mark_unchanged();
    }

    /// Was something committed that is not marked as seen?
    #[must_use]
    pub fn has_changed(&self) -> bool {
        // It is never closed: the sender exists as long as there is a watcher.
        self.position.has_changed().unwrap_or(false)
    }

    /// Waits until something is committed that is not marked as seen.
    pub async fn changed(&mut self) {
        // It is never closed: the sender exists as long as there is a watcher.
        let _ = self.position.changed().await;
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut watched = self.watch.0.lock();
        if self.kind != WatcherKind::Workers {
            watched.watchers = watched.watchers.saturating_sub(1);
        }
        let Entry::Occupied(mut found) = watched.accounts.entry(self.account) else {
            return;
        };
        let count = found.get_mut().count(self.kind);
        *count = count.saturating_sub(1);
        if found.get().programs + found.get().people + found.get().workers == 0 {
            found.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use garson_core::time::Timestamp;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn is_woken(watcher: &mut Watcher) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(watcher.changed()).poll(&mut context).is_ready()
    }

    #[test]
    fn commit_wakes_watchers_of_its_account() {
        let watch = Arc::new(AccountWatch::default());
        let [one, two] = [1, 2].map(|at| AccountId::at(Timestamp::from_millis(at)));
        let (mut a, mut b) = (
            watch.watch(one, WatcherKind::Programs, 9, 9).unwrap(),
            watch.watch(two, WatcherKind::People, 9, 9).unwrap(),
        );
        watch.notify(&[(one, 5)]);
        assert!(is_woken(&mut a) && !is_woken(&mut b));
        assert!(!is_woken(&mut a));
        // A position that is known here wakes no watcher.
        watch.notify_newer(&[(one, 5), (two, 1)]);
        assert!(!is_woken(&mut a) && is_woken(&mut b));
        watch.notify(&[(one, 6)]);
        a.mark_seen();
        assert!(!is_woken(&mut a));
    }

    #[test]
    fn workers_count_towards_no_limit() {
        let watch = Arc::new(AccountWatch::default());
        let account = AccountId::at(Timestamp::from_millis(1));
        let mut worker = watch.watch(account, WatcherKind::Workers, 0, 0).unwrap();
        assert_eq!((watch.watcher_count(), watch.watched_accounts().len()), (0, 1));
        watch.notify(&[(account, 1)]);
        assert!(is_woken(&mut worker));
        drop(worker);
        assert!(watch.watched_accounts().is_empty());
    }

    #[test]
    fn watchers_are_limited_and_leave_nothing_behind() {
        let watch = Arc::new(AccountWatch::default());
        let [one, two] = [1, 2].map(|at| AccountId::at(Timestamp::from_millis(at)));
        let first = watch.watch(one, WatcherKind::Programs, 2, 3).unwrap();
        let second = watch.watch(one, WatcherKind::Programs, 2, 3).unwrap();
        assert!(watch.watch(one, WatcherKind::Programs, 2, 3).is_none());
        // People have a limit of their own.
        drop(watch.watch(one, WatcherKind::People, 1, 3).unwrap());
        let third = watch.watch(two, WatcherKind::Programs, 2, 3).unwrap();
        assert!(watch.watch(two, WatcherKind::Programs, 2, 3).is_none());
        assert_eq!(watch.watcher_count(), 3);
        drop(first);
        assert_eq!(watch.watched_accounts().len(), 2);
        drop((second, third));
        assert_eq!((watch.watcher_count(), watch.watched_accounts().len()), (0, 0));
    }
}
