//! What a receiver remembers: which events it has seen, and how far each order has come.

use super::event::Event;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// The newest so many ids are remembered, so that the memory stays small however long it runs.
const MAX_REMEMBERED: usize = 10_000;

/// What is told at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub received: u64,
    pub repeats: u64,
    pub out_of_order: u64,
    /// Of those received, answered with an error because a flag says so.
    pub failed: u64,
    /// Not taken: the key, the method, the body.
    pub refused: u64,
}

/// What is odd about an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Its id was here before.
    pub is_repeat: bool,
    /// It does not follow this sequence, which its order had reached.
    pub comes_after: Option<i64>,
}

#[derive(Default)]
pub struct Book {
    pub totals: Totals,
    /// Events by id: have they been answered with success?
    events: Remembered<bool>,
    /// The highest sequence of each order that was answered with success.
    orders: Remembered<i64>,
}

impl Book {
    /// Writes an event down that is going to be answered with success, or not.
    pub fn note(&mut self, event: &Event<'_>, succeeds: bool) -> Remarks {
        self.totals.received += 1;
        self.totals.failed += u64::from(!succeeds);
        let before = self.events.get(event.id);
        let is_settled = before == Some(true);
        self.events.set(event.id, succeeds || is_settled);
        let mut remarks = Remarks {
            is_repeat: before.is_some(),
            comes_after: None,
        };
        // What has been taken before has had its turn; it says nothing about the order of the others.
        if let (false, Some(order), Some(sequence)) = (is_settled, event.order, event.sequence) {
            let reached = self.orders.get(order);
            remarks.comes_after = reached.filter(|reached| sequence != reached.saturating_add(1));
            if succeeds {
                let highest = reached.map_or(sequence, |reached| reached.max(sequence));
                self.orders.set(order, highest);
            }
        }
        self.totals.repeats += u64::from(remarks.is_repeat);
        self.totals.out_of_order += u64::from(remarks.comes_after.is_some());
        remarks
    }
}

/// A map that forgets its oldest keys. It keeps their hashes only: senders choose how long a key is.
struct Remembered<V> {
    hasher: RandomState,
    values: HashMap<u64, V>,
    oldest_first: VecDeque<u64>,
}

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            values: HashMap::new(),
            oldest_first: VecDeque::new(),
        }
    }
}

impl<V: Copy> Remembered<V> {
    fn get(&self, key: &str) -> Option<V> {
        self.values.get(&self.hasher.hash_one(key)).copied()
    }

    fn set(&mut self, key: &str, value: V) {
        let key = self.hasher.hash_one(key);
        if self.values.insert(key, value).is_some() {
            return;
        }
        self.oldest_first.push_back(key);
        if self.oldest_first.len() > MAX_REMEMBERED
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &'static str, sequence: i64) -> Event<'static> {
        Event {
            olay: "siparis.durum_degisti",
            id,
            order: Some("order"),
            sequence: Some(sequence),
        }
    }

    fn remarks(is_repeat: bool, comes_after: Option<i64>) -> Remarks {
        Remarks {
            is_repeat,
            comes_after,
        }
    }

    #[test]
    fn events_in_turn_are_not_remarked_upon() {
        let mut book = Book::default();
        // It may have been started in the middle of an order.
        for (id, sequence) in [("a", 3), ("b", 4), ("c", 5)] {
            assert_eq!(book.note(&event(id, sequence), true), Remarks::default());
        }
    }

    #[test]
    fn repeats_gaps_and_steps_back_are_seen() {
        let mut book = Book::default();
        book.note(&event("one", 1), true);
        assert_eq!(book.note(&event("one", 1), true), remarks(true, None));
        assert_eq!(book.note(&event("three", 3), true), remarks(false, Some(1)));
        assert_eq!(book.note(&event("two", 2), true), remarks(false, Some(3)));
        assert_eq!(book.note(&event("four", 4), true), remarks(false, None));
        assert_eq!(book.totals.received, 5);
        assert_eq!((book.totals.repeats, book.totals.out_of_order), (1, 2));
    }

    #[test]
    fn an_event_that_failed_has_not_had_its_turn() {
        let mut book = Book::default();
        assert_eq!(book.note(&event("one", 1), false), remarks(false, None));
        assert_eq!(book.note(&event("two", 2), true), remarks(false, None));
        assert_eq!(book.note(&event("one", 1), true), remarks(true, Some(2)));
        assert_eq!(book.totals.failed, 1);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut seen = Remembered::default();
        for n in 0..=MAX_REMEMBERED {
            seen.set(&n.to_string(), n);
        }
        assert_eq!(seen.get("0"), None);
        assert_eq!(seen.get("1"), Some(1));
        assert_eq!(seen.values.len(), MAX_REMEMBERED);
        assert_eq!(seen.oldest_first.len(), MAX_REMEMBERED);
    }
}
