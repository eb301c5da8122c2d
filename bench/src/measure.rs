//! Processor time, wall clock time, and counts as numbers.

use crate::error::Fallible;
use std::time::{SystemTime, UNIX_EPOCH};

/// The kernel counts processor time in hundredths of a second on every Linux machine of today.
const TICKS_A_SECOND: f64 = 100.0;

/// The processor time that a process has used, in seconds.
pub fn cpu_seconds(process: &str) -> Fallible<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name is in parentheses and may hold anything; the fields after it do not.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: f64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    Ok(ticks / TICKS_A_SECOND)
}

/// Microseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "compares with the system clock")]
pub fn wall_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A count as a number to divide; those here are far below the limit of exactness.
#[allow(clippy::cast_precision_loss)]
pub fn count_of(count: u64) -> f64 {
    count as f64
}
