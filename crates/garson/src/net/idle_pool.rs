//! A pool of idle items with limits by owner, in total, and by age.
//!
//! It has no sockets and no clock, so that its limits can be tested without either.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// How many items an owner may have, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct IdleLimits {
    pub count: usize,
    pub time: Duration,
}

struct Idle<K, T> {
    owner: K,
    item: T,
    until: Instant,
}

pub struct IdlePool<K, T> {
    /// By an increasing number, so that the first is the oldest.
    idle: BTreeMap<u64, Idle<K, T>>,
    /// The numbers of each owner's items, oldest first. An owner without items has no entry.
    owners: HashMap<K, VecDeque<u64>>,
    next: u64,
    max: usize,
}

impl<K: Hash + Eq + Clone, T> IdlePool<K, T> {
    pub fn new(max: usize) -> Self {
        Self {
            idle: BTreeMap::new(),
            owners: HashMap::new(),
            next: 0,
            max,
        }
    }

    /// The owner's newest item that is still fit; those that are not are dropped.
    pub fn take(&mut self, owner: &K, now: Instant, is_fit: impl Fn(&T) -> bool) -> Option<T> {
        let numbers = self.owners.get_mut(owner)?;
        let mut found = None;
        while let Some(number) = numbers.pop_back() {
            found = self
                .idle
                .remove(&number)
                .filter(|idle| now < idle.until && is_fit(&idle.item));
            if found.is_some() {
                break;
            }
        }
        if numbers.is_empty() {
            self.owners.remove(owner);
        }
        found.map(|idle| idle.item)
    }

    /// Adds an item. If there are too many, the oldest is dropped.
    pub fn put(&mut self, owner: K, item: T, limits: IdleLimits, now: Instant) {
        let number = self.next;
        self.next += 1;
        let numbers = self.owners.entry(owner.clone()).or_default();
        numbers.push_back(number);
        let until = now + limits.time;
        self.idle.insert(number, Idle { owner, item, until });
        if numbers.len() > limits.count
            && let Some(oldest) = numbers.front().copied()
        {
            self.remove(oldest);
        }
        if self.idle.len() > self.max
            && let Some(oldest) = self.idle.keys().next().copied()
        {
            self.remove(oldest);
        }
    }

    /// Drops expired items and those that are not fit any more.
    pub fn sweep(&mut self, now: Instant, is_fit: impl Fn(&T) -> bool) {
        let over = self
            .idle
            .iter()
            .filter(|(_, idle)| now >= idle.until || !is_fit(&idle.item))
            .map(|(number, _)| *number);
        for number in over.collect::<Vec<_>>() {
            self.remove(number);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.idle.is_empty()
    }

    fn remove(&mut self, number: u64) {
        let Some(idle) = self.idle.remove(&number) else {
            return;
        };
        if let Some(numbers) = self.owners.get_mut(&idle.owner) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.owners.remove(&idle.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: IdleLimits = IdleLimits {
        count: 3,
        time: Duration::from_secs(4),
    };

    fn pool() -> (IdlePool<&'static str, u32>, Instant) {
        (IdlePool::new(5), Instant::now())
    }

    fn after(now: Instant, millis: u64) -> Instant {
        now + Duration::from_millis(millis)
    }

    fn all(pool: &mut IdlePool<&'static str, u32>, owner: &'static str, now: Instant) -> Vec<u32> {
        std::iter::from_fn(|| pool.take(&owner, now, |_| true)).collect()
    }

    #[test]
    fn newest_item_is_taken_first_and_once() {
        let (mut pool, now) = pool();
        for n in 1..=3 {
            pool.put("a", n, LIMITS, now);
        }
        assert!(all(&mut pool, "b", now).is_empty());
        assert_eq!(all(&mut pool, "a", now), [3, 2, 1]);
        assert!(pool.is_empty());
    }

    #[test]
    fn oldest_item_of_an_owner_is_dropped_beyond_its_limit() {
        let (mut pool, now) = pool();
        for n in 1..=5 {
            pool.put("a", n, LIMITS, now);
        }
        assert_eq!(all(&mut pool, "a", now), [5, 4, 3]);
    }

    #[test]
    fn oldest_item_is_dropped_beyond_the_total_limit() {
        let (mut pool, now) = pool();
        let owners = ["a", "b", "a", "c", "c", "d", "e"];
        for (n, owner) in (1..).zip(owners) {
            pool.put(owner, n, LIMITS, now);
        }
        assert_eq!(pool.idle.len(), 5);
        assert_eq!(all(&mut pool, "a", now), [3]);
        assert!(all(&mut pool, "b", now).is_empty());
        assert_eq!(all(&mut pool, "c", now), [5, 4]);
        assert_eq!(all(&mut pool, "d", now), [6]);
        assert_eq!(all(&mut pool, "e", now), [7]);
    }

    #[test]
    fn expired_item_is_not_taken() {
        let (mut pool, now) = pool();
        pool.put("a", 1, LIMITS, now);
        pool.put("a", 2, LIMITS, after(now, 1000));
        assert_eq!(pool.take(&"a", after(now, 4999), |_| true), Some(2));
        assert_eq!(pool.take(&"a", after(now, 4999), |_| true), None);
        pool.put("a", 3, LIMITS, now);
        assert_eq!(pool.take(&"a", after(now, 3999), |_| true), Some(3));
    }

    #[test]
    fn unfit_item_is_dropped() {
        let (mut pool, now) = pool();
        for n in 1..=3 {
            pool.put("a", n, LIMITS, now);
        }
        assert_eq!(pool.take(&"a", now, |n| *n == 2), Some(2));
        assert_eq!(all(&mut pool, "a", now), [1]);
    }

    #[test]
    fn sweep_leaves_only_usable_items() {
        let (mut pool, now) = pool();
        pool.put("a", 1, LIMITS, now);
        pool.put("b", 2, LIMITS, after(now, 2000));
        pool.put("a", 3, LIMITS, after(now, 2000));
        pool.sweep(after(now, 4000), |n| *n != 2);
        assert_eq!((pool.idle.len(), pool.owners.len()), (1, 1));
        assert_eq!(all(&mut pool, "a", after(now, 4000)), [3]);
    }

    #[test]
    fn owner_without_items_has_no_entry() {
        let (mut pool, now) = pool();
        let names: Vec<&'static str> = vec!["a", "b", "c", "d", "e", "f", "g", "h"];
        for (n, name) in (0..).zip(&names) {
            pool.put(name, n, LIMITS, now);
            assert!(pool.owners.len() <= 5);
        }
        for name in &names {
            pool.take(name, now, |_| false);
        }
        assert!(pool.is_empty() && pool.owners.is_empty());
        pool.put("a", 1, LIMITS, now);
        pool.sweep(after(now, 4000), |_| true);
        assert!(pool.is_empty() && pool.owners.is_empty());
    }
}
