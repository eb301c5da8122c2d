//! Rate limits that platforms publish, counted here, one count per credential and limit (or path).
//!
//! Small limits are counted exactly: never more requests within any such time. Large ones are leaky buckets.

use garson_core::clock::Clock;
use garson_core::platform::{HttpRequest, Limit, LimitScope};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Above this many, counts that have run out are removed.
const MAX_COUNTS: usize = 20_000;
/// Limits up to this many requests are counted exactly.
const EXACT: u32 = 64;
/// Requests arrive after they are counted here, one sooner than another: so much longer than the platform's period they count.
const MARGIN: Duration = Duration::from_millis(250);

/// Identifies what requests are counted together.
pub(crate) type Fingerprint = [u8; 32];

#[derive(Default)]
pub struct PlatformLimits {
    counts: Mutex<Counts>,
    clock_set: Notify,
}

#[derive(Default)]
struct Counts {
    of: HashMap<(Fingerprint, &'static str), Count>,
    /// The number of counts at which those that have run out are removed next.
    sweep_at: usize,
}

enum Count {
    /// When the last requests are sent, oldest first.
    Exact(VecDeque<Instant>),
    /// When the bucket will have run empty.
    Bucket(Instant),
}

impl Count {
    fn new(limit: &Limit, now: Instant) -> Self {
        if limit.requests <= EXACT {
            Self::Exact(VecDeque::new())
        } else {
            Self::Bucket(now)
        }
    }

    /// How long a request has to wait, and the same count with the request.
    fn reserve(&mut self, limit: &Limit, now: Instant, longest: Duration) -> Result<Duration, Duration> {
        let period = Duration::from_secs(u64::from(limit.per_seconds));
        let requests = limit.requests.max(1);
        match self {
            Self::Exact(sent) => {
                let period = period + MARGIN;
                while sent.len() >= usize::try_from(requests).unwrap_or(usize::MAX)
                    && sent.front().is_some_and(|at| *at + period <= now)
                {
                    sent.pop_front();
                }
                let is_full = sent.len() >= usize::try_from(requests).unwrap_or(usize::MAX);
                let nth = sent
                    .len()
                    .saturating_sub(usize::try_from(requests).unwrap_or(usize::MAX));
                let free_at = sent
                    .get(nth)
                    .filter(|_| is_full)
                    .map_or(now, |at| (*at + period).max(now));
                let wait = free_at.saturating_duration_since(now);
                if wait > longest {
                    return Err(wait);
                }
                sent.push_back(free_at);
                Ok(wait)
            }
            Self::Bucket(empty_at) => {
                // A request adds its share to the bucket, up to the whole period.
                let next = (*empty_at).max(now) + period / requests;
                let wait = next.saturating_duration_since(now + period);
                if wait > longest {
                    return Err(wait);
                }
                *empty_at = next;
                Ok(wait)
            }
        }
    }

    /// Counts as many requests as fit, all of them sent now.
    fn fill(&mut self, limit: &Limit, now: Instant) {
        match self {
            Self::Exact(sent) => {
                let period = Duration::from_secs(u64::from(limit.per_seconds)) + MARGIN;
                while sent.front().is_some_and(|at| *at + period <= now) {
                    sent.pop_front();
                }
                let last = sent.back().map_or(now, |last| now.max(*last));
                let requests = usize::try_from(limit.requests).unwrap_or(usize::MAX);
                sent.resize(requests.max(sent.len()), last);
            }
            Self::Bucket(empty_at) => {
                let period = Duration::from_secs(u64::from(limit.per_seconds));
                *empty_at = (*empty_at).max(now + period);
            }
        }
    }

    fn is_used(&self, now: Instant, period: Duration) -> bool {
        match self {
            Self::Exact(sent) => sent.back().is_some_and(|at| *at + period > now),
            Self::Bucket(empty_at) => *empty_at > now,
        }
    }
}

/// The longest time over which a platform counts.
const LONGEST_PERIOD: Duration = Duration::from_secs(600);

impl PlatformLimits {
    /// Reserves room for a request and returns how long to wait before it is sent. When that would be longer than `longest`,
    /// nothing is reserved, and the error says after what time there is room.
    pub(crate) fn reserve(
        &self,
        credential: Fingerprint,
        limit: &Limit,
        now: Instant,
        longest: Duration,
    ) -> Result<Duration, Duration> {
        let mut counts = self.counts.lock();
        if counts.of.len() > counts.sweep_at.max(MAX_COUNTS) {
            counts.of.retain(|_, count| count.is_used(now, LONGEST_PERIOD));
            // Not for each request while many are in use.
            counts.sweep_at = counts.of.len() * 2;
        }
        counts
            .of
            .entry((credential, limit.name))
            .or_insert_with(|| Count::new(limit, now))
            .reserve(limit, now, longest)
    }

