//! What of an account needs attention now, as the banner of every page shows it.

use garson_core::explanation::Explanation;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attention {
    /// Events that the receiver has not taken yet, counted up to a limit, and since when.
    pub failing_events: i64,
    pub failing_since: Option<Timestamp>,
    /// Events that were given up since the last acknowledgement, counted up to a limit.
    pub given_up: i64,
    /// Endpoints that were disabled because they kept failing.
    pub disabled_endpoints: usize,
    pub platforms: Vec<PlatformProblem>,
}

/// A platform that could not be reached, or refuses the integration's credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformProblem {
    pub provider: Provider,
    /// The restaurants that it is so for.
    pub restaurants: BTreeSet<String>,
    pub message: Explanation,
    pub at: Timestamp,
}
