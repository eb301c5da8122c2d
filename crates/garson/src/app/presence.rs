//! The boards, streams, pollers and printers that are connected to this process.
//!
//! Connections of one browser session or API key count as one entry. An entry outlives its last connection for some seconds, so
//! that a reload or a reconnection is no gap, and keeps the time since which it has been there.

use garson_core::id::{AccountId, KeyId, RestaurantId};
use garson_core::presence::{Presence, PresenceKind};
use garson_core::time::Timestamp;
use garson_store::tables::sessions::SessionHash;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an entry stays after its last connection has ended.
const RECONNECT: Duration = Duration::from_secs(8);
/// A program that asks again within this time is one that polls. A till that asks once a minute is there.
const POLL_INTERVAL: Duration = Duration::from_secs(90);
/// After a start, clients have this time to reconnect; until then an absence means nothing.
const SETTLING: Duration = Duration::from_secs(15);
/// Entries of one account that are counted; more say nothing new.
const MAX_OF_ACCOUNT: usize = 1_000;

/// Who is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WatcherIdentity {
    Key(KeyId),
    Session(SessionHash),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EntryKey {
    kind: PresenceKind,
    identity: WatcherIdentity,
    restaurant: Option<RestaurantId>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    connections: usize,
    since: Timestamp,
    seen_at: Instant,
}

impl Entry {
    fn is_there(&self, kind: PresenceKind, now: Instant) -> bool {
        let stays = match kind {
            PresenceKind::Board | PresenceKind::Stream => RECONNECT,
            PresenceKind::Poller | PresenceKind::Printer => POLL_INTERVAL,
        };
        self.connections > 0 || now.saturating_duration_since(self.seen_at) < stays
    }
}

type Entries = HashMap<AccountId, BTreeMap<EntryKey, Entry>>;

/// What is connected to this process.
#[derive(Debug)]
pub struct PresenceRegistry {
    entries: Mutex<Entries>,
    began_at: Timestamp,
}

impl PresenceRegistry {
    /// The registry of a process that starts now.
    #[must_use]
    pub fn new(now: Timestamp) -> Arc<Self> {
        Arc::new(Self {
            entries: Mutex::default(),
            began_at: now,
        })
    }

    /// Registers a connection until the result is dropped.
    pub fn connect(
        self: &Arc<Self>,
        account: AccountId,
        kind: PresenceKind,
        identity: WatcherIdentity,
        restaurant: Option<RestaurantId>,
        now: Timestamp,
    ) -> Connected {
        let key = EntryKey {
            kind,
            identity,
            restaurant,
        };
        self.touch(account, key, now, 1);
        Connected {
            registry: Arc::clone(self),
            account,
            key,
        }
    }

    /// Notes a request of a program that polls, or of a printer.
    pub fn note_poll(&self, account: AccountId, kind: PresenceKind, key: KeyId, now: Timestamp) {
        let key = EntryKey {
            kind,
            identity: WatcherIdentity::Key(key),
            restaurant: None,
        };
        self.touch(account, key, now, 0);
    }

    fn touch(&self, account: AccountId, key: EntryKey, now: Timestamp, connections: usize) {
        let instant = Instant::now();
        let mut entries = self.entries.lock();
        let of_account = entries.entry(account).or_default();
        if of_account.len() >= MAX_OF_ACCOUNT && !of_account.contains_key(&key) {
            return;
        }
        let entry = of_account.entry(key).or_insert(Entry {
            connections: 0,
            since: now,
            seen_at: instant,
        });
        if !entry.is_there(key.kind, instant) {
            entry.since = now;
        }
        entry.connections += connections;
        entry.seen_at = instant;
    }

    /// What is connected for an account.
    #[must_use]
    pub fn of_account(&self, account: AccountId) -> Vec<Presence> {
        let entries = self.entries.lock();
        let found = entries.get(&account);
        found.map(|found| list(found, Instant::now())).unwrap_or_default()
    }

