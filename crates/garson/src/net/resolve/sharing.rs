//! One question for all who want to know the same name at the same time.
//!
//! The system's resolver holds a thread for each question, for seconds when a name's servers are dead. Many requests to one
//! such name must not take the threads that others need. Accounts do not share questions: one may have to wait for its part
//! of the threads. Nothing is remembered: who comes after the answer asks again.

use super::{Resolve, Resolving};
use garson_core::id::AccountId;
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// What was found, once it was; failures by their kind, because an error cannot be shared.
type Found = Option<Result<Vec<IpAddr>, io::ErrorKind>>;
type Question = (Option<AccountId>, String);
type Questions = HashMap<Question, watch::Receiver<Found>>;

pub struct Sharing<R> {
    resolver: Arc<R>,
    /// Those that are under way.
    asked: Arc<Mutex<Questions>>,
}

impl<R: Resolve + 'static> Sharing<R> {
    pub fn new(resolver: R) -> Self {
        Self {
            resolver: Arc::new(resolver),
            asked: Arc::default(),
        }
    }

    fn ask(&self, name: &str, account: Option<AccountId>) -> watch::Receiver<Found> {
        let question = (account, name.to_owned());
        let mut asked = lock(&self.asked);
        // One that ended without an answer, with its runtime, tells nobody anything.
        if let Some(answer) = asked.get(&question).filter(|answer| answer.has_changed().is_ok()) {
            return answer.clone();
        }
        let (tell, answer) = watch::channel(None);
        asked.insert(question.clone(), answer.clone());
        let (resolver, asked) = (Arc::clone(&self.resolver), Arc::clone(&self.asked));
        tokio::spawn(async move {
            let found = resolver.resolve_for(&question.1, account).await;
            let found = found.map_err(|error| error.kind());
            lock(&asked).remove(&question);
            tell.send_replace(Some(found));
        });
        answer
    }
}

fn lock(asked: &Mutex<Questions>) -> MutexGuard<'_, Questions> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R: Resolve + 'static> Resolve for Sharing<R> {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        self.resolve_for(name, None)
    }

    fn resolve_for<'a>(&'a self, name: &'a str, account: Option<AccountId>) -> Resolving<'a> {
        Box::pin(async move {
            let mut answer = self.ask(name, account);
            let found = answer.wait_for(Option::is_some).await;
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

    /// Answers when it is let, and counts the questions.
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
    async fn those_who_wait_share_an_answer_and_those_who_come_later_ask_again() {
        let (asked, let_go) = (Arc::<AtomicUsize>::default(), Arc::new(Semaphore::new(0)));
        let sharing = Arc::new(Sharing::new(Counting {
            asked: Arc::clone(&asked),
            let_go: Arc::clone(&let_go),
        }));
        for round in 0..3 {
            let mut waiting = JoinSet::new();
            for _ in 0..10 {
                let sharing = Arc::clone(&sharing);
                waiting.spawn(async move { sharing.resolve("till.example.com").await.unwrap() });
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
        let failed = sharing.resolve("none.example.com").await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::NotFound);
        assert!(lock(&sharing.asked).is_empty());
    }

    #[tokio::test]
    async fn an_answer_comes_to_its_end_though_who_asked_has_gone() {
        let (asked, let_go) = (Arc::<AtomicUsize>::default(), Arc::new(Semaphore::new(0)));
        let sharing = Sharing::new(Counting {
            asked: Arc::clone(&asked),
            let_go: Arc::clone(&let_go),
        });
        let pause = std::time::Duration::from_millis(10);
        for _ in 0..3 {
            let gone = tokio::time::timeout(pause, sharing.resolve("till.example.com")).await;
            assert!(gone.is_err());
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let_go.add_permits(1);
        assert!(sharing.resolve("till.example.com").await.is_ok());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}
