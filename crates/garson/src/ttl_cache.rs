//! A bounded cache with expiry: the reader says how old an entry may be, and the oldest entry is evicted when the cache is full.

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;
use tokio::time::Instant;

pub struct TtlCache<K, V> {
    capacity: usize,
    entries: Mutex<Entries<K, V>>,
}

struct Entries<K, V> {
    by_key: HashMap<K, Entry<V>>,
    /// Keys by the sequence number of their last insertion; the first one is evicted first.
    by_age: BTreeMap<u64, K>,
    next: u64,
}

struct Entry<V> {
    sequence: u64,
    stored_at: Instant,
    value: V,
}

impl<K: Clone + Eq + Hash, V: Clone> TtlCache<K, V> {
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            entries: Mutex::new(Entries {
                by_key: HashMap::new(),
                by_age: BTreeMap::new(),
                next: 0,
            }),
        }
    }

    /// The value of a key, if it was stored less than `max_age` ago.
    pub fn get(&self, key: &K, max_age: Duration) -> Option<V> {
        let entries = self.entries.lock();
        let entry = entries.by_key.get(key)?;
        (entry.stored_at.elapsed() < max_age).then(|| entry.value.clone())
    }

    pub fn put(&self, key: K, value: V) {
        self.put_at(key, value, Instant::now());
    }

    /// Stores a value that was obtained earlier.
    pub fn put_at(&self, key: K, value: V, stored_at: Instant) {
        let mut entries = self.entries.lock();
        let sequence = entries.next;
        entries.next += 1;
        let entry = Entry {
            sequence,
            stored_at,
            value,
        };
        if let Some(replaced) = entries.by_key.insert(key.clone(), entry) {
            entries.by_age.remove(&replaced.sequence);
        }
        entries.by_age.insert(sequence, key);
        while entries.by_key.len() > self.capacity
            && let Some((_, oldest)) = entries.by_age.pop_first()
        {
            entries.by_key.remove(&oldest);
        }
    }

    pub fn clear(&self) {
        let mut entries = self.entries.lock();
        entries.by_key.clear();
        entries.by_age.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn full_cache_evicts_the_entry_that_was_stored_first() {
        let cache = TtlCache::new(2);
        cache.put("a", 1);
        cache.put("b", 2);
        cache.put("a", 3);
        cache.put("c", 4);
        assert_eq!(cache.get(&"a", MINUTE), Some(3), "it was stored again after b");
        assert_eq!(cache.get(&"b", MINUTE), None);
        assert_eq!(cache.get(&"c", MINUTE), Some(4));
        let entries = cache.entries.lock();
        assert_eq!((entries.by_key.len(), entries.by_age.len()), (2, 2));
    }

    #[test]
    fn entry_expires_by_the_age_that_the_reader_accepts() {
        let cache = TtlCache::new(2);
        let a_minute_ago = Instant::now().checked_sub(MINUTE).unwrap();
        cache.put_at("a", 1, a_minute_ago);
        assert_eq!(cache.get(&"a", MINUTE), None);
        assert_eq!(cache.get(&"a", 2 * MINUTE), Some(1));
        cache.clear();
        assert_eq!(cache.get(&"a", 2 * MINUTE), None);
    }
}
