//! The system's own resolver, on dedicated threads.
//!
//! `getaddrinfo` blocks a thread, for many seconds if a name's servers are dead, and cannot be cancelled. So the number of such
//! threads is limited, in total, for an account, and for all accounts whose lookups failed recently. A lookup times out, but
//! its thread counts until the system has answered. Other blocking work (password hashing, files) has other threads.

use super::resolver::{Resolve, Resolving};
use crate::fair_slots::{FairSlots, SlotLimits};
use garson_core::id::AccountId;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

const THREADS: SlotLimits = SlotLimits {
    total: 48,
    per_account: 6,
    failing: 24,
};
/// A lookup times out after this time, which includes waiting for a thread.
const DEADLINE: Duration = Duration::from_secs(8);
/// How long an account counts as failing after a failed lookup.
const FAILING_FOR: Duration = Duration::from_secs(60);
/// From this many entries on, expired ones are removed.
const MAX_ENTRIES: usize = 1_000;

/// The blocking call.
type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

pub struct SystemResolver {
    lookup: Arc<Lookup>,
    deadline: Duration,
    threads: Arc<FairSlots>,
    /// The last failed lookup of an account.
    failed_at: Arc<Mutex<HashMap<AccountId, Instant>>>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::with_lookup(|name| {
            let found = (name, 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

impl SystemResolver {
    /// A resolver with another blocking call; for tests.
    pub fn with_lookup(lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self {
            lookup: Arc::new(lookup),
            deadline: DEADLINE,
            threads: FairSlots::new(THREADS),
            failed_at: Arc::default(),
        }
    }

    async fn look_up(&self, name: &str, account: AccountId) -> io::Result<Vec<IpAddr>> {
        let is_failing = lock(&self.failed_at)
            .get(&account)
            .is_some_and(|at| at.elapsed() < FAILING_FOR);
        let permit = self.threads.acquire(account, is_failing).await;
        let (answer, answered) = oneshot::channel();
        let (lookup, name) = (Arc::clone(&self.lookup), name.to_owned());
        std::thread::Builder::new()
            .name("garson-names".to_owned())
            .spawn(move || {
                let found = lookup(&name);
                drop(permit);
                // Fails if the request was cancelled meanwhile.
                let _ = answer.send(found);
            })?;
        answered
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the thread ended without an answer")))
    }

    fn note(&self, account: AccountId, has_failed: bool) {
        let mut failed_at = lock(&self.failed_at);
        if failed_at.len() >= MAX_ENTRIES {
            failed_at.retain(|_, at| at.elapsed() < FAILING_FOR);
        }
        if has_failed {
            failed_at.insert(account, Instant::now());
        } else {
            failed_at.remove(&account);
        }
    }
}

fn lock(failed_at: &Mutex<HashMap<AccountId, Instant>>) -> MutexGuard<'_, HashMap<AccountId, Instant>> {
    failed_at.lock()
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        self.resolve_for(name, None)
    }

    fn resolve_for<'a>(&'a self, name: &'a str, account: Option<AccountId>) -> Resolving<'a> {
        // The operator's own names count as those of one more account.
        let account = account.unwrap_or(AccountId(Uuid::nil()));
        Box::pin(async move {
            let found = match tokio::time::timeout(self.deadline, self.look_up(name, account)).await {
                Ok(found) => found,
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            };
            self.note(account, found.is_err());
            found
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use parking_lot::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn account(n: u128) -> AccountId {
        AccountId(uuid::Uuid::from_u128(n))
    }

    /// Lookups of dead names hang until the test ends.
    #[derive(Default)]
    struct System {
        is_over: Mutex<bool>,
        ends: Condvar,
        hanging: AtomicUsize,
    }

    impl System {
        fn resolver(self: &Arc<Self>) -> Arc<SystemResolver> {
            let system = Arc::clone(self);
            Arc::new(SystemResolver::with_lookup(move |name| {
                if name.starts_with("dead") {
                    system.hanging.fetch_add(1, Ordering::SeqCst);
                    let mut is_over = system.is_over.lock();
                    while !*is_over {
                        system.ends.wait(&mut is_over);
                    }
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Ok(vec![IpAddr::from([10, 0, 0, 1])])
            }))
        }
    }

    impl Drop for Ends {
        fn drop(&mut self) {
            *self.0.is_over.lock() = true;
            self.0.ends.notify_all();
        }
    }

    struct Ends(Arc<System>);

    async fn resolve_dead_names(resolver: &Arc<SystemResolver>, account: AccountId, count: usize) {
        for n in 0..count {
            let resolver = Arc::clone(resolver);
            tokio::spawn(async move {
                // It times out or hangs until the test ends.
                let _ = resolver
                    .resolve_for(&format!("dead-{n}.example.com"), Some(account))
                    .await;
            });
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn dead_names_of_one_account_block_neither_other_accounts_nor_other_work() {
        let system = Arc::<System>::default();
        let _ends = Ends(Arc::clone(&system));
        let resolver = system.resolver();
        // More than the runtime has threads for blocking work.
        resolve_dead_names(&resolver, account(1), 600).await;
        let found = resolver.resolve_for("till.example.com", Some(account(2))).await;
        assert_eq!(found.unwrap(), [IpAddr::from([10, 0, 0, 1])]);
        assert!(resolver.resolve("platform.example.com").await.is_ok());
        assert!(tokio::task::spawn_blocking(|| true).await.unwrap());
        assert!(system.hanging.load(Ordering::SeqCst) <= THREADS.per_account);
    }

    #[tokio::test]
    async fn dead_names_of_many_accounts_leave_threads_for_others() {
        let system = Arc::<System>::default();
        let _ends = Ends(Arc::clone(&system));
        let mut resolver = Arc::into_inner(system.resolver()).unwrap();
        resolver.deadline = Duration::from_millis(100);
        let resolver = Arc::new(resolver);
        for n in 0..20 {
            let failed = resolver.resolve_for("dead.example.com", Some(account(n))).await;
            assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        // Their threads still hang; together these accounts now have only the share of failing ones.
        for n in 0..20 {
            resolve_dead_names(&resolver, account(n), 6).await;
            tokio::time::sleep(resolver.deadline).await;
        }
        let mut found = Err(io::ErrorKind::TimedOut.into());
        // On a busy machine a lookup may time out, and its account counts as failing too: try with others.
        for n in 100..200 {
            found = resolver.resolve_for("till.example.com", Some(account(n))).await;
            if found.is_ok() {
                break;
            }
        }
        assert_eq!(found.unwrap(), [IpAddr::from([10, 0, 0, 1])]);
        let hanging = system.hanging.load(Ordering::SeqCst);
        assert!(hanging <= THREADS.failing + 20, "{hanging}");
    }
}
