//! When menus are read.

use crate::app::App;
use garson_core::time::Timestamp;
use std::time::Duration;

/// Where menus are read only on request.
pub const NEVER: Timestamp = Timestamp::from_millis(i64::MAX);

/// A time within a span that depends on the id, to spread the load.
pub fn spread(from: Timestamp, within: Duration, id: &[u8]) -> Timestamp {
    let number = id
        .iter()
        .rev()
        .take(4)
        .fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
    from.plus(within.mul_f64(f64::from(number) / f64::from(u32::MAX)))
}

/// When the menu of an integration is read again.
pub fn next_read(app: &App, id: &[u8]) -> Timestamp {
    let hours = app.settings.menus.read_hours;
    if hours == 0 {
        return NEVER;
    }
    let period = Duration::from_secs(u64::from(hours) * 3_600);
    // Slightly earlier each time, so that the reads of many restaurants drift apart.
    spread(app.now().plus(period.mul_f64(0.9)), period.mul_f64(0.1), id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_spread_over_the_span() {
        let (start, hour) = (Timestamp::from_millis(0), Duration::from_secs(3_600));
        let at = |id: [u8; 4]| spread(start, hour, &id).as_millis();
        assert_eq!(at([0; 4]), 0);
        assert_eq!(at([255; 4]), 3_600_000);
        assert!((1_700_000..1_900_000).contains(&at([0, 0, 0, 128])));
    }
}
