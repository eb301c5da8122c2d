//! The history of a receiver: which events it has seen, and the last sequence of each order.

use super::event::{Event, Remarks};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// Bounds the memory: older ids are forgotten.
const MAX_REMEMBERED: usize = 10_000;

/// The summary at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub received: u64,
    pub repeats: u64,
    pub out_of_order: u64,
    /// Of those received, answered with an error because of a flag.
    pub failed: u64,
    /// Rejected: wrong key, method or body.
    pub refused: u64,
}

#[derive(Default)]
pub struct EventHistory {
    pub totals: Totals,
    /// Events by id: have they been answered with success?
    events: BoundedMap<bool>,
    /// The highest sequence of each order that was answered with success.
    orders: BoundedMap<i64>,
}

impl EventHistory {
    /// Records an event and whether it is going to be answered with success.
    pub fn record(&mut self, event: &Event<'_>, succeeds: bool) -> Remarks {
        self.totals.received += 1;
        self.totals.failed += u64::from(!succeeds);
        let before = self.events.get(event.id);
        let is_settled = before == Some(true);
        self.events.set(event.id, succeeds || is_settled);
        let mut remarks = Remarks {
            is_repeat: before.is_some(),
            comes_after: None,
        };
        // A repeat of an accepted event says nothing about the sequence.
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

/// A map that forgets its oldest keys. It stores only hashes of them, because senders choose how long a key is.
struct BoundedMap<V> {
    hasher: RandomState,
    values: HashMap<u64, V>,
    oldest_first: VecDeque<u64>,
}

impl<V> Default for BoundedMap<V> {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            values: HashMap::new(),
            oldest_first: VecDeque::new(),
        }
    }
}

impl<V: Copy> BoundedMap<V> {
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
    fn events_in_sequence_have_no_remarks() {
        let mut history = EventHistory::default();
        // The receiver may have started in the middle of an order.
        for (id, sequence) in [("a", 3), ("b", 4), ("c", 5)] {
            assert_eq!(history.record(&event(id, sequence), true), Remarks::default());
        }
    }

    #[test]
    fn repeats_gaps_and_steps_back_are_noticed() {
        let mut history = EventHistory::default();
        history.record(&event("one", 1), true);
        assert_eq!(history.record(&event("one", 1), true), remarks(true, None));
        assert_eq!(history.record(&event("three", 3), true), remarks(false, Some(1)));
        assert_eq!(history.record(&event("two", 2), true), remarks(false, Some(3)));
        assert_eq!(history.record(&event("four", 4), true), remarks(false, None));
        assert_eq!(history.totals.received, 5);
        assert_eq!((history.totals.repeats, history.totals.out_of_order), (1, 2));
    }

    #[test]
    fn a_failed_event_does_not_count_in_the_sequence() {
        let mut history = EventHistory::default();
        assert_eq!(history.record(&event("one", 1), false), remarks(false, None));
        assert_eq!(history.record(&event("two", 2), true), remarks(false, None));
        assert_eq!(history.record(&event("one", 1), true), remarks(true, Some(2)));
        assert_eq!(history.totals.failed, 1);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut seen = BoundedMap::default();
        for n in 0..=MAX_REMEMBERED {
            seen.set(&n.to_string(), n);
        }
        assert_eq!(seen.get("0"), None);
        assert_eq!(seen.get("1"), Some(1));
        assert_eq!(seen.values.len(), MAX_REMEMBERED);
        assert_eq!(seen.oldest_first.len(), MAX_REMEMBERED);
    }
}
