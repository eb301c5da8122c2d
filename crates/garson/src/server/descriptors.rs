//! The limit on file descriptors of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More is never needed, and some systems have no limit.
const ENOUGH: u64 = 1 << 20;

/// Raises the soft limit on descriptors to the hard limit; returns the new limit.
pub fn raise_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let now = current.unwrap_or(ENOUGH);
    let wanted = maximum.unwrap_or(ENOUGH).min(ENOUGH);
    if now >= wanted {
        return now;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, limit = now, "the limit on open files could not be raised");
            now
        }
    }
}

/// How many connections fit, so that storage and outgoing requests have descriptors too.
#[must_use]
pub fn connections_within(limit: u64, wanted: usize, others: usize) -> usize {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    wanted.min(limit.saturating_sub(others).max(limit / 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_others() {
        assert_eq!(connections_within(1 << 20, 4096, 1280), 4096);
        assert_eq!(connections_within(4096, 4096, 1280), 2816);
        assert_eq!(connections_within(1024, 4096, 1280), 512);
    }
}
