//! How often a client address may try to sign in, and the threads that check passwords.

use super::password_threads::PasswordThreads;
use garson_core::id::AccountId;
use governor::{DefaultKeyedRateLimiter, Quota};
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

/// Attempts that one address may make at once, and how often one more: this bounds guessing one password on many accounts.
/// Browsers on which the account was signed in before are exempt.
const ATTEMPTS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(29);
const NEXT_ATTEMPT: Duration = Duration::from_secs(3);
/// The same for links to a new password, each of which may cause an e-mail.
const RESETS_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);
const NEXT_RESET: Duration = Duration::from_secs(60);
/// Refused sign-ins of an account that are recorded at once in its audit log, and how often one more.
const RECORDED_AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);
const NEXT_RECORDED: Duration = Duration::from_secs(60);
/// Above this many addresses or accounts, those for which nothing was tried lately are removed.
const MAX_KEYS: usize = 10_000;

pub struct SignInLimits {
    pub(crate) password_threads: PasswordThreads,
    attempts: DefaultKeyedRateLimiter<IpAddr>,
    openid: DefaultKeyedRateLimiter<IpAddr>,
    resets: DefaultKeyedRateLimiter<IpAddr>,
    recorded: DefaultKeyedRateLimiter<AccountId>,
}

fn limiter<K: Hash + Eq + Clone>(period: Duration, at_once: NonZeroU32) -> DefaultKeyedRateLimiter<K> {
    let quota = Quota::with_period(period).unwrap_or(Quota::per_second(NonZeroU32::MIN));
    DefaultKeyedRateLimiter::keyed(quota.allow_burst(at_once))
}

fn allow<K: Hash + Eq + Clone>(limiter: &DefaultKeyedRateLimiter<K>, key: &K) -> bool {
    if limiter.len() > MAX_KEYS {
        limiter.retain_recent();
    }
    limiter.check_key(key).is_ok()
}

impl Default for SignInLimits {
    fn default() -> Self {
        Self {
            password_threads: PasswordThreads::default(),
            attempts: limiter(NEXT_ATTEMPT, ATTEMPTS_AT_ONCE),
            openid: limiter(NEXT_ATTEMPT, ATTEMPTS_AT_ONCE),
            resets: limiter(NEXT_RESET, RESETS_AT_ONCE),
            recorded: limiter(NEXT_RECORDED, RECORDED_AT_ONCE),
        }
    }
}

impl SignInLimits {
    /// Counts an attempt to sign in; `false` when the address has made too many.
    pub(crate) fn allow(&self, client: IpAddr) -> bool {
        allow(&self.attempts, &client)
    }

    /// Counts a return from the OpenID Connect provider; `false` when the address has made too many. Apart from passwords, so that
    /// neither keeps people from the other.
    pub(crate) fn allow_openid(&self, client: IpAddr) -> bool {
        allow(&self.openid, &client)
    }

    /// Counts a request for a link to a new password; `false` when the address has made too many.
    pub(crate) fn allow_reset(&self, client: IpAddr) -> bool {
        allow(&self.resets, &client)
    }

    /// Counts a refused sign-in of an account; `false` when enough of them are in its audit log for now.
    pub(crate) fn may_record_refusal(&self, account: AccountId) -> bool {
        allow(&self.recorded, &account)
    }
}
