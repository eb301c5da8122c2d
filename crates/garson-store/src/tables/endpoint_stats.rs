//! How attempts at an endpoint went, by the hour. The delivering node counts in memory and adds the numbers from time to time.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{columns, each, insert};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, EndpointId};
use garson_core::time::Timestamp;

/// The upper bounds, in milliseconds, of the durations that are counted apart; one more class has all that took longer.
pub const BOUNDS_MS: [i64; 11] = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000];

/// How long numbers are kept, in hours.
pub const KEPT_HOURS: i64 = 30 * 24;

/// The attempts of one hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HourStats {
    /// Hours since 1970.
    pub hour: i64,
    pub attempts: i64,
    pub failures: i64,
    pub total_ms: i64,
    /// How many attempts took up to each of [`BOUNDS_MS`], and longer.
    pub times: [i64; BOUNDS_MS.len() + 1],
    pub last_failure_at: Option<Timestamp>,
    /// What came of the last failed attempt: an explanation as it is stored.
    pub last_failure: Option<String>,
}

impl HourStats {
    /// The hour of a timestamp.
    #[must_use]
    pub fn hour_of(at: Timestamp) -> i64 {
        at.as_millis().div_euclid(3_600_000)
    }

    /// Counts an attempt.
    pub fn count(&mut self, at: Timestamp, duration_ms: i64, failure: Option<String>) {
        self.attempts += 1;
        self.total_ms += duration_ms;
        let class = BOUNDS_MS.iter().position(|bound| duration_ms <= *bound);
        if let Some(count) = self.times.get_mut(class.unwrap_or(BOUNDS_MS.len())) {
            *count += 1;
        }
        if failure.is_some() {
            self.failures += 1;
            self.last_failure_at = Some(at);
            self.last_failure = failure;
        }
    }

    /// Adds the attempts of another part of the hour.
    pub fn add(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.failures += other.failures;
        self.total_ms += other.total_ms;
        self.times
            .iter_mut()
            .zip(other.times)
            .for_each(|(to, more)| *to += more);
        if other.last_failure_at > self.last_failure_at {
            self.last_failure_at = other.last_failure_at;
            self.last_failure.clone_from(&other.last_failure);
        }
    }

    /// The duration that this part of the attempts did not exceed, as the bound of its class; `None` without attempts.
    #[must_use]
    pub fn percentile_ms(&self, per_cent: i64) -> Option<i64> {
        let wanted =
            (self.attempts * per_cent).div_euclid(100) + i64::from(self.attempts * per_cent % 100 > 0);
        let mut seen = 0;
        let bounds = BOUNDS_MS.iter().copied().chain([60_000]);
        for (count, bound) in self.times.iter().zip(bounds) {
            seen += count;
            if self.attempts > 0 && seen >= wanted {
                return Some(bound);
            }
        }
        None
    }
}

columns! {
    const COLUMNS = "" of endpoint_stats {
        hour, attempts, failures, total_ms, times: String, last_failure_at, last_failure
    }
    fn stats() -> HourStats {
        let listed: Vec<i64> = from_json("durations of an endpoint", &times)?;
        let mut times = [0; BOUNDS_MS.len() + 1];
        times.iter_mut().zip(listed).for_each(|(to, count)| *to = count);
        Ok(HourStats { hour, attempts, failures, total_ms, times, last_failure_at, last_failure })
    }
}

/// An endpoint's hours from one on, the oldest first.
pub fn since(tx: &mut Tx<'_>, endpoint: EndpointId, hour: i64) -> Result<Vec<HourStats>> {
    let sql =
        format!("SELECT {COLUMNS} FROM endpoint_stats WHERE endpoint_id = ?1 AND hour >= ?2 ORDER BY hour");
    tx.query(&sql, params![&endpoint, hour], each(stats))
}

/// Adds attempts to an hour. The caller holds the account's lock.
pub fn add(tx: &mut Tx<'_>, account: AccountId, endpoint: EndpointId, more: &HourStats) -> Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM endpoint_stats WHERE endpoint_id = ?1 AND hour = ?2");
    let stored = tx.query_opt(&sql, params![&endpoint, more.hour], each(stats))?;
    let mut sum = stored.unwrap_or(HourStats {
        hour: more.hour,
        ..HourStats::default()
    });
    sum.add(more);
    insert!(
        tx,
        endpoint_stats {
            endpoint_id: &endpoint,
            hour: sum.hour,
            account_id: &account,
            attempts: sum.attempts,
            failures: sum.failures,
            total_ms: sum.total_ms,
            times: &to_json("durations of an endpoint", &sum.times[..])?,
            last_failure_at: sum.last_failure_at,
            last_failure: sum.last_failure.as_ref(),
        },
        "ON CONFLICT (endpoint_id, hour) DO UPDATE SET attempts = excluded.attempts, failures = excluded.failures,
             total_ms = excluded.total_ms, times = excluded.times, last_failure_at = excluded.last_failure_at,
             last_failure = excluded.last_failure"
    )?;
    Ok(())
}

/// Removes a chunk of the hours before one and returns how many.
pub fn sweep(tx: &mut Tx<'_>, before: i64, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM endpoint_stats WHERE (endpoint_id, hour) IN
             (SELECT endpoint_id, hour FROM endpoint_stats WHERE hour < ?1 ORDER BY hour LIMIT ?2)",
        params![before, limit],
    )
}
