//! Decides which requests are refused, from how long work waits. A function of values: time comes as a parameter.
//!
//! What waits is what was admitted and is not answered yet. So when work waits for twice as long as it may, half as many requests
//! may be under way at the same time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// How often the limit is adjusted.
const INTERVAL: Duration = Duration::from_millis(100);
/// So many measurements in an interval tell a standing queue from a moment without a processor.
const MIN_SAMPLES: u32 = 3;
/// A limit aims at this part of the longest wait that is allowed.
const AIM: f64 = 0.75;
/// A limit that is too low rises by a tenth in an interval.
const INCREASE: f64 = 1.1;
/// It is never lower.
const LEAST: usize = 64;
/// After so many intervals without a refusal the limit is lifted.
const CALM_INTERVALS: u32 = 20;

/// How many requests may be under way, while work waits for too long.
#[derive(Debug)]
pub struct Limiter {
    /// Work may wait for this long.
    max_wait: Duration,
    limit: Option<usize>,
    under_way: usize,
    /// Of each client that has some.
    by_client: HashMap<IpAddr, usize>,
    interval: Interval,
    calm_intervals: u32,
}

#[derive(Debug, Default)]
struct Interval {
    began: Duration,
    samples: u32,
    shortest_wait: Option<Duration>,
    refused: u32,
}

/// Whether requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Began,
    Ended,
}

impl Limiter {
    pub fn new(max_wait: Duration) -> Self {
        Self {
            max_wait,
            limit: None,
            under_way: 0,
            by_client: HashMap::new(),
            interval: Interval::default(),
            calm_intervals: 0,
        }
    }

    /// Are so many requests under way that it matters for how long work waits? With fewer, none is refused.
    pub fn is_busy(&self) -> bool {
        self.under_way >= LEAST / 2
    }

    /// May this request be handled? If so, it is under way until [`Self::ended`].
    pub fn admits(&mut self, client: IpAddr) -> bool {
        let clients = self.by_client.len() + usize::from(!self.by_client.contains_key(&client));
        let own = self.by_client.get(&client).copied().unwrap_or(0);
        if let Some(limit) = self.limit
            && self.under_way >= limit
            // A client with less than its share is not refused because of others.
            && own >= limit / clients
        {
            self.interval.refused += 1;
            return false;
        }
        self.under_way += 1;
        *self.by_client.entry(client).or_default() += 1;
        true
    }

    /// An admitted request was answered or abandoned.
    pub fn ended(&mut self, client: IpAddr) {
        self.under_way = self.under_way.saturating_sub(1);
        if let Some(count) = self.by_client.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                self.by_client.remove(&client);
            }
        }
    }

    /// Takes how long work has waited, and adjusts the limit at the end of an interval. Tells if limiting has begun or ended.
    pub fn measured(&mut self, wait: Duration, now: Duration) -> Option<Change> {
        let interval = &mut self.interval;
        interval.samples += 1;
        let shortest = interval.shortest_wait.map_or(wait, |shortest| shortest.min(wait));
        interval.shortest_wait = Some(shortest);
        if now.saturating_sub(interval.began) < INTERVAL || interval.samples < MIN_SAMPLES {
            return None;
        }
        let refused = std::mem::take(interval).refused;
        self.interval.began = now;
        let was_limiting = self.limit.is_some();
        self.adjust(shortest, refused);
        match (was_limiting, self.limit.is_some()) {
            (false, true) => Some(Change::Began),
            (true, false) => Some(Change::Ended),
            _ => None,
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    fn adjust(&mut self, wait: Duration, refused: u32) {
        if wait > self.max_wait {
            let part = AIM * self.max_wait.as_secs_f64() / wait.as_secs_f64();
            self.limit = Some(((self.under_way as f64 * part) as usize).max(LEAST));
            self.calm_intervals = 0;
            return;
        }
        let Some(limit) = self.limit else { return };
        if refused == 0 {
            self.calm_intervals += 1;
            if self.calm_intervals >= CALM_INTERVALS {
                self.limit = None;
            }
            return;
        }
        self.calm_intervals = 0;
        if wait < self.max_wait / 2 {
            self.limit = Some((limit as f64 * INCREASE).ceil() as usize);
        }
    }

    #[cfg(test)]
    pub fn is_limiting(&self) -> bool {
        self.limit.is_some()
    }
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
