//! Where idle things lie until they are wanted again: so many for an owner, so many in all, and none for long.
//!
//! It knows no sockets and no clock, so that its bounds can be tried without either.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// What an owner may leave here.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub count: usize,
    pub time: Duration,
}

struct Idle<K, T> {
    owner: K,
    thing: T,
    until: Instant,
}

pub struct Shelf<K, T> {
    /// Numbered as they came, so that the first is the oldest.
    idle: BTreeMap<u64, Idle<K, T>>,
    /// The numbers of each owner's, oldest first. An owner of nothing has no entry.
    owners: HashMap<K, VecDeque<u64>>,
    next: u64,
    most: usize,
}

impl<K: Hash + Eq + Clone, T> Shelf<K, T> {
    pub fn new(most: usize) -> Self {
        Self {
            idle: BTreeMap::new(),
            owners: HashMap::new(),
            next: 0,
            most,
        }
    }

    /// The owner's newest that is still fit; those that are not go.
    pub fn take(&mut self, owner: &K, now: Instant, is_fit: impl Fn(&T) -> bool) -> Option<T> {
        let numbers = self.owners.get_mut(owner)?;
        let mut found = None;
        while let Some(number) = numbers.pop_back() {
            found = self
                .idle
                .remove(&number)
                .filter(|idle| now < idle.until && is_fit(&idle.thing));
            if found.is_some() {
                break;
            }
        }
        if numbers.is_empty() {
            self.owners.remove(owner);
        }
        found.map(|idle| idle.thing)
    }

    /// Lays one down. Where there are too many, the oldest goes.
    pub fn lay(&mut self, owner: K, thing: T, bounds: Bounds, now: Instant) {
        let number = self.next;
        self.next += 1;
        let numbers = self.owners.entry(owner.clone()).or_default();
        numbers.push_back(number);
        let until = now + bounds.time;
        self.idle.insert(number, Idle { owner, thing, until });
        if numbers.len() > bounds.count
            && let Some(oldest) = numbers.front().copied()
        {
            self.remove(oldest);
        }
        if self.idle.len() > self.most
            && let Some(oldest) = self.idle.keys().next().copied()
        {
            self.remove(oldest);
        }
    }

    /// Removes what is over or not fit any more.
    pub fn sweep(&mut self, now: Instant, is_fit: impl Fn(&T) -> bool) {
        let over = self
            .idle
            .iter()
            .filter(|(_, idle)| now >= idle.until || !is_fit(&idle.thing))
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

    const BOUNDS: Bounds = Bounds {
        count: 3,
        time: Duration::from_secs(4),
    };

    fn shelf() -> (Shelf<&'static str, u32>, Instant) {
        (Shelf::new(5), Instant::now())
    }

    fn after(now: Instant, millis: u64) -> Instant {
        now + Duration::from_millis(millis)
    }

    fn all(shelf: &mut Shelf<&'static str, u32>, owner: &'static str, now: Instant) -> Vec<u32> {
        std::iter::from_fn(|| shelf.take(&owner, now, |_| true)).collect()
    }

    #[test]
    fn the_newest_comes_first_and_each_once() {
        let (mut shelf, now) = shelf();
        for n in 1..=3 {
            shelf.lay("a", n, BOUNDS, now);
        }
        assert!(all(&mut shelf, "b", now).is_empty());
        assert_eq!(all(&mut shelf, "a", now), [3, 2, 1]);
        assert!(shelf.is_empty());
    }

    #[test]
    fn an_owner_keeps_so_many_and_the_oldest_goes() {
        let (mut shelf, now) = shelf();
        for n in 1..=5 {
            shelf.lay("a", n, BOUNDS, now);
        }
        assert_eq!(all(&mut shelf, "a", now), [5, 4, 3]);
    }

    #[test]
    fn all_together_keep_so_many_and_the_oldest_goes() {
        let (mut shelf, now) = shelf();
        let owners = ["a", "b", "a", "c", "c", "d", "e"];
        for (n, owner) in (1..).zip(owners) {
            shelf.lay(owner, n, BOUNDS, now);
        }
        assert_eq!(shelf.idle.len(), 5);
        assert_eq!(all(&mut shelf, "a", now), [3]);
        assert!(all(&mut shelf, "b", now).is_empty());
        assert_eq!(all(&mut shelf, "c", now), [5, 4]);
        assert_eq!(all(&mut shelf, "d", now), [6]);
        assert_eq!(all(&mut shelf, "e", now), [7]);
    }

    #[test]
    fn what_has_lain_too_long_is_not_taken() {
        let (mut shelf, now) = shelf();
        shelf.lay("a", 1, BOUNDS, now);
        shelf.lay("a", 2, BOUNDS, after(now, 1000));
        assert_eq!(shelf.take(&"a", after(now, 4999), |_| true), Some(2));
        assert_eq!(shelf.take(&"a", after(now, 4999), |_| true), None);
        shelf.lay("a", 3, BOUNDS, now);
        assert_eq!(shelf.take(&"a", after(now, 3999), |_| true), Some(3));
    }

    #[test]
    fn what_is_not_fit_goes_for_good() {
        let (mut shelf, now) = shelf();
        for n in 1..=3 {
            shelf.lay("a", n, BOUNDS, now);
        }
        assert_eq!(shelf.take(&"a", now, |n| *n == 2), Some(2));
        assert_eq!(all(&mut shelf, "a", now), [1]);
    }

    #[test]
    fn sweeping_leaves_only_what_can_be_used() {
        let (mut shelf, now) = shelf();
        shelf.lay("a", 1, BOUNDS, now);
        shelf.lay("b", 2, BOUNDS, after(now, 2000));
        shelf.lay("a", 3, BOUNDS, after(now, 2000));
        shelf.sweep(after(now, 4000), |n| *n != 2);
        assert_eq!((shelf.idle.len(), shelf.owners.len()), (1, 1));
        assert_eq!(all(&mut shelf, "a", after(now, 4000)), [3]);
    }

    #[test]
    fn an_owner_of_nothing_leaves_no_trace() {
        let (mut shelf, now) = shelf();
        let names: Vec<&'static str> = vec!["a", "b", "c", "d", "e", "f", "g", "h"];
        for (n, name) in (0..).zip(&names) {
            shelf.lay(name, n, BOUNDS, now);
            assert!(shelf.owners.len() <= 5);
        }
        for name in &names {
            shelf.take(name, now, |_| false);
        }
        assert!(shelf.is_empty() && shelf.owners.is_empty());
        shelf.lay("a", 1, BOUNDS, now);
        shelf.sweep(after(now, 4000), |_| true);
        assert!(shelf.is_empty() && shelf.owners.is_empty());
    }
}
