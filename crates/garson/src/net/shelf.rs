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