    /// The platform says that a limit is used up: requests that are not counted here count there too, as those of another node or
    /// of this one before it was restarted. There is room again when the oldest request that is known no longer counts.
    pub(crate) fn fill(&self, credential: Fingerprint, limit: &Limit, now: Instant) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.of.get_mut(&(credential, limit.name)) {
            count.fill(limit, now);
        }
    }

    /// Waits until this time of the clock that requests are counted by.
    pub(crate) async fn wait_until(&self, clock: &dyn Clock, at: Instant) {
        loop {
            let mut clock_set = pin!(self.clock_set.notified());
            clock_set.as_mut().enable();
            let left = at.saturating_duration_since(clock.monotonic());
            if left.is_zero() {
                return;
            }
            // After either, the clock is read again.
            let _ = tokio::time::timeout(left, clock_set).await;
        }
    }

    /// The clock was set: what waits may have room.
    pub fn clock_set(&self) {
        self.clock_set.notify_waiters();
    }
}

/// What a request counts against: the token or key in its headers, with its path where each path has a limit of its own.
pub(crate) fn fingerprint(request: &HttpRequest, scope: LimitScope) -> Fingerprint {
    let mut hash = Sha256::new();
    if scope == LimitScope::Path {
        hash.update(request.url.split('?').next().unwrap_or_default());
        hash.update([0]);
    }
    // Headers that describe the body say nothing about who asks.
    let of_body =
        |name: &str| name.eq_ignore_ascii_case("content-type") || name.eq_ignore_ascii_case("accept");
    for (name, value) in request.headers.iter().filter(|(name, _)| !of_body(name)) {
        hash.update(name);
        hash.update([0]);
        hash.update(value.expose());
        hash.update([0]);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn limit(requests: u32) -> Limit {
        Limit {
            name: "menu",
            requests,
            per_seconds: 60,
            scope: LimitScope::Token,
            within: None,
        }
    }

    #[test]
    fn small_limits_are_never_exceeded_within_any_period() {
        let limits = PlatformLimits::default();
        let (now, minutes) = (Instant::now(), Duration::from_secs(125));
        let waits: Vec<_> = (0..7)
            .map(|_| limits.reserve([0; 32], &limit(2), now, minutes))
            .map(|wait| wait.map(|wait| wait.as_secs()).map_err(|wait| wait.as_secs()))
            .collect();
        assert_eq!(waits, [Ok(0), Ok(0), Ok(60), Ok(60), Ok(120), Ok(120), Err(180)]);
        assert_eq!(
            limits.reserve([1; 32], &limit(2), now, minutes),
            Ok(Duration::ZERO),
            "another credential has its own count"
        );
        let later = now + Duration::from_secs(600);
        assert_eq!(
            limits.reserve([0; 32], &limit(2), later, minutes),
            Ok(Duration::ZERO)
        );
    }

    #[test]
    fn small_limits_follow_the_requests_as_they_were_sent() {
        let limits = PlatformLimits::default();
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let wait = |seconds| {
            let reserved = limits.reserve([0; 32], &limit(2), at(seconds), Duration::from_secs(60));
            reserved.map(|wait| wait.as_secs())
        };
        assert_eq!([wait(0), wait(50), wait(59)], [Ok(0), Ok(0), Ok(1)]);
        assert_eq!(wait(61), Ok(49), "the second was sent at 50");
    }

    #[test]
    fn large_limits_admit_their_requests_and_then_delay() {
        let limits = PlatformLimits::default();
        let (now, minute) = (Instant::now(), Duration::from_secs(60));
        let mut waits = (0..302).map(|_| limits.reserve([0; 32], &limit(300), now, minute));
        assert!(waits.by_ref().take(300).all(|wait| wait == Ok(Duration::ZERO)));
        assert_eq!(waits.next(), Some(Ok(Duration::from_millis(200))));
    }

    #[test]
    fn limit_that_the_platform_says_is_used_up_has_no_room_for_a_period() {
        let limits = PlatformLimits::default();
        let start = Instant::now();
        let wait = |requests, seconds| {
            let now = start + Duration::from_secs(seconds);
            let reserved = limits.reserve([0; 32], &limit(requests), now, Duration::ZERO);
            reserved.map_err(|room_in| room_in.as_secs())
        };
        assert_eq!(wait(3, 0), Ok(Duration::ZERO));
        limits.fill([0; 32], &limit(3), start + Duration::from_secs(10));
        assert_eq!(
            wait(3, 20),
            Err(40),
            "until the request that is known no longer counts"
        );
        assert_eq!(wait(3, 61), Ok(Duration::ZERO));
        assert_eq!(wait(3, 62), Err(8), "the others may have been sent at 10");
        limits.fill([0; 32], &limit(3), start + Duration::from_secs(600));
        assert_eq!(wait(3, 601), Err(59), "requests of long ago do not count");
        // What is not counted here is not filled.
        limits.fill([1; 32], &limit(3), start);
    }
}
