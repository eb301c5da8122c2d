//! Answers that are kept for a while: those of platforms, so that their limits are not used up by repeated questions, and
//! those of storage to what is asked with every order.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// When so many are kept, the old ones go.
const MAX_KEPT: usize = 2_000;

pub struct Kept<K, V> {
    answers: Mutex<HashMap<K, (Instant, V)>>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self {
            answers: Mutex::new(HashMap::new()),
        }
    }
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    /// An answer that is not older than that.
    pub fn get(&self, key: &K, age: Duration) -> Option<V> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers
            .get(key)
            .filter(|(at, _)| at.elapsed() < age)
            .map(|(_, value)| value.clone())
    }

    pub fn put(&self, key: K, value: V) {
        self.put_of(key, value, Instant::now());
    }

    /// The same of an answer that came at that moment.
    pub fn put_of(&self, key: K, value: V, at: Instant) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MAX_KEPT {
            answers.retain(|_, (at, _)| at.elapsed() < Duration::from_secs(60));
        }
        if answers.len() >= MAX_KEPT {
            answers.clear();
        }
        answers.insert(key, (at, value));
    }
}
