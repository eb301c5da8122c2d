//! Rate limits that platforms publish, counted here as leaky buckets, one per credential and limit.

use garson_core::platform::{HttpRequest, Limit};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Above this many, buckets that have run empty are removed.
const MAX_BUCKETS: usize = 20_000;

type Fingerprint = [u8; 32];

/// When each bucket will have run empty.
#[derive(Default)]
pub struct PlatformLimits(Mutex<HashMap<(Fingerprint, &'static str), Instant>>);

impl PlatformLimits {
    /// Reserves room for a request and returns how long to wait before it is sent. When that would be longer than `longest`,
    /// nothing is reserved, and the error says after what time there is room.
    pub(crate) fn reserve(
        &self,
        request: &HttpRequest,
        limit: &Limit,
        now: Instant,
        longest: Duration,
    ) -> Result<Duration, Duration> {
        self.reserve_for(fingerprint(request), limit, now, longest)
    }

    fn reserve_for(
        &self,
        credential: Fingerprint,
        limit: &Limit,
        now: Instant,
        longest: Duration,
    ) -> Result<Duration, Duration> {
        let period = Duration::from_secs(u64::from(limit.per_seconds));
        let each = period / limit.requests.max(1);
        let mut buckets = self.0.lock();
        if buckets.len() > MAX_BUCKETS {
            buckets.retain(|_, empty_at| *empty_at > now);
        }
        // A request adds its share to the bucket, up to the whole period.
        let empty_at = buckets.entry((credential, limit.name)).or_insert(now);
        let next = (*empty_at).max(now) + each;
        let wait = next.saturating_duration_since(now + period);
        if wait > longest {
            return Err(wait);
        }
        *empty_at = next;
        Ok(wait)
    }
}

/// Which credential a request counts against: the token or key in its headers.
fn fingerprint(request: &HttpRequest) -> Fingerprint {
    let mut hash = Sha256::new();
    for (name, value) in &request.headers {
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

    #[test]
    fn limit_admits_its_requests_and_then_delays() {
        let limits = PlatformLimits::default();
        let limit = Limit {
            name: "menu",
            requests: 2,
            per_seconds: 60,
        };
        let (now, minute) = (Instant::now(), Duration::from_secs(60));
        let waits: Vec<_> = (0..5)
            .map(|_| limits.reserve_for([0; 32], &limit, now, minute))
            .map(|wait| wait.map(|wait| wait.as_secs()).map_err(|wait| wait.as_secs()))
            .collect();
        assert_eq!(waits, [Ok(0), Ok(0), Ok(30), Ok(60), Err(90)]);
        assert_eq!(
            limits.reserve_for([1; 32], &limit, now, minute),
            Ok(Duration::ZERO),
            "another credential has its own bucket"
        );
        let later = now + Duration::from_secs(600);
        assert_eq!(
            limits.reserve_for([0; 32], &limit, later, minute),
            Ok(Duration::ZERO)
        );
    }
}
