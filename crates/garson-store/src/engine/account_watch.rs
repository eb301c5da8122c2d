//! Who waits for news of an account is woken after the commit that made some.

use garson_core::id::AccountId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The accounts that somebody watches, each with the newest place that is known of it.
#[derive(Debug, Default)]
pub struct News(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    accounts: HashMap<AccountId, Audience>,
    watches: usize,
}

/// Those who watch one account.
#[derive(Debug)]
struct Audience {
    sender: watch::Sender<i64>,
    programs: usize,
    people: usize,
}

impl Audience {
    fn count(&mut self, crowd: Crowd) -> &mut usize {
        match crowd {
            Crowd::Programs => &mut self.programs,
            Crowd::People => &mut self.people,
        }
    }
}

/// Programs and people are counted apart, so that neither takes the other's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    Programs,
    People,
}

impl News {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches an account, if fewer than `of_account` of this crowd do, and all together are fewer than `of_all`.
    #[must_use]
    pub fn watch(
        self: &Arc<Self>,
        account: AccountId,
        crowd: Crowd,
        of_account: usize,
        of_all: usize,
    ) -> Option<Watch> {
        let mut watched = self.watched();
        let has = watched
            .accounts
            .get_mut(&account)
            .map_or(0, |audience| *audience.count(crowd));
        if has >= of_account || watched.watches >= of_all {
            return None;
        }
        watched.watches += 1;
        let audience = watched.accounts.entry(account).or_insert_with(|| Audience {
            sender: watch::Sender::new(0),
            programs: 0,
            people: 0,
        });
        *audience.count(crowd) += 1;
        Some(Watch {
            seen: audience.sender.subscribe(),
            account,
            crowd,
            news: Arc::clone(self),
        })
    }

    /// The accounts that are watched.
    #[must_use]
    pub fn accounts(&self) -> Vec<AccountId> {
        self.watched().accounts.keys().copied().collect()
    }

    /// How many watches there are.
    #[must_use]
    pub fn watches(&self) -> usize {
        self.watched().watches
    }

    /// Wakes those who watch these accounts: something has been committed, up to these places.
    pub(super) fn tell(&self, places: &[(AccountId, i64)]) {
        if places.is_empty() {
            return;
        }
        let watched = self.watched();
        for (account, place) in places {
            if let Some(audience) = watched.accounts.get(account) {
                audience
                    .sender
                    .send_modify(|newest| *newest = (*newest).max(*place));
            }
        }
    }

    /// Wakes those who watch accounts that have come further than was known here: somebody else has committed.
    pub fn compare(&self, places: &[(AccountId, i64)]) {
        let watched = self.watched();
        for (account, place) in places {
            if let Some(audience) = watched.accounts.get(account) {
                audience.sender.send_if_modified(|newest| {
                    let is_news = *place > *newest;
                    *newest = (*newest).max(*place);
                    is_news
                });
            }
        }
    }
}

/// Somebody watches an account; dropping it ends that.
#[derive(Debug)]
pub struct Watch {
    seen: watch::Receiver<i64>,
    account: AccountId,
    crowd: Crowd,
    news: Arc<News>,
}

impl Watch {
    /// Whatever is committed up to now is no news any more. Called before reading, so that what comes while it is
    /// read is news again.
    pub fn catch_up(&mut self) {
        self.seen.mark_unchanged();
    }

    /// Waits until something is committed after the last time that everything was caught up with.
    pub async fn news(&mut self) {
        // It is never closed: the sender stays while there is a watch.
        drop(self.seen.changed().await);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = self.news.watched();
        watched.watches = watched.watches.saturating_sub(1);
        let Entry::Occupied(mut found) = watched.accounts.entry(self.account) else {
            return;
        };
        let count = found.get_mut().count(self.crowd);
        *count = count.saturating_sub(1);
        if found.get().programs + found.get().people == 0 {
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

    fn is_woken(watch: &mut Watch) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(watch.news()).poll(&mut context).is_ready()
    }

    #[test]
    fn news_wakes_those_who_watch_the_account() {
        let news = Arc::new(News::default());
        let [one, two] = [1, 2].map(|at| AccountId::at(Timestamp::from_millis(at)));
        let (mut a, mut b) = (
            news.watch(one, Crowd::Programs, 9, 9).unwrap(),
            news.watch(two, Crowd::People, 9, 9).unwrap(),
        );
        news.tell(&[(one, 5)]);
        assert!(is_woken(&mut a) && !is_woken(&mut b));
        assert!(!is_woken(&mut a));
        // What was told here is no news when it is looked up.
        news.compare(&[(one, 5), (two, 1)]);
        assert!(!is_woken(&mut a) && is_woken(&mut b));
        news.tell(&[(one, 6)]);
        a.catch_up();
        assert!(!is_woken(&mut a));
    }

    #[test]
    fn watches_are_counted_and_leave_nothing_behind() {
        let news = Arc::new(News::default());
        let [one, two] = [1, 2].map(|at| AccountId::at(Timestamp::from_millis(at)));
        let first = news.watch(one, Crowd::Programs, 2, 3).unwrap();
        let second = news.watch(one, Crowd::Programs, 2, 3).unwrap();
        assert!(news.watch(one, Crowd::Programs, 2, 3).is_none());
        // People have places of their own.
        drop(news.watch(one, Crowd::People, 1, 3).unwrap());
        let third = news.watch(two, Crowd::Programs, 2, 3).unwrap();
        assert!(news.watch(two, Crowd::Programs, 2, 3).is_none());
        assert_eq!(news.watches(), 3);
        drop(first);
        assert_eq!(news.accounts().len(), 2);
        drop((second, third));
        assert_eq!((news.watches(), news.accounts().len()), (0, 0));
    }
}
