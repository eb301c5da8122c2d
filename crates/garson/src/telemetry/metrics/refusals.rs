//! Refused requests and connections: a counter for each kind, and a rate-limited log line.

use super::labels::{label, label_values};
use super::tally::Tally;
use prometheus_client::registry::Registry;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A kind is logged at most once in this time; the line says how many were suppressed.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

label_values! {
    /// Why a request or connection was refused or cut off.
    Refusal {
        /// A sign-in, or a change of password, with a wrong password or an unknown e-mail address.
        WrongPassword "wrong_password",
        /// A sign-in after too many wrong passwords.
        SignInLocked "sign_in_locked",
        /// A sign-in above the rate limit of its address, or above what can be checked.
        SignInFlood "sign_in_flood",
        /// An API request without a valid key.
        WrongKey "wrong_key",
        /// An API request with a key that may not be used from its address.
        WrongAddress "wrong_address",
        /// An API request above the rate limit of its key or account.
        RateLimited "rate_limited",
        /// A platform message from an unknown sender.
        WrongHookSecret "wrong_hook_secret",
        /// A connection above the limit of its address.
        AddressConnections "address_connections",
        /// A connection that was closed to make room for another.
        ConnectionEvicted "connection_evicted",
        /// A connection without a complete request in time.
        NoRequest "no_request",
        /// A connection whose client stopped reading responses.
        SendStalled "send_stalled",
        /// A connection that was closed because unread responses held too much memory.
        AnswerMemory "answer_memory",
        /// A body that was rejected because bodies held too much memory.
        BodyBudget "body_budget",
        /// A body that did not arrive in time.
        BodyTimeout "body_timeout",
        /// A request that was refused because the node had more to do than it can.
        Overloaded "overloaded",
        /// The system refused to accept a connection: most likely out of descriptors.
        AcceptFailed "accept_failed",
    }
}

#[derive(Debug)]
pub struct Refusals {
    counts: Tally,
    began: Instant,
    log_states: Vec<LogState>,
}

/// The last log line of a kind.
#[derive(Debug, Default)]
struct LogState {
    /// Milliseconds since `began`, plus one; 0 when never.
    logged_at: AtomicU64,
    suppressed: AtomicU64,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            counts: Tally::row(label("kind", Refusal::ALL.iter().map(|kind| kind.as_str()))),
            began: Instant::now(),
            log_states: Refusal::ALL.iter().map(|_| LogState::default()).collect(),
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

    /// Counts a refusal, and logs it unless its kind was logged recently.
    pub fn note(&self, kind: Refusal, client: Option<IpAddr>) {
        self.record(kind, client, None);
    }

    /// Counts a refusal that is not worth a log line.
    pub fn count(&self, kind: Refusal) {
        self.counts.count(0, kind as usize);
    }

    /// The same with a detail, which must be free of personal data and secrets.
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

    /// How many were suppressed since the last log line, if another is due.
    fn may_log(&self, kind: Refusal) -> Option<u64> {
        let state = self.log_states.get(kind as usize)?;
        let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let now = elapsed.saturating_add(1);
        let last = state.logged_at.load(Ordering::Relaxed);
        let is_due = last == 0 || u128::from(now.saturating_sub(last)) >= LOG_INTERVAL.as_millis();
        let is_ours = is_due
            && state
                .logged_at
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if is_ours {
            return Some(state.suppressed.swap(0, Ordering::Relaxed));
        }
        state.suppressed.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_of_one_kind_is_logged_once_and_hides_no_other_kind() {
        let refusals = Refusals::default();
        assert_eq!(refusals.may_log(Refusal::WrongKey), Some(0));
        for _ in 0..100 {
            assert_eq!(refusals.may_log(Refusal::WrongKey), None);
        }
        assert_eq!(refusals.may_log(Refusal::NoRequest), Some(0));
        let state = &refusals.log_states[Refusal::WrongKey as usize];
        assert_eq!(state.suppressed.load(Ordering::Relaxed), 100);
    }
}
