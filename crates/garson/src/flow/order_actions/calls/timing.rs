//! How long one attempt at a call may take.

use std::time::Duration;

/// The deadline of an attempt.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// How long a node owns a call that it makes; longer than the deadline. After that the node itself takes the call up again.
pub const LEASE: Duration = Duration::from_secs(15);