    /// What is connected for each account. Entries that have ended are forgotten.
    #[must_use]
    pub fn snapshot(&self) -> HashMap<AccountId, Vec<Presence>> {
        let now = Instant::now();
        let mut entries = self.entries.lock();
        entries.retain(|_, of_account| {
            of_account.retain(|key, entry| entry.is_there(key.kind, now));
            !of_account.is_empty()
        });
        let shown = entries.iter();
        shown
            .map(|(account, found)| (*account, list(found, now)))
            .collect()
    }

    /// Have the clients had the time to connect again after a start?
    #[must_use]
    pub fn is_settled(&self, now: Timestamp) -> bool {
        now.since(self.began_at) >= SETTLING
    }
}

fn list(entries: &BTreeMap<EntryKey, Entry>, now: Instant) -> Vec<Presence> {
    let there = entries
        .iter()
        .filter(|(key, entry)| entry.is_there(key.kind, now));
    let mut list: Vec<Presence> = there
        .map(|(key, entry)| Presence {
            kind: key.kind,
            restaurant: key.restaurant,
            key: match key.identity {
                WatcherIdentity::Key(key) => Some(key),
                WatcherIdentity::Session(_) => None,
            },
            connections: entry.connections.max(1),
            since: entry.since,
        })
        .collect();
    // The order must not depend on the hashes of sessions: it is compared with what was stored.
    list.sort_unstable();
    list
}

/// A connection; dropping it ends it.
#[derive(Debug)]
pub struct Connected {
    registry: Arc<PresenceRegistry>,
    account: AccountId,
    key: EntryKey,
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut entries = self.registry.entries.lock();
        let entry = entries
            .get_mut(&self.account)
            .and_then(|of| of.get_mut(&self.key));
        if let Some(entry) = entry {
            entry.connections = entry.connections.saturating_sub(1);
            entry.seen_at = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(millis: i64) -> KeyId {
        KeyId::at(Timestamp::from_millis(millis))
    }

    #[test]
    fn connections_of_one_key_are_one_entry_that_outlives_a_reconnection() {
        let registry = PresenceRegistry::new(Timestamp::from_millis(1));
        let account = AccountId::at(Timestamp::from_millis(1));
        let identity = WatcherIdentity::Key(key_of(2));
        let connect = |millis| {
            let now = Timestamp::from_millis(millis);
            registry.connect(account, PresenceKind::Stream, identity, None, now)
        };
        let (first, second) = (connect(10), connect(20));
        let found = registry.of_account(account);
        assert_eq!((found.len(), found[0].connections), (1, 2));
        assert_eq!(found[0].since, Timestamp::from_millis(10));
        drop((first, second));
        let _again = connect(30);
        let found = registry.of_account(account);
        assert_eq!((found.len(), found[0].connections), (1, 1));
        assert_eq!(found[0].since, Timestamp::from_millis(10), "a reload is no gap");
    }

    #[test]
    fn accounts_are_separate_and_entries_are_bounded() {
        let registry = PresenceRegistry::new(Timestamp::from_millis(1));
        let [one, two] = [1, 2].map(|at| AccountId::at(Timestamp::from_millis(at)));
        for at in 0..2_000 {
            registry.note_poll(one, PresenceKind::Poller, key_of(at), Timestamp::from_millis(at));
        }
        assert_eq!(registry.of_account(one).len(), MAX_OF_ACCOUNT);
        assert!(registry.of_account(two).is_empty());
        assert_eq!(registry.snapshot().len(), 1);
    }

    #[test]
    fn entry_without_connections_ends_after_its_time() {
        let entry = Entry {
            connections: 0,
            since: Timestamp::from_millis(1),
            seen_at: Instant::now(),
        };
        let later = |time| entry.seen_at + time;
        assert!(entry.is_there(PresenceKind::Board, later(RECONNECT / 2)));
        assert!(!entry.is_there(PresenceKind::Board, later(RECONNECT)));
        assert!(entry.is_there(PresenceKind::Poller, later(RECONNECT)));
        assert!(!entry.is_there(PresenceKind::Poller, later(POLL_INTERVAL)));
    }
}
