//! How often a client address may try to sign in, and the threads that check passwords.

use super::password_threads::PasswordThreads;
use governor::{DefaultKeyedRateLimiter, Quota};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// Attempts that one address may make at once, and how often one more: this bounds guessing one password on many accounts.
/// Browsers on which the account was signed in before are exempt.
const ATTEMPTS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
const NEXT_ATTEMPT: Duration = Duration::from_secs(3);
/// Above this many addresses, those that have stopped trying are removed.
const MAX_ADDRESSES: usize = 10_000;

pub struct SignInLimits {
    pub(crate) password_threads: PasswordThreads,
    attempts: DefaultKeyedRateLimiter<IpAddr>,
}

impl Default for SignInLimits {
    fn default() -> Self {
        let quota = Quota::with_period(NEXT_ATTEMPT).unwrap_or(Quota::per_second(NonZeroU32::MIN));
        Self {
            password_threads: PasswordThreads::default(),
            attempts: DefaultKeyedRateLimiter::keyed(quota.allow_burst(ATTEMPTS_AT_ONCE)),
        }
    }
}

impl SignInLimits {
    /// Counts an attempt; `false` when the address has made too many.
    pub(crate) fn allow(&self, client: IpAddr) -> bool {
        if self.attempts.len() > MAX_ADDRESSES {
            self.attempts.retain_recent();
        }
        self.attempts.check_key(&client).is_ok()
    }
}
