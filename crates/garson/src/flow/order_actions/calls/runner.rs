//! The worker that makes calls: leases due calls as slots allow, starts them, and records how they ended.

use super::make::make;
use super::slots::{PlatformAnswer, Slots};
use super::timing::LEASE;
use crate::app::App;
use crate::app::call_waker::WakeHints;
use crate::flow::Fault;
use garson_core::id::{AccountId, IntegrationId};
use garson_core::order::ProviderSync;
use garson_core::time::Timestamp;
use garson_store::tables::calls;
use garson_store::tables::calls::{DueCall, Leased, UnreadableCall};
use garson_store::tables::orders;
use garson_store::{Partition, StoreError, Tx};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::Instant;

/// How often all queues are read: another process may have written calls without waking this one.
const SCAN_INTERVAL: Duration = Duration::from_secs(5);
/// How often calls are searched that a fast clock has planned too late.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// How much clocks of nodes normally differ.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(2);
/// Calls brought forward in one transaction.
const BRING_FORWARD_BATCH: i64 = 500;
/// The pause while this node may not start calls, and after due calls turned out to be leased elsewhere.
const NOT_JOINED_PAUSE: Duration = Duration::from_millis(500);
const NOTHING_LEASED_PAUSE: Duration = Duration::from_millis(50);
/// The pause after storage has failed.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Makes calls until the service stops, then waits for those in flight.
pub async fn run(app: Arc<App>) {
    let mut runner = CallRunner::default();
    let mut stopping = app.stopping.subscribe();
    while !*stopping.borrow_and_update() {
        runner.record_all_ended();
        let turn = runner.turn(&app, app.call_waker.take()).await;
        app.workers.note_turn(&turn);
        let pause = match turn {
            Ok(_) => runner.pause(&app),
            Err(fault) => {
                tracing::error!(?fault, "platform calls cannot be made");
                runner.scanned_at = None;
                tokio::select! {
                    () = tokio::time::sleep(ERROR_PAUSE) => {}
                    _ = stopping.changed() => {}
                }
                continue;
            }
        };
        tokio::select! {
            Some(ended) = runner.running.join_next_with_id(), if !runner.running.is_empty() => runner.record_end(ended),
            () = app.call_waker.woken() => {}
            () = tokio::time::sleep(pause) => {}
            _ = stopping.changed() => {}
        }
    }
    while runner.running.join_next().await.is_some() {}
}

/// Makes calls that are due and waits for them; `false` when there were none.
pub async fn step(app: &Arc<App>) -> Result<bool, Fault> {
    let mut runner = CallRunner::default();
    let begun = runner.turn(app, WakeHints::default()).await?;
    while runner.running.join_next().await.is_some() {}
    Ok(begun > 0)
}

#[derive(Default)]
struct CallRunner {
    slots: Slots,
    running: JoinSet<PlatformAnswer>,
    /// The integration and account of each running call.
    targets: HashMap<task::Id, (IntegrationId, AccountId)>,
    /// When all queues were read.
    scanned_at: Option<Instant>,
    /// Calls that seemed due could not be leased: another node is about to make them.
    nothing_leased: bool,
    /// Both clocks at the last check of planned calls.
    clock_check: Option<(Timestamp, Instant)>,
}

impl CallRunner {
    /// Finds due calls and starts as many as slots allow; returns how many.
    async fn turn(&mut self, app: &Arc<App>, hints: WakeHints) -> Result<usize, Fault> {
        if hints.all {
            self.scanned_at = None;
        }
        for integration in hints.integrations {
            self.slots.mark_stale(integration);
        }
        if app.maker().is_none() || !app.node_lease.is_valid() {
            return Ok(0);
        }
        self.bring_forward(app).await?;
        if self.scanned_at.is_none_or(|at| at.elapsed() >= SCAN_INTERVAL) {
            let began = Instant::now();
            let queues = app.store.read(calls::queues).await?;
            self.slots.set_queues(&queues, app.now());
            self.scanned_at = Some(began);
        }
        self.refresh_stale(app).await?;
        self.begin(app).await
    }

    /// Reads when the next calls are due of integrations whose queues may have changed.
    async fn refresh_stale(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let stale = self.slots.stale_queues();
        if stale.is_empty() {
            return Ok(());
        }
        let holder = Arc::clone(app);
        let found = app
            .store
            .read(move |tx| {
                let maker = holder.maker().unwrap_or_else(calls::LeaseHolder::none);
                stale
                    .iter()
                    .map(|id| Ok((*id, calls::next_due(tx, *id, maker)?)))
                    .collect::<Result<Vec<_>, StoreError>>()
            })
            .await?;
        for (integration, next) in found {
            self.slots.set_next_due(integration, next);
        }
        Ok(())
    }

