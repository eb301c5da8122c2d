//! The worker that makes calls: leases what is due and has room, begins it, and notes how it ended.

use super::slots::{Slots, Went};
use super::{Hints, LEASE, make};
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, IntegrationId};
use garson_core::order::ProviderSync;
use garson_core::time::Timestamp;
use garson_store::tables::calls;
use garson_store::tables::calls::{DueCall, Leased, UnreadableCall};
use garson_store::tables::orders;
use garson_store::{Lane, StoreError, Tx};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::Instant;

/// How often all queues are looked at: another process may have written something, and nothing wakes us for that.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How often calls are looked for that a clock which runs ahead has planned.
const LOOK_AT_CLOCKS: Duration = Duration::from_secs(30);
/// Clocks of nodes differ by this much without anybody having set one.
const TOLERANCE: Duration = Duration::from_secs(2);
/// So many calls are brought forward at once.
const AT_ONCE: i64 = 500;
/// How long until it is looked again whether this node may begin something, and when nothing could be had.
const NOT_JOINED: Duration = Duration::from_millis(500);
const IN_VAIN: Duration = Duration::from_millis(50);
/// How long nothing is tried after storage has failed.
const AFTER_AN_ERROR: Duration = Duration::from_secs(1);

/// Makes calls until the service ends. Those that are under way then come to their end; nothing more is begun.
pub async fn run(app: Arc<App>) {
    let mut worker = Worker::default();
    let mut stopping = app.stopping.subscribe();
    while !*stopping.borrow_and_update() {
        worker.note_all_ended();
        let turn = worker.turn(&app, app.wake_calls.take()).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(_) => worker.pause(&app),
            Err(fault) => {
                tracing::error!(?fault, "platform calls cannot be made");
                worker.looked_at = None;
                tokio::select! {
                    () = tokio::time::sleep(AFTER_AN_ERROR) => {}
                    _ = stopping.changed() => {}
                }
                continue;
            }
        };
        tokio::select! {
            Some(ended) = worker.running.join_next_with_id(), if !worker.running.is_empty() => worker.note_end(ended),
            () = app.wake_calls.woken() => {}
            () = tokio::time::sleep(pause) => {}
            _ = stopping.changed() => {}
        }
    }
    while worker.running.join_next().await.is_some() {}
}

/// Makes calls that are due and waits for them; `false` when there were none.
pub async fn step(app: &Arc<App>) -> Result<bool, Fault> {
    let mut worker = Worker::default();
    let begun = worker.turn(app, Hints::default()).await?;
    while worker.running.join_next().await.is_some() {}
    Ok(begun > 0)
}

#[derive(Default)]
struct Worker {
    slots: Slots,
    running: JoinSet<Went>,
    /// For whom each of them is.
    targets: HashMap<task::Id, (IntegrationId, AccountId)>,
    /// When all queues were looked at.
    looked_at: Option<Instant>,
    /// What seemed to be due could not be had: somebody else is about to take it.
    in_vain: bool,
    /// What the clocks said when planned calls were looked at.
    clocks: Option<(Timestamp, Instant)>,
}

impl Worker {
    /// Looks where there may be something to do, and begins what can be begun; says how many calls that were.
    async fn turn(&mut self, app: &Arc<App>, hints: Hints) -> Result<usize, Fault> {
        if hints.anywhere {
            self.looked_at = None;
        }
        for integration in hints.integrations {
            self.slots.is_stale(integration);
        }
        if app.maker().is_none() || !app.lease.is_valid() {
            return Ok(0);
        }
        self.bring_forward(app).await?;
        if self.looked_at.is_none_or(|at| at.elapsed() >= LOOK_AGAIN) {
            let began = Instant::now();
            let queues = app.store.read(calls::queues).await?;
            self.slots.know_all(&queues, app.now());
            self.looked_at = Some(began);
        }
        self.look(app).await?;
        self.begin(app).await
    }

    /// Finds out when the next calls are due of those integrations for which something may have changed.
    async fn look(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let asked = self.slots.to_look_at();
        if asked.is_empty() {
            return Ok(());
        }
        let holder = Arc::clone(app);
        let found = app
            .store
            .read(move |tx| {
                let maker = holder.maker().unwrap_or_else(calls::LeaseHolder::none);
                asked
                    .iter()
                    .map(|id| Ok((*id, calls::next_due(tx, *id, maker)?)))
                    .collect::<Result<Vec<_>, StoreError>>()
            })
            .await?;
        for (integration, next) in found {
            self.slots.know(integration, next);
        }
        Ok(())
    }

