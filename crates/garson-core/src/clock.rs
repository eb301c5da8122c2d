//! What time it is: asked of a `Clock`, so that tests can move it instead of sleeping.

use crate::time::Timestamp;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// For measuring how much time passes: never goes back, also when the machine's clock is set.
    fn monotonic(&self) -> Instant {
        Instant::now()
    }
}

/// A clock that many hold.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "reads the system clock for the rest of the program"
    )]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
