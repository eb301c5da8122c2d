//! Memory budgets for request bodies: one for each kind of source, with a share for each account. A body is charged for the bytes
//! that have arrived, until it is parsed. When a budget or a share is used up, the slowest upload is aborted.

use garson_core::id::AccountId;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The largest body that is accepted.
pub const MAX_BODY: usize = 1024 * 1024;

/// No upload is aborted for being slow before this time.
const MIN_UPLOAD_TIME: Duration = Duration::from_secs(1);
/// How often a waiting upload checks again whether another has become slow.
const RECHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Where a body comes from; decides which budget it is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySource {
    /// A form before signing in.
    Anonymous,
    /// A platform.
    Hook,
    /// A client with a key of this account, or a signed-in user.
    Account(AccountId),
}

impl BodySource {
    /// The largest body that is accepted.
    #[must_use]
    pub fn max_length(self) -> usize {
        match self {
            Self::Anonymous => 16 * 1024,
            Self::Hook | Self::Account(_) => MAX_BODY,
        }
    }
}

pub struct BodyBudgets {
    anonymous: Arc<Budget>,
    hook: Arc<Budget>,
    accounts: Arc<Budget>,
}

impl Default for BodyBudgets {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            anonymous: Budget::new(4 * MIB),
            hook: Budget::new(64 * MIB),
            accounts: Budget::with_shares(64 * MIB, 16 * MIB),
        }
    }
}

impl BodyBudgets {
    /// Starts the charge of a body that begins to arrive.
    #[must_use]
    pub fn begin(&self, source: BodySource) -> Charge {
        match source {
            BodySource::Anonymous => self.anonymous.begin(None),
            BodySource::Hook => self.hook.begin(None),
            BodySource::Account(account) => self.accounts.begin(Some(account)),
        }
    }
}

/// A number of bytes for all bodies of one kind of source.
pub struct Budget {
    limit: usize,
    /// The most that one account may hold.
    share: usize,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Default)]
struct State {
    used: usize,
    used_by: HashMap<AccountId, usize>,
    next: u64,
    uploads: HashMap<u64, Upload>,
}

/// A body that has not arrived completely.
struct Upload {
    bytes: usize,
    account: Option<AccountId>,
    since: Instant,
    abort: Arc<Notify>,
    is_aborted: bool,
}

impl State {
    fn used_by(&self, account: Option<AccountId>) -> usize {
        account
            .and_then(|account| self.used_by.get(&account))
            .copied()
            .unwrap_or(0)
    }

    fn release(&mut self, account: Option<AccountId>, bytes: usize) {
        self.used -= bytes;
        if let Some(account) = account
            && let Some(used) = self.used_by.get_mut(&account)
        {
            *used -= bytes;
            if *used == 0 {
                self.used_by.remove(&account);
            }
        }
    }
}

impl Budget {
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Self::with_shares(limit, limit)
    }

    /// A budget with a limit for each account.
    #[must_use]
    pub fn with_shares(limit: usize, share: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            share,
            state: Mutex::default(),
            freed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Starts the charge of a body, for an account if that is known.
    #[must_use]
    pub fn begin(self: &Arc<Self>, account: Option<AccountId>) -> Charge {
        let mut state = self.lock();
        let (id, abort) = (state.next, Arc::<Notify>::default());
        state.next += 1;
        let upload = Upload {
            bytes: 0,
            account,
            since: Instant::now(),
            abort: Arc::clone(&abort),
            is_aborted: false,
        };
        state.uploads.insert(id, upload);
        Charge {
            budget: Arc::clone(self),
            id,
            account,
            bytes: 0,
            abort,
        }
    }

    /// Charges bytes if they fit. Otherwise aborts the slowest upload, if one is slow: one of the same account where that has
    /// used up its share.
    fn try_charge(&self, id: u64, account: Option<AccountId>, bytes: usize) -> bool {
        let mut state = self.lock();
        let of_account = state.used_by(account);
        let is_within_share = account.is_none() || of_account.saturating_add(bytes) <= self.share;
        if is_within_share && state.used.saturating_add(bytes) <= self.limit {
            state.used += bytes;
            if let Some(account) = account {
                *state.used_by.entry(account).or_default() += bytes;
            }
            if let Some(upload) = state.uploads.get_mut(&id) {
                upload.bytes += bytes;
            }
            return true;
        }
        let (used, limit) = if is_within_share {
            (state.used, self.limit)
        } else {
            (of_account, self.share)
        };
        let is_candidate = |it: &Upload| is_within_share || it.account == account;
        // Bytes of aborted uploads that have not ended yet.
        let aborted = state
            .uploads
            .values()
            .filter(|it| it.is_aborted && is_candidate(it));
        let aborted: usize = aborted.map(|it| it.bytes).sum();
        if used.saturating_sub(aborted).saturating_add(bytes) <= limit {
            return false;
        }
        let slowest = state
            .uploads
            .iter_mut()
            .filter(|(other, it)| **other != id && it.bytes > 0 && !it.is_aborted && is_candidate(it))
            .filter(|(_, it)| it.since.elapsed() >= MIN_UPLOAD_TIME)
            .min_by_key(|(_, it)| it.bytes as u128 * 1000 / it.since.elapsed().as_millis())
            .map(|(_, it)| it);
        if let Some(slowest) = slowest {
            slowest.is_aborted = true;
            slowest.abort.notify_one();
        }
        false
    }
}

