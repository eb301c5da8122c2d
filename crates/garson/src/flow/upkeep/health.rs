//! How the service stands, for those who watch it. Storage is asked, but never waited for long.

use crate::app::App;
use crate::telemetry::Standing;
use garson_core::time::Timestamp;
use garson_store::tables::inbox::InboxState;
use garson_store::tables::{accounts, calls, deliveries, inbox, nodes};
use garson_store::upkeep::disk_space;
use garson_store::{Engine, Lane, StoreError, Tx};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// How long storage may take to answer before it is taken for away.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How far rows are counted: looking must stay cheap whatever has piled up. Ten times as many take SQLite 20 ms.
const MOST: i64 = 10_000;

/// Figures that are read when somebody looks.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub undelivered: i64,
    pub open_calls: i64,
    /// For how long the first of them has been due.
    pub calls_overdue: Duration,
    /// Messages that were kept, by [`InboxState::OPEN`].
    pub kept_messages: [i64; InboxState::OPEN.len()],
    pub nodes: i64,
}

fn figures(tx: &mut Tx<'_>, now: Timestamp) -> Result<Figures, StoreError> {
    let (open_calls, first_due_at) = calls::count_open(tx, MOST)?;
    Ok(Figures {
        undelivered: deliveries::count_pending(tx, MOST)?,
        open_calls,
        calls_overdue: first_due_at.map_or(Duration::ZERO, |due_at| now.since(due_at)),
        kept_messages: inbox::count_open(tx, MOST)?,
        nodes: nodes::count(tx)?,
    })
}

/// What is asked of storage again and again.
#[derive(Default)]
pub struct Vitals {
    storage: Probe<()>,
    figures: Probe<Figures>,
}

/// Why the service is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// Storage does not answer, or takes nothing.
    Storage(StoreError),
    /// This node is not among those of its database, so it delivers nothing.
    NotJoined,
    /// A worker ends again and again, however often it is started, or all its turns fail.
    WorkerFails(&'static str),
}

/// Is the service ready to take orders? A node whose lease has run out for the moment still is.
pub async fn check(app: &App) -> Result<(), NotReady> {
    let store = app.store.clone();
    app.vitals
        .storage
        .ask(try_storage(store))
        .await
        .map_err(NotReady::Storage)?;
    match (app.store.desk().node(), app.workers.failing()) {
        (None, _) => Err(NotReady::NotJoined),
        (Some(_), Some(worker)) => Err(NotReady::WorkerFails(worker)),
        (Some(_), None) => Ok(()),
    }
}

/// Storage answers; and after a transaction that failed, storage must have taken something large again. A disk may be full,
/// which neither reading nor a small commit notices.
async fn try_storage(store: Engine) -> Result<(), StoreError> {
    store.read(accounts::any_exists).await?;
    if store.stats().is_in_doubt() {
        let (losses, probe) = (store.stats().losses(), disk_space::Probe::new());
        store
            .write(Lane::COMMON, move |tx| disk_space::write_probe(tx, probe))
            .await?;
        store
            .write(Lane::COMMON, move |tx| disk_space::remove_probe(tx, probe))
            .await?;
        store.stats().prove(losses);
    }
    Ok(())
}

/// Everything that can be said now.
pub async fn standing(app: &App) -> Standing {
    let (store, now) = (app.store.clone(), app.now());
    let read = async move { store.read(move |tx| figures(tx, now)).await };
    let (up, figures) = tokio::join!(
        app.vitals.storage.ask(try_storage(app.store.clone())),
        app.vitals.figures.ask(read)
    );
    if let Err(error) = &figures {
        tracing::warn!(%error, "no figures from storage");
    }
    let oldest_at = app.delivering.oldest_at();
    Standing {
        storage_is_up: up.is_ok() && figures.is_ok(),
        figures: figures.ok(),
        has_joined: app.store.desk().node().is_some(),
        lease_is_valid: app.lease.is_valid(),
        delivering: app.delivering.memory(),
        waiting_accounts: app.delivering.waiting_accounts(),
        oldest_age: oldest_at.map_or(Duration::ZERO, |at| app.now().since(at)),
        polled_integrations: app.hurry.posts(),
    }
}

/// A question that is put once at a time, however many want to know, and that nobody waits for longer than a moment. So
/// those who look cannot fill the queues of a database that is in trouble.
struct Probe<T> {
    patience: Duration,
    is_asking: Arc<AtomicBool>,
    heard: Arc<watch::Sender<Option<Result<T, StoreError>>>>,
}

impl<T> Default for Probe<T> {
    fn default() -> Self {
        Self {
            patience: PATIENCE,
            is_asking: Arc::default(),
            heard: Arc::new(watch::Sender::new(None)),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Probe<T> {
    async fn ask(
        &self,
        question: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut heard = self.heard.subscribe();
        if !self.is_asking.swap(true, Ordering::SeqCst) {
            let (is_asking, tell) = (Arc::clone(&self.is_asking), Arc::clone(&self.heard));
            tokio::spawn(async move {
                let answer = question.await;
                // In this order: whoever comes in between asks anew, and hears this answer.
                is_asking.store(false, Ordering::SeqCst);
                tell.send_replace(Some(answer));
            });
        }
        let silent = || StoreError::unavailable("the database does not answer");
        match tokio::time::timeout(self.patience, heard.changed()).await {
            Ok(Ok(())) => heard.borrow().clone().unwrap_or_else(|| Err(silent())),
            _ => Err(silent()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn a_question_is_put_once_at_a_time_and_again_after_its_answer() {
        let probe = Probe::<usize> {
            patience: Duration::from_millis(20),
            ..Probe::default()
        };
        let (asked, answer) = (Arc::new(AtomicUsize::default()), Arc::new(Notify::new()));
        let question = || {
            let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
            async move {
                let number = asked.fetch_add(1, Ordering::SeqCst);
                answer.notified().await;
                Ok(number)
            }
        };
        for _ in 0..10 {
            assert!(probe.ask(question()).await.is_err(), "nobody answers");
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let (first, second, ()) = tokio::join!(probe.ask(question()), probe.ask(question()), async {
            answer.notify_one();
        });
        assert_eq!((first, second), (Ok(0), Ok(0)), "both hear the one answer");
        answer.notify_one();
        assert_eq!(probe.ask(question()).await, Ok(1));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}
