//! When each receiver is to be handled next.

use super::receiver::Receiver;
use std::collections::{BTreeSet, HashMap};

pub struct WakeTimes<T> {
    by_time: BTreeSet<(T, Receiver)>,
    by_receiver: HashMap<Receiver, T>,
}

impl<T> Default for WakeTimes<T> {
    fn default() -> Self {
        Self {
            by_time: BTreeSet::new(),
            by_receiver: HashMap::new(),
        }
    }
}

impl<T: Ord + Copy> WakeTimes<T> {
    pub fn set(&mut self, receiver: Receiver, time: Option<T>) {
        let before = match time {
            Some(time) => self.by_receiver.insert(receiver, time),
            None => self.by_receiver.remove(&receiver),
        };
        if before == time {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, receiver));
        }
        if let Some(time) = time {
            self.by_time.insert((time, receiver));
        }
    }

    pub fn clear(&mut self, receiver: Receiver) {
        self.set(receiver, None);
    }

    pub fn first(&self) -> Option<T> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Takes the receivers whose time has come.
    pub fn take_due(&mut self, now: T) -> Vec<Receiver> {
        let mut due = Vec::new();
        while let Some((time, receiver)) = self.by_time.first().copied() {
            if time > now {
                break;
            }
            self.clear(receiver);
            due.push(receiver);
        }
        due
    }
}
