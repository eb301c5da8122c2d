//! An attempt in flight to a receiver.

use super::address::AttemptKind;
use crate::flow::deliver::target::Target;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An attempt in flight for this long is slow. A receiver's width counts only attempts that are not: a receiver that hangs on
/// some orders still gets the others, up to its maximum.
pub const SLOW_AFTER: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct InFlight {
    pub kind: AttemptKind,
    pub began: Instant,
    pub target: Option<Arc<Target>>,
    pub is_cancelled: bool,
}

impl InFlight {
    pub fn is_slow(&self, now: Instant) -> bool {
        now.duration_since(self.began) >= SLOW_AFTER
    }
}