/// The charge of one body against its budget; released when dropped.
pub struct Charge {
    budget: Arc<Budget>,
    id: u64,
    account: Option<AccountId>,
    bytes: usize,
    abort: Arc<Notify>,
}

impl Charge {
    /// Charges more bytes; waits until they fit.
    pub async fn grow(&mut self, bytes: usize) {
        while !self.budget.try_charge(self.id, self.account, bytes) {
            // A release wakes one waiter, but an upload becomes slow without a notification: check again either way.
            let _ = tokio::time::timeout(RECHECK_INTERVAL, self.budget.freed.notified()).await;
        }
        self.bytes += bytes;
    }

    /// Resolves when this upload is aborted in favour of others.
    pub fn aborted(&self) -> impl Future<Output = ()> + use<> {
        let abort = Arc::clone(&self.abort);
        async move { abort.notified().await }
    }

    /// The body has arrived completely and is not aborted any more.
    pub fn complete(&self) {
        self.budget.lock().uploads.remove(&self.id);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        state.release(self.account, self.bytes);
        state.uploads.remove(&self.id);
        drop(state);
        self.budget.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_is_charged_for_arrived_bytes_and_releases_them() {
        let budget = Budget::new(100);
        let idle: Vec<Charge> = (0..1000).map(|_| budget.begin(None)).collect();
        let mut one = budget.begin(None);
        one.grow(60).await;
        let mut other = budget.begin(None);
        other.grow(40).await;
        let mut third = budget.begin(None);
        let waiting = tokio::time::timeout(Duration::from_millis(200), third.grow(50)).await;
        assert!(waiting.is_err());
        drop(one);
        third.grow(50).await;
        drop((idle, other, third));
        assert_eq!(budget.lock().used, 0);
        assert!(budget.lock().uploads.is_empty());
    }

    #[tokio::test]
    async fn the_slowest_upload_is_aborted_and_no_complete_body() {
        let budget = Budget::new(100);
        let mut done = budget.begin(None);
        done.grow(50).await;
        done.complete();
        let mut slow = budget.begin(None);
        slow.grow(10).await;
        let mut quicker = budget.begin(None);
        quicker.grow(40).await;
        let slow_ends = tokio::spawn(async move {
            slow.aborted().await;
            drop(slow);
        });
        let mut fresh = budget.begin(None);
        tokio::time::timeout(Duration::from_secs(30), fresh.grow(10))
            .await
            .unwrap();
        slow_ends.await.unwrap();
        let kept = tokio::time::timeout(Duration::from_millis(50), quicker.aborted()).await;
        assert!(kept.is_err());
    }

    fn account(n: u128) -> Option<AccountId> {
        Some(AccountId(uuid::Uuid::from_u128(n)))
    }

    #[tokio::test]
    async fn an_account_at_its_share_aborts_only_its_own_upload() {
        let budget = Budget::with_shares(100, 40);
        let mut slow = budget.begin(account(1));
        slow.grow(10).await;
        let mut done = budget.begin(account(1));
        done.grow(30).await;
        done.complete();
        let mut more = budget.begin(account(1));
        let waiting = tokio::time::timeout(Duration::from_millis(200), more.grow(10)).await;
        assert!(waiting.is_err(), "the budget has room, but not for this account");
        let mut other = budget.begin(account(2));
        other.grow(10).await;
        // The upload that is aborted is one of the same account.
        let slow_ends = tokio::spawn(async move {
            slow.aborted().await;
            drop(slow);
        });
        tokio::time::timeout(Duration::from_secs(30), more.grow(10))
            .await
            .unwrap();
        slow_ends.await.unwrap();
        let kept = tokio::time::timeout(Duration::from_millis(50), other.aborted()).await;
        assert!(kept.is_err());
        drop((done, more, other));
        assert_eq!(budget.lock().used, 0);
        assert!(budget.lock().used_by.is_empty());
    }
}
