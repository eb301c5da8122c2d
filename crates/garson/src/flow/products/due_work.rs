//! The loop of the workers for availability, menus, prices and catalogs: finds due work and runs one task for each piece of it.
//!
//! A piece of work (an integration, a restaurant, a catalog) has at most one task on this node, and accounts share the tasks fairly, so
//! that a slow or rate-limited platform delays only its own work. Which node may send is decided by the rows that a task claims.

use crate::app::App;
use crate::fair_slots::{FairSlots, SlotLimits};
use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use garson_store::{StoreError, Tx};
use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};

/// How often due work is searched: another node may have written some.
const INTERVAL: Duration = Duration::from_secs(1);

/// What differs between the workers.
pub(super) trait DueWork: Send + 'static {
    /// The name of the work in logs.
    const NAME: &'static str;
    /// Tasks at the same time.
    const SLOTS: SlotLimits;
    type Id: Copy + Display + Eq + Hash + Send + 'static;
    type Error: Debug + Send;

    /// Notified when this node has written due work.
    fn signal(app: &App) -> &Notify;

    /// Runs at the start of every turn.
    fn prepare(&mut self, _app: &App) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }

    /// When the next work is due; a single step in an index.
    fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, StoreError>;

    /// Due work with its accounts: more than can run at once, so that one account does not hide the others.
    fn due(
        &mut self,
        app: &App,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<(Self::Id, AccountId)>, StoreError>> + Send;

    /// Does one piece of work. An error is logged.
    fn work(
        app: &Arc<App>,
        account: AccountId,
        id: Self::Id,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Runs after an error of [`work`](Self::work).
    fn clean_up(_app: &App, _account: AccountId, _id: Self::Id) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// Does due work until the service stops.
pub(super) async fn run<W: DueWork>(app: Arc<App>, work: W) {
    let mut worker = Worker::new(work);
    let mut stopping = app.stopping.subscribe();
    while !*stopping.borrow_and_update() {
        let turn = worker.turn(&app).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, work = W::NAME, "due work could not be read");
        }
        tokio::select! {
            Some(ended) = worker.running.join_next() => worker.record_end(ended),
            () = W::signal(&app).notified() => {}
            () = tokio::time::sleep(INTERVAL) => {}
            _ = stopping.changed() => {}
        }
    }
}

struct Worker<W: DueWork> {
    work: W,
    slots: Arc<FairSlots>,
    running: JoinSet<W::Id>,
    in_progress: HashSet<W::Id>,
}

impl<W: DueWork> Worker<W> {
    fn new(work: W) -> Self {
        Self {
            work,
            slots: FairSlots::new(W::SLOTS),
            running: JoinSet::new(),
            in_progress: HashSet::new(),
        }
    }

    /// Starts as much due work as slots allow.
    async fn turn(&mut self, app: &Arc<App>) -> Result<(), StoreError> {
        while let Some(ended) = self.running.try_join_next() {
            self.record_end(ended);
        }
        if app.store.node_id().is_none() || !app.node_lease.is_valid() {
            return Ok(());
        }
        self.work.prepare(app).await?;
        let now = app.now();
        if app.store.read(W::next_due).await?.is_none_or(|at| at > now) {
            return Ok(());
        }
        for (id, account) in self.work.due(app, now).await? {
            self.start(app, account, id);
        }
        Ok(())
    }

    fn start(&mut self, app: &Arc<App>, account: AccountId, id: W::Id) {
        if self.in_progress.contains(&id) {
            return;
        }
        let Some(slot) = self.slots.try_acquire(account) else {
            return;
        };
        self.in_progress.insert(id);
        let app = Arc::clone(app);
        self.running.spawn(async move {
            let _slot = slot;
            if let Err(error) = W::work(&app, account, id).await {
                tracing::warn!(%id, ?error, work = W::NAME, "due work failed");
                W::clean_up(&app, account, id).await;
            }
            id
        });
    }

    fn record_end(&mut self, ended: Result<W::Id, JoinError>) {
        match ended {
            Ok(id) => {
                self.in_progress.remove(&id);
            }
            Err(error) => {
                tracing::error!(%error, work = W::NAME, "a task panicked");
                // It is unknown which one; the claimed rows keep a second task from sending.
                self.in_progress.clear();
            }
        }
    }
}