    async fn begin(&mut self, app: &Arc<App>) -> Result<usize, Fault> {
        let now = app.now();
        let chosen = self.slots.choose(now, Instant::now());
        self.in_vain = false;
        if chosen.is_empty() {
            return Ok(0);
        }
        let (holder, wanted) = (Arc::clone(app), chosen.clone());
        let lease = move |tx: &mut Tx<'_>| {
            // The lease counts from now on: the job may have waited for its turn.
            let Some(maker) = holder.maker() else {
                return Ok(Vec::new());
            };
            wanted
                .iter()
                .map(|(integration, count)| calls::lease_due(tx, *integration, now, maker, LEASE, *count))
                .collect::<Result<Vec<_>, StoreError>>()
        };
        let leased: Vec<Vec<Leased>> = app.store.write(Lane::COMMON, lease).await?;
        let mut begun = 0;
        for ((integration, wanted), leased) in chosen.into_iter().zip(leased) {
            self.slots.leased(integration, leased.len(), wanted);
            begun += leased.len();
            for call in leased {
                match call {
                    Leased::Call(call) => self.spawn(app, *call),
                    Leased::Unreadable(call) => {
                        if let Err(fault) = set_aside(app, call).await {
                            // Its lease runs out, and it is tried again.
                            tracing::error!(?fault, "a platform call could not be set aside");
                        }
                    }
                }
            }
        }
        self.in_vain = begun == 0;
        Ok(begun)
    }

    fn spawn(&mut self, app: &Arc<App>, call: DueCall) {
        let (integration, account) = (call.integration_id, call.account_id);
        self.slots.begun(integration, account);
        let (app, flight) = (Arc::clone(app), app.in_flight.begin(&call));
        let started = self.running.spawn(async move {
            let went = make(&app, &call).await;
            drop(flight);
            went.unwrap_or_else(|fault| {
                // Its lease runs out, and the call is made again.
                tracing::error!(call = %call.id, ?fault, "a platform call could not be made");
                Went::Unsent
            })
        });
        self.targets.insert(started.id(), (integration, account));
    }

    /// Notes all that have ended, without waiting for any.
    fn note_all_ended(&mut self) {
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.note_end(ended);
        }
    }

    fn note_end(&mut self, ended: Result<(task::Id, Went), JoinError>) {
        let (id, went) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "a platform call ended badly");
                (error.id(), Went::Unsent)
            }
        };
        if let Some((integration, account)) = self.targets.remove(&id) {
            self.slots.ended(integration, account, went, Instant::now());
        }
    }

    /// How long to wait if nothing happens.
    fn pause(&self, app: &App) -> Duration {
        if app.maker().is_none() || !app.lease.is_valid() {
            return NOT_JOINED;
        }
        let until_look = self.looked_at.map_or(LOOK_AGAIN, |at| {
            (at + LOOK_AGAIN).saturating_duration_since(Instant::now())
        });
        let until_due = self.slots.pause(app.now(), Instant::now());
        let pause = until_due.map_or(until_look, |time| time.min(until_look));
        if self.in_vain { pause.max(IN_VAIN) } else { pause }
    }

    /// Brings calls forward that lie ahead only because a clock did: after a start, when the clock was set back, and from time
    /// to time, since another node's clock may run ahead.
    async fn bring_forward(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let (now, instant) = (app.now(), Instant::now());
        let is_time = self.clocks.is_none_or(|(then, at)| {
            let passed = instant.duration_since(at);
            passed >= LOOK_AT_CLOCKS || now.plus(TOLERANCE) < then.plus(passed)
        });
        if !is_time {
            return Ok(());
        }
        let mut forward = 0;
        let mut is_any = app
            .store
            .read(move |tx| calls::has_planned_ahead(tx, now, TOLERANCE))
            .await?;
        while is_any {
            let brought = app
                .store
                .write(Lane::COMMON, move |tx| {
                    calls::bring_forward(tx, now, TOLERANCE, AT_ONCE)
                })
                .await?;
            forward += brought;
            is_any = i64::try_from(brought).is_ok_and(|brought| brought >= AT_ONCE);
        }
        if forward > 0 {
            tracing::warn!(
                calls = forward,
                "platform calls were planned by a clock that was ahead"
            );
            self.looked_at = None;
        }
        self.clocks = Some((now, instant));
        Ok(())
    }
}

/// A call whose row is damaged is never made; its order shows that, and goes on with the next one.
async fn set_aside(app: &App, call: UnreadableCall) -> Result<(), Fault> {
    tracing::error!(order = ?call.order_id, why = call.why, "a platform call cannot be read and is set aside");
    let now = app.now();
    let lane = call.account_id.map_or(Lane::COMMON, Lane::from);
    let order_id = call.order_id;
    app.store
        .write(lane, move |tx| {
            if let (true, Some(order)) = (calls::fail_unreadable(tx, &call, now)?, call.order_id) {
                let message = call.why.clone();
                orders::set_sync_unread(tx, order, &ProviderSync::Failed { message }, now)?;
            }
            Ok::<_, Fault>(())
        })
        .await?;
    if let Some(order) = order_id {
        app.calls_ended.wake(order);
    }
    Ok(())
}
