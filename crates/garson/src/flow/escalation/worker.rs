//! The worker that finds due steps. A turn takes a bounded number of steps of each account, so that none has to wait for another.

use super::cancel::cancel;
use super::take::{Taken, Watched, take};
use crate::app::App;
use crate::fair_slots::{FairSlots, SlotLimits};
use crate::flow::Fault;
use crate::flow::presence;
use garson_core::id::{AccountId, OrderId};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::escalation_steps;
use garson_store::tables::escalation_steps::DueStep;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How often due steps are searched.
const INTERVAL: Duration = Duration::from_secs(1);
/// Accounts in a turn; the next turn continues after them.
const ACCOUNTS: usize = 100;
/// Steps of an account in a turn: a few milliseconds of the writer's time.
const STEPS: i64 = 25;
/// Cancellations that ask their platforms at the same time.
const CANCEL_SLOTS: SlotLimits = SlotLimits {
    total: 32,
    per_account: 4,
    failing: 32,
};

/// Takes steps until the service stops.
pub async fn run(app: Arc<App>) {
    let mut worker = EscalationWorker::new();
    let mut stopping = app.stopping.subscribe();
    while !*stopping.borrow_and_update() {
        let turn = worker.turn(&app).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            // More may be due; the pause leaves the writer to others.
            Ok(taken) if taken > 0 => Duration::from_millis(20),
            Ok(_) => INTERVAL,
            Err(fault) => {
                tracing::error!(?fault, "escalation steps could not be taken");
                INTERVAL
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopping.changed() => {}
        }
    }
}

/// Takes the steps that are due, one turn of them, and waits for cancellations; `false` when there were none.
pub async fn step(app: &Arc<App>) -> Result<bool, Fault> {
    let mut worker = EscalationWorker::new();
    let mut taken = worker.turn(app).await?;
    while let Some(ended) = worker.cancelling.join_next().await {
        taken += usize::from(ended.is_ok());
    }
    Ok(taken > 0)
}

/// A step by its order and number.
type StepKey = (OrderId, i64);

struct EscalationWorker {
    slots: Arc<FairSlots>,
    cancelling: JoinSet<StepKey>,
    in_progress: HashSet<StepKey>,
    /// The last account of the last turn: of steps that need no platform, and of the others.
    after: [Option<AccountId>; 2],
}

impl EscalationWorker {
    fn new() -> Self {
        Self {
            slots: FairSlots::new(CANCEL_SLOTS),
            cancelling: JoinSet::new(),
            in_progress: HashSet::new(),
            after: [None, None],
        }
    }

    /// Takes due steps and starts due cancellations; returns how many steps were taken.
    async fn turn(&mut self, app: &Arc<App>) -> Result<usize, Fault> {
        while let Some(ended) = self.cancelling.try_join_next() {
            match ended {
                Ok(key) => {
                    self.in_progress.remove(&key);
                }
                Err(error) => {
                    tracing::error!(%error, "an automatic cancellation panicked");
                    // Which one is unknown; those that are running are not started twice in earnest: the row decides.
                    self.in_progress.clear();
                }
            }
        }
        if app.store.node_id().is_none() || !app.node_lease.is_valid() {
            return Ok(0);
        }
        let now = app.now();
        let next = app.store.read(escalation_steps::next_due).await?;
        if next.is_none_or(|at| at > now) {
            return Ok(0);
        }
        let mut taken = 0;
        for (account, steps) in self.due(app, false, now).await? {
            match take_all(app, account, steps, now).await {
                Ok(count) => taken += count,
                // The steps of the other accounts must not wait.
                Err(fault @ Fault::Store(_)) => return Err(fault),
                Err(fault) => tracing::error!(%account, ?fault, "escalation steps of an account failed"),
            }
        }
        for (account, steps) in self.due(app, true, now).await? {
            self.begin_cancelling(app, account, steps);
        }
        Ok(taken)
    }

    /// The due steps of the next accounts.
    async fn due(
        &mut self,
        app: &App,
        needs_platform: bool,
        now: Timestamp,
    ) -> Result<Vec<(AccountId, Vec<DueStep>)>, Fault> {
        let Some(last) = self.after.get_mut(usize::from(needs_platform)) else {
            return Ok(Vec::new());
        };
        let after = *last;
        let read = move |tx: &mut Tx<'_>| {
            let accounts = escalation_steps::due_accounts(tx, needs_platform, after, now, ACCOUNTS)?;
            let is_last = accounts.len() < ACCOUNTS;
            let steps = accounts.into_iter().map(|account| {
                let due = escalation_steps::due(tx, needs_platform, account, now, STEPS)?;
                Ok::<_, Fault>((account, due))
            });
            Ok::<_, Fault>((steps.collect::<Result<Vec<_>, _>>()?, is_last))
        };
        let (found, is_last) = app.store.read(read).await?;
        *last = if is_last {
            None
        } else {
            found.last().map(|(account, _)| *account)
        };
        Ok(found)
    }

    fn begin_cancelling(&mut self, app: &Arc<App>, account: AccountId, steps: Vec<DueStep>) {
        for step in steps {
            let key = (step.order_id, step.number);
            if self.in_progress.contains(&key) {
                continue;
            }
            let Some(slot) = self.slots.try_acquire(account) else {
                return;
            };
            self.in_progress.insert(key);
            let app = Arc::clone(app);
            self.cancelling.spawn(async move {
                let _slot = slot;
                if let Err(fault) = cancel(&app, &step).await {
                    tracing::error!(account = %step.account_id, ?fault, "an automatic cancellation failed");
                }
                key
            });
        }
    }
}

/// Takes steps of one account in one transaction; returns how many are done with.
async fn take_all(
    app: &Arc<App>,
    account: AccountId,
    steps: Vec<DueStep>,
    now: Timestamp,
) -> Result<usize, Fault> {
    let watched = watched(app, account, &steps).await?;
    let (holder, steps) = (Arc::clone(app), Arc::new(steps));
    let taken: Vec<Taken> = app
        .store
        .write(account, move |tx| {
            steps
                .iter()
                .map(|step| take(tx, &holder, step, &watched, now))
                .collect::<Result<_, Fault>>()
        })
        .await?;
    for taken in &taken {
        match taken {
            Taken::Verified(integration) => app.call_waker.wake(*integration),
            Taken::MessageWritten => app.wake_messages.notify_one(),
            Taken::Other | Taken::Postponed => {}
        }
    }
    Ok(taken.iter().filter(|it| !matches!(it, Taken::Postponed)).count())
}

/// Who watches the account's restaurants, if a step depends on it.
async fn watched(app: &App, account: AccountId, steps: &[DueStep]) -> Result<Watched, Fault> {
    let depends = |step: &DueStep| step.step.as_ref().is_some_and(|step| step.only_if_unwatched);
    if !steps.iter().any(depends) {
        return Ok(Watched::Unknown);
    }
    if !app.presence.is_settled(app.now()) {
        return Ok(Watched::Unknown);
    }
    presence::of_account(app, account).await.map(Watched::By)
}
