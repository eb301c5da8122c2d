//! Authentication of API requests: the account behind a key, and rate limits of keys and accounts.

use crate::app::App;
use crate::config::RateLimit;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use crate::ttl_cache::TtlCache;
use garson_core::id::{AccountId, KeyId, RestaurantId};
use garson_core::key_access::KeyAccess;
use garson_core::time::Timestamp;
use garson_store::tables::{account_states, keys};
use garson_store::vault::lookup_hash;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The account that a request acts for, and the key that it presented.
#[derive(Clone, Debug)]
pub struct Caller {
    pub account: AccountId,
    pub key: KeyId,
    /// The key's label, or its last characters.
    pub key_name: Arc<str>,
    /// What the key may do.
    pub access: Arc<KeyAccess>,
    expires_at: Option<Timestamp>,
    /// Is it the account's primary key? Another may have replaced it a second ago.
    pub is_primary: bool,
    /// The address that the request came from.
    pub address: Option<IpAddr>,
}

impl Caller {
    /// Who does what the request asks for.
    #[must_use]
    pub fn by(&self) -> By {
        By::key(self.account, self.key, self.address)
    }

    /// Fails if the restaurant is not one of the key's: for the key it does not exist.
    pub fn must_have(&self, restaurant: RestaurantId) -> Result<(), Fault> {
        if self.access.restaurants.has(restaurant) {
            Ok(())
        } else {
            Err(Fault::not_found(Thing::Restaurant, restaurant))
        }
    }
}

/// How long a looked-up key is cached; a revoked key works that much longer on other nodes.
const CACHE_TTL: Duration = Duration::from_secs(1);
/// How often the use of a key is recorded.
const USE_INTERVAL: Duration = Duration::from_secs(60);
const MAX_CACHED: usize = 10_000;

/// Keys that were used recently, and the rate limits of keys and accounts.
pub struct ApiAuth {
    cache: TtlCache<[u8; 32], Caller>,
    /// Keys whose use was recorded lately.
    recorded: TtlCache<KeyId, ()>,
    key_limit: Option<Limiter<KeyId>>,
    account_limit: Option<Limiter<AccountId>>,
}

impl ApiAuth {
    #[must_use]
    pub fn new(per_key: Option<RateLimit>, per_account: Option<RateLimit>) -> Self {
        Self {
            cache: TtlCache::new(MAX_CACHED),
            recorded: TtlCache::new(MAX_CACHED),
            key_limit: per_key.map(Limiter::new),
            account_limit: per_account.map(Limiter::new),
        }
    }

    /// The caller behind a key; `None` when no account has it.
    pub async fn authenticate(
        &self,
        app: &Arc<App>,
        key: &str,
        address: Option<IpAddr>,
    ) -> Result<Option<Caller>, Fault> {
        let Some(caller) = self.find(app, key).await? else {
            return Ok(None);
        };
        if caller.expires_at.is_some_and(|at| at <= app.now()) {
            return Err(Fault::KeyExpired);
        }
        if !caller.access.allows_address(address) {
            return Err(Fault::AddressNotAllowed);
        }
        let caller = Caller { address, ..caller };
        if self.recorded.get(&caller.key, USE_INTERVAL).is_none() {
            self.recorded.put(caller.key, ());
            self.drop_idle_counters();
            tokio::spawn(record_use(Arc::clone(app), caller.clone()));
        }
        Ok(Some(caller))
    }

    async fn find(&self, app: &Arc<App>, key: &str) -> Result<Option<Caller>, Fault> {
        let hash = lookup_hash(key.as_bytes());
        if let Some(caller) = self.cache.get(&hash, CACHE_TTL) {
            return Ok(Some(caller));
        }
        let found = app
            .store
            .read(move |tx| {
                let found = keys::find(tx, &hash)?;
                match found {
                    Some((account, ..)) if !account_states::is_active(tx, account)? => {
                        Err(Fault::AccountDisabled)
                    }
                    found => Ok(found),
                }
            })
            .await?;
        let Some((account, key)) = found else {
            return Ok(None);
        };
        let caller = Caller {
            account,
            key: key.id,
            key_name: key.name().into(),
            access: Arc::new(key.access),
            expires_at: key.expires_at,
            is_primary: key.is_primary,
            address: None,
        };
        self.cache.put(hash, caller.clone());
        Ok(Some(caller))
    }

    /// Counts a request against the limits of its key and its account.
    pub fn check_rate(&self, caller: &Caller) -> Result<(), RateExceeded> {
        if let Some(limit) = &self.key_limit {
            limit.check(&caller.key, RateScope::Key)?;
        }
        if let Some(limit) = &self.account_limit {
            limit.check(&caller.account, RateScope::Account)?;
        }
        Ok(())
    }

    /// Clears the cache, so that a revoked key stops working at once on this node.
    pub fn forget_keys(&self) {
        self.cache.clear();
    }

    /// Drops the counters of keys and accounts that have not called recently.
    fn drop_idle_counters(&self) {
        if let Some(limit) = &self.key_limit {
            limit.limiter.retain_recent();
        }
        if let Some(limit) = &self.account_limit {
            limit.limiter.retain_recent();
        }
    }
}

async fn record_use(app: Arc<App>, caller: Caller) {
    let now = app.now();
    let from = caller.address.map(|address| address.to_canonical().to_string());
    let key = caller.key;
    let recorded = app
        .store
        .write(caller.account, move |tx| {
            keys::record_use(tx, key, now, from.as_deref())
        })
        .await;
    if let Err(error) = recorded {
        tracing::warn!(%error, "the use of an API key was not recorded");
    }
}

/// Whose rate limit was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateScope {
    Key,
    Account,
}

/// A request over its rate limit.
#[derive(Clone, Copy, Debug)]
pub struct RateExceeded {
    pub scope: RateScope,
    pub retry_after_seconds: u64,
    pub burst: NonZeroU32,
    pub window_seconds: u32,
}

struct Limiter<K: Clone + Eq + Hash> {
    limiter: DefaultKeyedRateLimiter<K>,
    limit: RateLimit,
}

impl<K: Clone + Eq + Hash> Limiter<K> {
    fn new(limit: RateLimit) -> Self {
        let quota = Quota::per_second(limit.per_second).allow_burst(limit.burst);
        Self {
            limiter: DefaultKeyedRateLimiter::keyed(quota),
            limit,
        }
    }

    fn check(&self, key: &K, scope: RateScope) -> Result<(), RateExceeded> {
        self.limiter.check_key(key).map_err(|until| {
            let wait = until.wait_time_from(DefaultClock::default().now());
            RateExceeded {
                scope,
                retry_after_seconds: wait.as_secs() + 1,
                burst: self.limit.burst,
                window_seconds: self.limit.burst.get().div_ceil(self.limit.per_second.get()),
            }
        })
    }
}
