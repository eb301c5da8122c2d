//! What was refused, by kind: a counter for each, and a log line that a flood does not multiply.

use super::tally::{Tally, label};
use super::words;
use prometheus_client::registry::Registry;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A kind is logged at most once in this time; the line says how many there were since the last one.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

words! {
    /// Why somebody was refused or cut off.
    Refusal {
        /// A sign-in, or a change of password, with a wrong password or an unknown e-mail address.
        WrongPassword "wrong_password",
        /// A sign-in after too many wrong passwords.
        SignInLocked "sign_in_locked",
        /// A sign-in beyond what one address may try, or beyond what can be checked.
        SignInFlood "sign_in_flood",
        /// An API request without a valid key.
        WrongKey "wrong_key",
        /// An API request of a key or account that calls too often.
        RateLimited "rate_limited",
        /// A platform's message whose sender is not known.
        WrongHookSecret "wrong_hook_secret",
        /// A connection beyond what one address may have.
        AddressConnections "address_connections",
        /// A connection that was closed to make room for another.
        ConnectionEvicted "connection_evicted",
        /// A connection without a complete request in time.
        NoRequest "no_request",
        /// A connection whose client stopped taking its answers.
        SendStalled "send_stalled",
        /// A connection that was closed since answers nobody takes held too much memory.
        AnswerMemory "answer_memory",
        /// A body that was given up since bodies held too much memory.
        BodyBudget "body_budget",
        /// A body that did not arrive in time.
        BodyTimeout "body_timeout",
        /// The system gave no connection: out of descriptors, most likely.
        AcceptFailed "accept_failed",
    }
}

#[derive(Debug)]
pub struct Refusals {
    counts: Tally,
    began: Instant,
    lines: Vec<Line>,
}

/// When a kind was logged last, in milliseconds since the beginning and one more; and how many were not.
#[derive(Debug, Default)]
struct Line {
    logged_at: AtomicU64,
    suppressed: AtomicU64,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            counts: Tally::row(label("kind", Refusal::ALL.iter().map(|kind| kind.as_str()))),
            began: Instant::now(),
            lines: Refusal::ALL.iter().map(|_| Line::default()).collect(),
        }
    }
}

impl Refusals {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let refusals = Self::default();
        registry.register(
            "refusals",
            "Requests and connections that were refused or cut off",
            refusals.counts.clone(),
        );
        refusals
    }

    /// Counts a refusal, and logs it unless its kind was logged a moment ago.
    pub fn note(&self, kind: Refusal, client: Option<IpAddr>) {
        self.record(kind, client, None);
    }

    /// The same with more to say, which must be free of personal data and secrets.
    pub fn note_with(&self, kind: Refusal, client: Option<IpAddr>, detail: &str) {
        self.record(kind, client, Some(detail));
    }

    fn record(&self, kind: Refusal, client: Option<IpAddr>, detail: Option<&str>) {
        self.counts.count(0, kind as usize);
        let Some(suppressed) = self.may_log(kind) else {
            return;
        };
        let client = client.map_or_else(|| "unknown".to_owned(), |client| client.to_string());
        tracing::warn!(kind = kind.as_str(), client, suppressed, detail, "refused");
    }

    /// How many were not logged since the last line, if it is time for another.
    fn may_log(&self, kind: Refusal) -> Option<u64> {
        let line = self.lines.get(kind as usize)?;
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let now = elapsed.saturating_add(1);
        let last = line.logged_at.load(Ordering::Relaxed);
        let is_due = last == 0 || u128::from(now.saturating_sub(last)) >= LOG_INTERVAL.as_millis();
        let is_ours = is_due
            && line
                .logged_at
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if is_ours {
            return Some(line.suppressed.swap(0, Ordering::Relaxed));
        }
        line.suppressed.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_kind_is_one_line_and_hides_no_other_kind() {
        let refusals = Refusals::default();
        assert_eq!(refusals.may_log(Refusal::WrongKey), Some(0));
        for _ in 0..100 {
            assert_eq!(refusals.may_log(Refusal::WrongKey), None);
        }
        assert_eq!(refusals.may_log(Refusal::NoRequest), Some(0));
        let line = &refusals.lines[Refusal::WrongKey as usize];
        assert_eq!(line.suppressed.load(Ordering::Relaxed), 100);
    }
}
