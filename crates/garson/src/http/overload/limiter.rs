//! Decides which requests are refused, from how long work waits. A function of values: time comes as a parameter.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// How often the rate is adjusted.
const INTERVAL: Duration = Duration::from_millis(100);
/// So many measurements in an interval tell a standing queue from a moment without a processor.
const MIN_SAMPLES: u32 = 3;
/// The rate falls by this factor while the queue does not get shorter, and rises by the other while it is short.
const DECREASE: f64 = 0.8;
const INCREASE: f64 = 1.05;
/// A wait that falls by a tenth in an interval is left to fall.
const FALLING: f64 = 0.9;
/// In each interval the highest rate of completed requests counts for a little less.
const FORGET: f64 = 0.999;
/// The rate never falls below this, for each client.
const LEAST_RATE: f64 = 1.0;
/// What a client may send at once.
const LEAST_BURST: f64 = 10.0;
/// Clients that are counted separately; others count as one.
const MAX_CLIENTS: usize = 65_536;
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// The same rate for every client, lowered while work waits for too long.
#[derive(Debug)]
pub struct Limiter {
    /// Work may wait for this long.
    max_wait: Duration,
    /// Requests a second that each client may send; none: as many as it likes.
    rate: Option<f64>,
    clients: HashMap<IpAddr, Client>,
    interval: Interval,
    /// The shortest wait of the interval before.
    last_wait: Duration,
    /// The highest rate of completed requests while a queue stood: what the node can do.
    capacity: f64,
}

#[derive(Debug, Default)]
struct Client {
    /// In this interval.
    requests: u32,
    /// Seconds at which all that it has sent would have been in time at its rate.
    earned_at: f64,
}

#[derive(Debug, Default)]
struct Interval {
    began: Duration,
    samples: u32,
    shortest_wait: Option<Duration>,
    completed: u32,
    refused: u32,
}

impl Limiter {
    pub fn new(max_wait: Duration) -> Self {
        Self {
            max_wait,
            rate: None,
            clients: HashMap::new(),
            interval: Interval::default(),
            last_wait: Duration::ZERO,
            capacity: 0.0,
        }
    }

    /// May this request be handled?
    pub fn admits(&mut self, client: IpAddr, now: Duration) -> bool {
        let is_full = self.clients.len() >= MAX_CLIENTS && !self.clients.contains_key(&client);
        let client = if is_full { OTHERS } else { client };
        let client = self.clients.entry(client).or_default();
        client.requests += 1;
        let Some(rate) = self.rate else { return true };
        let now = now.as_secs_f64();
        let burst = LEAST_BURST.max(rate * INTERVAL.as_secs_f64());
        // A rate that has fallen must not keep a client waiting for longer than its burst takes.
        let earned_at = client.earned_at.clamp(now - burst / rate, now);
        client.earned_at = earned_at + 1.0 / rate;
        if client.earned_at <= now {
            return true;
        }
        client.earned_at = earned_at;
        self.interval.refused += 1;
        false
    }

    /// An admitted request has been handled.
    pub fn completed(&mut self) {
        self.interval.completed += 1;
    }

    /// Takes how long work has waited, and adjusts the rate at the end of an interval. Returns the new rate if limiting has begun
    /// or ended.
    pub fn measured(&mut self, wait: Duration, now: Duration) -> Option<Change> {
        let interval = &mut self.interval;
        interval.samples += 1;
        let shortest = interval.shortest_wait.map_or(wait, |shortest| shortest.min(wait));
        interval.shortest_wait = Some(shortest);
        let length = now.saturating_sub(interval.began);
        if length < INTERVAL || interval.samples < MIN_SAMPLES {
            return None;
        }
        let was_limiting = self.rate.is_some();
        self.adjust(shortest, length.as_secs_f64());
        self.last_wait = shortest;
        self.interval = Interval {
            began: now,
            ..Interval::default()
        };
        let now = now.as_secs_f64();
        self.clients.retain(|_, client| {
            client.requests = 0;
            client.earned_at + LEAST_BURST > now
        });
        match (was_limiting, self.rate.is_some()) {
            (false, true) => Some(Change::Began),
            (true, false) => Some(Change::Ended),
            _ => None,
        }
    }

    fn adjust(&mut self, wait: Duration, seconds: f64) {
        let completed = f64::from(self.interval.completed) / seconds;
        let busiest = self.clients.values().map(|client| client.requests).max();
        let busiest = f64::from(busiest.unwrap_or(0)) / seconds;
        if wait > self.max_wait {
            self.capacity = completed.max(FORGET * self.capacity);
            let rate = self.rate.unwrap_or(f64::INFINITY).min(busiest);
            let is_falling = wait.as_secs_f64() < FALLING * self.last_wait.as_secs_f64();
            let factor = if completed < self.capacity / 2.0 && self.rate.is_some() {
                // The node is busy with refusals: more of them would not make the queue shorter.
                INCREASE
            } else if is_falling && self.rate.is_some() {
                1.0
            } else {
                DECREASE
            };
            self.rate = Some((rate * factor).max(LEAST_RATE));
        } else if let Some(rate) = self.rate
            && wait < self.max_wait / 2
        {
            let rate = rate * INCREASE;
            let is_over = self.interval.refused == 0 && rate > 2.0 * busiest;
            self.rate = (!is_over).then_some(rate);
            if is_over {
                self.capacity = 0.0;
            }
        }
    }

    #[cfg(test)]
    pub fn is_limiting(&self) -> bool {
        self.rate.is_some()
    }
}

/// Whether requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Began,
    Ended,
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
