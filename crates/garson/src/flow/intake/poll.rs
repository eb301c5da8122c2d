//! Polls platforms for orders: the only source for platforms that do not push, and a safety net for those that do.
//!
//! Each polled integration has an entry in the schedule: when it is polled next, and up to when its orders have been seen. A node
//! polls the integrations that no other live node has claimed. An order that is both pushed and polled is one order.

mod missing_orders;
mod query;
mod round;
mod schedule;
mod storage;

use self::schedule::PollSchedule;
use crate::app::App;
use crate::app::poll_requests::RequestOrigin;
use crate::flow::Fault;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often the polled integrations are looked up.
const REFRESH_EVERY: Duration = Duration::from_secs(20);
/// After a change they are looked up earlier, but not more often than this.
const REFRESH_AFTER_CHANGE: Duration = Duration::from_millis(500);

pub async fn run(app: Arc<App>) {
    let mut schedule = PollSchedule::default();
    let mut refresh_at = Instant::now();
    let mut refreshed_at = refresh_at;
    loop {
        if app.poll_requests.take_integrations_changed() {
            // A chain's restaurants may be connected one after the other.
            refresh_at = refresh_at.min(refreshed_at + REFRESH_AFTER_CHANGE);
        }
        if Instant::now() >= refresh_at {
            // Errors are logged where they happen.
            app.workers.note_turn(&schedule.refresh(&app).await);
            refreshed_at = Instant::now();
            refresh_at = refreshed_at + REFRESH_EVERY;
        }
        schedule.poll_now(&app, app.poll_requests.take_requested());
        schedule.start_due(&app);
        let next = schedule.next_at().map_or(refresh_at, |at| at.min(refresh_at));
        tokio::select! {
            Some(round) = schedule.join_next() => match round {
                Ok(round) => schedule.finish(&app, round),
                Err(error) => tracing::error!(%error, "a round of polling was aborted"),
            },
            () = app.poll_requests.requested() => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

/// Polls every integration once and waits for the end; for tests.
pub async fn step(app: &Arc<App>) -> Result<(), Fault> {
    let mut schedule = PollSchedule::default();
    schedule.refresh(app).await?;
    let all = schedule.integrations().map(|id| (id, RequestOrigin::OtherNode));
    let all = all.collect();
    schedule.poll_now(app, all);
    schedule.start_due(app);
    while let Some(round) = schedule.join_next().await {
        if let Ok(round) = round {
            schedule.finish(app, round);
        }
    }
    Ok(())
}