    async fn begin(&mut self, app: &Arc<App>) -> Result<usize, Fault> {
        let now = app.now();
        let chosen = self.slots.choose(now, Instant::now());
        self.nothing_leased = false;
        if chosen.is_empty() {
            return Ok(0);
        }
        let (holder, wanted) = (Arc::clone(app), chosen.clone());
        let lease = move |tx: &mut Tx<'_>| {
            // The lease starts now: the job may have waited for the writer.
            let Some(maker) = holder.maker() else {
                return Ok(Vec::new());
            };
            wanted
                .iter()
                .map(|(integration, count)| calls::lease_due(tx, *integration, now, maker, LEASE, *count))
                .collect::<Result<Vec<_>, StoreError>>()
        };
        let leased: Vec<Vec<Leased>> = app.store.write(Partition::COMMON, lease).await?;
        let mut begun = 0;
        for ((integration, wanted), leased) in chosen.into_iter().zip(leased) {
            self.slots.leased(integration, leased.len(), wanted);
            begun += leased.len();
            for call in leased {
                match call {
                    Leased::Call(call) => self.spawn(app, *call),
                    Leased::Unreadable(call) => {
                        if let Err(fault) = set_aside(app, call).await {
                            // Its lease runs out, and it is retried.
                            tracing::error!(?fault, "a platform call could not be set aside");
                        }
                    }
                }
            }
        }
        self.nothing_leased = begun == 0;
        Ok(begun)
    }

    fn spawn(&mut self, app: &Arc<App>, call: DueCall) {
        let (integration, account) = (call.integration_id, call.account_id);
        self.slots.begun(integration, account);
        let (app, in_flight) = (Arc::clone(app), app.calls_in_flight.begin(&call));
        let started = self.running.spawn(async move {
            let answer = make(&app, &call).await;
            drop(in_flight);
            answer.unwrap_or_else(|fault| {
                // Its lease runs out, and the call is retried.
                tracing::error!(call = %call.id, ?fault, "a platform call could not be made");
                PlatformAnswer::Unsent
            })
        });
        self.targets.insert(started.id(), (integration, account));
    }

    /// Records all calls that have ended, without waiting for any.
    fn record_all_ended(&mut self) {
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.record_end(ended);
        }
    }

    fn record_end(&mut self, ended: Result<(task::Id, PlatformAnswer), JoinError>) {
        let (id, answer) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                tracing::error!(%error, "a platform call panicked");
                (error.id(), PlatformAnswer::Unsent)
            }
        };
        if let Some((integration, account)) = self.targets.remove(&id) {
            self.slots.ended(integration, account, answer, Instant::now());
        }
    }

    /// How long to wait unless woken.
    fn pause(&self, app: &App) -> Duration {
        if app.maker().is_none() || !app.node_lease.is_valid() {
            return NOT_JOINED_PAUSE;
        }
        let until_scan = self.scanned_at.map_or(SCAN_INTERVAL, |at| {
            (at + SCAN_INTERVAL).saturating_duration_since(Instant::now())
        });
        let until_due = self.slots.pause(app.now(), Instant::now());
        let pause = until_due.map_or(until_scan, |time| time.min(until_scan));
        if self.nothing_leased {
            pause.max(NOTHING_LEASED_PAUSE)
        } else {
            pause
        }
    }

    /// Brings forward calls that were planned by a fast clock: after a start, when the clock was set back, and from time to time,
    /// since another node's clock may be fast.
    async fn bring_forward(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let (now, instant) = (app.now(), Instant::now());
        let is_time = self.clock_check.is_none_or(|(then, at)| {
            let passed = instant.duration_since(at);
            passed >= CLOCK_CHECK_INTERVAL || now.plus(CLOCK_TOLERANCE) < then.plus(passed)
        });
        if !is_time {
            return Ok(());
        }
        let mut forward = 0;
        let mut is_any = app
            .store
            .read(move |tx| calls::has_planned_ahead(tx, now, CLOCK_TOLERANCE))
            .await?;
        while is_any {
            let brought = app
                .store
                .write(Partition::COMMON, move |tx| {
                    calls::bring_forward(tx, now, CLOCK_TOLERANCE, BRING_FORWARD_BATCH)
                })
                .await?;
            forward += brought;
            is_any = i64::try_from(brought).is_ok_and(|brought| brought >= BRING_FORWARD_BATCH);
        }
        if forward > 0 {
            tracing::warn!(
                calls = forward,
                "brought forward platform calls that a fast clock had planned"
            );
            self.scanned_at = None;
        }
        self.clock_check = Some((now, instant));
        Ok(())
    }
}

/// A call whose row is damaged is never made; its order shows the failure and continues with the next call.
async fn set_aside(app: &App, call: UnreadableCall) -> Result<(), Fault> {
    tracing::error!(order = ?call.order_id, why = %call.why, "a platform call is unreadable and is set aside");
    let now = app.now();
    let lane = call.account_id.map_or(Partition::COMMON, Partition::from);
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
        app.call_waiters.wake(order);
    }
    Ok(())
}
