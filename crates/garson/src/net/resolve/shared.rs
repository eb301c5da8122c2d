//! One lookup for all requests that resolve the same name at the same time.
//!
//! The system's resolver blocks a thread for each lookup, for seconds if a name's servers are dead. Many requests to one such
//! name must not take the threads that others need. Accounts do not share lookups: one may have to wait for its share of the
//! threads. Nothing is cached: a request that comes after the result starts a new lookup.

use super::resolver::{Resolve, Resolving};
use garson_core::id::AccountId;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// The result, once there is one; errors by their kind, because an error cannot be cloned.
type Found = Option<Result<Vec<IpAddr>, io::ErrorKind>>;
type Lookup = (Option<AccountId>, String);
type Lookups = HashMap<Lookup, watch::Receiver<Found>>;

pub struct SharedResolver<R> {
    resolver: Arc<R>,
    /// The lookups that are running.
    running: Arc<Mutex<Lookups>>,
}

impl<R: Resolve + 'static> SharedResolver<R> {
    pub fn new(resolver: R) -> Self {
        Self {
            resolver: Arc::new(resolver),
            running: Arc::default(),
        }
    }

    /// Joins the running lookup of a name, or starts one.
    fn join(&self, name: &str, account: Option<AccountId>) -> watch::Receiver<Found> {
        let lookup = (account, name.to_owned());
        let mut running = lock(&self.running);
        // A lookup whose runtime has ended never sends its result.
        if let Some(result) = running.get(&lookup).filter(|result| result.has_changed().is_ok()) {
            return result.clone();
        }
        let (sender, result) = watch::channel(None);
        running.insert(lookup.clone(), result.clone());
        let (resolver, running) = (Arc::clone(&self.resolver), Arc::clone(&self.running));
        tokio::spawn(async move {
            let found = resolver.resolve_for(&lookup.1, account).await;
            let found = found.map_err(|error| error.kind());
            lock(&running).remove(&lookup);
            sender.send_replace(Some(found));
        });
        result
    }
}

fn lock(running: &Mutex<Lookups>) -> MutexGuard<'_, Lookups> {
    running.lock()
}

impl<R: Resolve + 'static> Resolve for SharedResolver<R> {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        self.resolve_for(name, None)
    }

    fn resolve_for<'a>(&'a self, name: &'a str, account: Option<AccountId>) -> Resolving<'a> {
        Box::pin(async move {
            let mut result = self.join(name, account);
            let found = result.wait_for(Option::is_some).await;
            let found = found.ok().and_then(|found| found.clone());
            Ok(found.unwrap_or(Err(io::ErrorKind::Interrupted))?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    /// Answers when the test lets it, and counts lookups.
    struct Counting {
        asked: Arc<AtomicUsize>,
        let_go: Arc<Semaphore>,
    }

    impl Resolve for Counting {
        fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
            Box::pin(async move {
                let number = self.asked.fetch_add(1, Ordering::SeqCst);
                let permit = self.let_go.acquire().await.map_err(io::Error::other)?;
                permit.forget();
                match name {
                    "none.example.com" => Err(io::ErrorKind::NotFound.into()),
                    _ => Ok(vec![IpAddr::from([10, 0, 0, u8::try_from(number).unwrap()])]),
                }
            })
        }
    }

    #[tokio::test]
    async fn concurrent_requests_share_a_lookup_and_later_ones_start_another() {
        let (asked, let_go) = (Arc::<AtomicUsize>::default(), Arc::new(Semaphore::new(0)));
        let resolver = Arc::new(SharedResolver::new(Counting {
            asked: Arc::clone(&asked),
            let_go: Arc::clone(&let_go),
        }));
        for round in 0..3 {
            let mut waiting = JoinSet::new();
            for _ in 0..10 {
                let resolver = Arc::clone(&resolver);
                waiting.spawn(async move { resolver.resolve("till.example.com").await.unwrap() });
            }
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            let_go.add_permits(1);
            for found in waiting.join_all().await {
                assert_eq!(found, [IpAddr::from([10, 0, 0, round])]);
            }
            assert_eq!(asked.load(Ordering::SeqCst), usize::from(round) + 1);
        }
        let_go.add_permits(1);
        let failed = resolver.resolve("none.example.com").await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::NotFound);
        assert!(lock(&resolver.running).is_empty());
    }

    #[tokio::test]
    async fn lookup_goes_on_after_its_requests_were_cancelled() {
        let (asked, let_go) = (Arc::<AtomicUsize>::default(), Arc::new(Semaphore::new(0)));
        let resolver = SharedResolver::new(Counting {
            asked: Arc::clone(&asked),
            let_go: Arc::clone(&let_go),
        });
        let pause = std::time::Duration::from_millis(10);
        for _ in 0..3 {
            let gone = tokio::time::timeout(pause, resolver.resolve("till.example.com")).await;
            assert!(gone.is_err());
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let_go.add_permits(1);
        assert!(resolver.resolve("till.example.com").await.is_ok());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}
