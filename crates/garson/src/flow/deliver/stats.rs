//! Statistics of endpoints: stored by the hour from time to time, and read with what is not stored yet.

use crate::app::App;
use crate::app::endpoint_stats::UnstoredHour;
use crate::flow::Fault;
use garson_core::id::{AccountId, EndpointId};
use garson_store::StoreError;
use garson_store::tables::endpoint_stats::HourStats;
use garson_store::tables::{accounts, endpoint_stats};
use std::sync::Arc;
use std::time::Duration;

/// How often numbers are stored.
const INTERVAL: Duration = Duration::from_secs(30);
/// Statistics cover this many hours, the current one included.
pub const HOURS: i64 = 7 * 24;

/// Stores numbers until the service stops.
pub async fn run(app: Arc<App>) {
    let mut stopping = app.stopping.subscribe();
    loop {
        tokio::select! {
            _ = stopping.wait_for(|stopping| *stopping) => {}
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let is_stopping = *app.stopping.borrow();
        let turn = store(&app).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, "statistics of endpoints could not be stored");
        }
        if is_stopping {
            return;
        }
    }
}

/// Stores what is not stored yet.
async fn store(app: &App) -> Result<(), StoreError> {
    let mut result = Ok(());
    let mut hours = app.endpoint_stats.take().into_iter();
    for hour in hours.by_ref() {
        result = store_hour(app, hour).await;
        if result.is_err() {
            break;
        }
    }
    hours.for_each(|hour| app.endpoint_stats.put_back(&hour));
    result
}

async fn store_hour(app: &App, hour: UnstoredHour) -> Result<(), StoreError> {
    let copy = hour.clone();
    let stored = app
        .store
        .write(hour.account, move |tx| {
            accounts::lock(tx, copy.account)?;
            endpoint_stats::add(tx, copy.account, copy.endpoint, &copy.stats)
        })
        .await;
    if stored.is_err() {
        app.endpoint_stats.put_back(&hour);
    }
    stored
}

/// How an endpoint's attempts went.
#[derive(Clone, Debug, Default)]
pub struct EndpointStatistics {
    /// The hours with attempts, the oldest first.
    pub hours: Vec<HourStats>,
    /// All of them together.
    pub total: HourStats,
}

impl EndpointStatistics {
    /// The part of the attempts that succeeded, in per mille; `None` without attempts.
    #[must_use]
    pub fn success_per_mille(&self) -> Option<i64> {
        success_per_mille(&self.total)
    }
}

/// The part of an hour's attempts that succeeded, in per mille; `None` without attempts.
#[must_use]
pub fn success_per_mille(stats: &HourStats) -> Option<i64> {
    let succeeded = stats.attempts - stats.failures;
    (stats.attempts > 0).then(|| succeeded * 1000 / stats.attempts)
}

/// An endpoint's statistics of the last week.
pub async fn read(app: &App, account: AccountId, endpoint: EndpointId) -> Result<EndpointStatistics, Fault> {
    let first = HourStats::hour_of(app.now()) - HOURS + 1;
    let unstored = app.endpoint_stats.of(account, endpoint);
    let mut hours = app
        .store
        .read(move |tx| Ok::<_, Fault>(endpoint_stats::since(tx, endpoint, first)?))
        .await?;
    for more in unstored {
        match hours.iter_mut().find(|hour| hour.hour == more.hour) {
            Some(hour) => hour.add(&more),
            None => hours.push(more),
        }
    }
    hours.sort_by_key(|hour| hour.hour);
    let mut total = HourStats::default();
    hours.iter().for_each(|hour| total.add(hour));
    Ok(EndpointStatistics { hours, total })
}
