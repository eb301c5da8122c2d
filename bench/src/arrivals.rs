//! What the receiving process has received.

use crate::measure::wall_micros;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Serialize, Deserialize)]
pub struct Count {
    pub requests: u64,
    /// Events by their id.
    pub distinct: u64,
    /// Microseconds since 1970: of the first new one since the mark, and of the last.
    pub first_micros: Option<u64>,
    pub last_micros: u64,
    pub cpu_seconds: f64,
}

/// What has arrived.
#[derive(Default)]
pub struct Seen {
    requests: u64,
    ids: HashSet<[u8; 36]>,
    pub first_micros: Option<u64>,
    last_micros: u64,
    pub cpu_seconds: f64,
    /// When the first event of an order came, by its number.
    pub arrivals: HashMap<u64, Instant>,
}

#[derive(Clone, Default)]
pub struct Arrivals {
    seen: Arc<Mutex<Seen>>,
    pub slow_millis: Arc<AtomicU64>,
}

impl Arrivals {
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn note(&self, body: &[u8]) {
        let now = Instant::now();
        let mut seen = self.seen();
        seen.requests += 1;
        let id = after(body, b"\"veri\":{\"id\":\"").and_then(|rest| rest.first_chunk::<36>());
        if let Some(id) = id
            && seen.ids.insert(*id)
        {
            let micros = wall_micros();
            seen.first_micros.get_or_insert(micros);
            seen.last_micros = micros;
            let number = after(body, b"\"providerOrderId\":\"WEB-").and_then(|rest| rest.first_chunk::<10>());
            let number = number.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
            if let Some(number) = number {
                seen.arrivals.entry(number).or_insert(now);
            }
        }
    }

    pub fn count(&self) -> Count {
        let seen = self.seen();
        Count {
            requests: seen.requests,
            distinct: seen.ids.len() as u64,
            first_micros: seen.first_micros,
            last_micros: seen.last_micros,
            cpu_seconds: seen.cpu_seconds,
        }
    }
}

fn after<'a>(body: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = body.windows(mark.len()).position(|part| part == mark)?;
    body.get(at + mark.len()..)
}
