//! Rate limits: a number of calls within a time, then a pause.

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;

const KEPT: usize = 10_000;

/// A number of calls within a number of seconds; one more blocks all calls for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub calls: usize,
    pub seconds: i64,
    pub block_seconds: i64,
}

#[derive(Debug, Default)]
struct Window {
    hits: VecDeque<i64>,
    blocked_until: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Limits {
    windows: HashMap<String, Window>,
}

impl Limits {
    /// Counts a call and says whether it may pass.
    pub(crate) fn allow(&mut self, key: String, limit: Limit, now: Timestamp) -> bool {
        let now = now.as_millisecond();
        if self.windows.len() >= KEPT {
            let day = now - 86_400_000;
            self.windows
                .retain(|_, window| window.hits.back().is_some_and(|&hit| hit > day));
        }
        let window = self.windows.entry(key).or_default();
        if now < window.blocked_until {
            return false;
        }
        while window
            .hits
            .front()
            .is_some_and(|&hit| hit <= now - limit.seconds * 1000)
        {
            window.hits.pop_front();
        }
        if window.hits.len() >= limit.calls {
            window.blocked_until = now + limit.block_seconds * 1000;
            return false;
        }
        window.hits.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_brings_a_pause() {
        let limit = Limit {
            calls: 2,
            seconds: 60,
            block_seconds: 30,
        };
        let mut limits = Limits::default();
        let mut at = |second| limits.allow("menu".to_owned(), limit, Timestamp::from_second(second).unwrap());
        assert!(at(0));
        assert!(at(50));
        assert!(!at(59));
        assert!(!at(70), "blocked, though the first call is out of the window");
        assert!(at(90));
        assert!(!at(91));
    }
}
