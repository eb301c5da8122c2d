//! The automatic throttle: counts the orders of restaurants that have one, and makes their stores busy or closes them.
//!
//! Orders are counted after a commit of the account, at most once a second, and every 30 seconds. Order intake does no work for it.

use super::set_desired::set_all;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::{Desired, Requester, Throttle, ThrottleMeasure, ThrottleState};
use garson_core::store_status::{ReasonCode, StoreActor};
use garson_core::time::Timestamp;
use garson_store::tables::store_settings::StoreSettings;
use garson_store::tables::{restaurant_history, restaurants, store_settings};
use garson_store::{Tx, Watcher, WatcherKind};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often accounts are checked for changes.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often the orders of every restaurant are counted.
const COUNT_ALL_EVERY: Duration = Duration::from_secs(30);
/// Restaurants read at once.
const PAGE: i64 = 500;

/// The throttle of a restaurant and its state.
pub async fn get_throttle(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<(Option<Throttle>, ThrottleState), Fault> {
    app.store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            let settings = store_settings::find(tx, restaurant)?;
            Ok((settings.throttle, settings.throttle_state))
        })
        .await
}

/// Sets or removes the throttle of a restaurant. Removing it reopens the stores that it had closed.
pub async fn set_throttle(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    throttle: Option<Throttle>,
    requester: Requester,
) -> Result<(Option<Throttle>, ThrottleState), Fault> {
    let (account, now) = (by.account, app.now());
    let set = app
        .store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            let mut settings = store_settings::find(tx, restaurant)?;
            if settings.throttle != throttle {
                let (before, after) = (
                    json!({ "throttle": settings.throttle }),
                    json!({ "throttle": throttle }),
                );
                let action = Recorded::new(RecordKind::Throttle, Verb::Changed).id(restaurant);
                by.record(tx, action.restaurant(restaurant).change(before, after), now);
                settings.throttle = throttle;
                let whose = (StoreActor::Account, requester);
                let detail = json!({ "throttle": throttle });
                let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::ThrottleSet, detail);
                restaurant_history::record(tx, account, &[entry], now)?;
            }
            let count = count(tx, (account, restaurant), &settings, now)?;
            apply(tx, (account, restaurant), &mut settings, count, now)?;
            store_settings::save(tx, account, restaurant, &settings)?;
            Ok((settings.throttle, settings.throttle_state))
        })
        .await?;
    app.store_signals.wake();
    app.store_signals.throttles_changed.notify_one();
    Ok(set)
}

/// Counts orders until the service stops.
pub async fn run(app: Arc<App>) {
    let mut throttled = Throttled::default();
    let mut count_all_at = Instant::now();
    loop {
        let is_full = Instant::now() >= count_all_at;
        let turn = throttled.turn(&app, is_full).await;
        app.workers.note_turn(&turn);
        if let Err(fault) = turn {
            tracing::error!(?fault, "orders could not be counted for throttles");
        }
        if is_full {
            count_all_at = Instant::now() + COUNT_ALL_EVERY;
        }
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            () = app.store_signals.throttles_changed.notified() => count_all_at = Instant::now(),
        }
    }
}

/// Counts the orders of every restaurant that has a throttle; for tests.
pub async fn step(app: &Arc<App>) -> Result<(), Fault> {
    Throttled::default().turn(app, true).await
}

/// The accounts with throttles, and their restaurants.
#[derive(Default)]
struct Throttled(BTreeMap<AccountId, (Option<Watcher>, Vec<RestaurantId>)>);

impl Throttled {
    async fn turn(&mut self, app: &Arc<App>, is_full: bool) -> Result<(), Fault> {
        if app.store.node_id().is_none() || !app.node_lease.is_valid() {
            return Ok(());
        }
        if is_full {
            self.refresh(app).await?;
        }
        let mut to_count = Vec::new();
        for (account, (watcher, restaurants)) in &mut self.0 {
            let has_changed = watcher.as_ref().is_some_and(Watcher::has_changed);
            if let Some(watcher) = watcher {
                // Before counting, so that a commit during the count is seen as a change.
                watcher.mark_seen();
            }
            if has_changed || is_full {
                to_count.extend(restaurants.iter().map(|restaurant| (*account, *restaurant)));
            }
        }
        for whose in to_count {
            match check(app, whose).await {
                Ok(()) => {}
                Err(fault @ Fault::Store(_)) => return Err(fault),
                Err(fault) => {
                    tracing::error!(restaurant = %whose.1, ?fault, "a throttle could not be checked")
                }
            }
        }
        Ok(())
    }

    async fn refresh(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let mut found: BTreeMap<AccountId, Vec<RestaurantId>> = BTreeMap::new();
        let mut after = None;
        loop {
            let page = app
                .store
                .read(move |tx| store_settings::throttled(tx, after, PAGE))
                .await?;
            let Some(last) = page.last().copied() else { break };
            after = Some(last);
            for (account, restaurant) in page {
                found.entry(account).or_default().push(restaurant);
            }
        }
        self.0.retain(|account, _| found.contains_key(account));
        for (account, restaurants) in found {
            let entry = self.0.entry(account).or_insert_with(|| {
                let watch = app.store.account_watch();
                (watch.watch(account, WatcherKind::Workers, 0, 0), Vec::new())
            });
            entry.1 = restaurants;
        }
        Ok(())
    }
}

/// Counts the orders of a restaurant, and changes its stores if a step is due.
async fn check(app: &App, (account, restaurant): (AccountId, RestaurantId)) -> Result<(), Fault> {
    let now = app.now();
    let is_same = app
        .store
        .read(move |tx| {
            let settings = store_settings::find(tx, restaurant)?;
            let count = count(tx, (account, restaurant), &settings, now)?;
            Ok::<_, Fault>(next(&settings, count, now) == settings.throttle_state)
        })
        .await?;
    if is_same {
        return Ok(());
    }
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Ok(());
            }
            let mut settings = store_settings::find(tx, restaurant)?;
            let count = count(tx, (account, restaurant), &settings, now)?;
            apply(tx, (account, restaurant), &mut settings, count, now)?;
            Ok::<_, Fault>(store_settings::save(tx, account, restaurant, &settings)?)
        })
        .await?;
    app.store_signals.wake();
    Ok(())
}

fn count(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    settings: &StoreSettings,
    now: Timestamp,
) -> Result<u32, Fault> {
    let Some(throttle) = &settings.throttle else {
        return Ok(0);
    };
    let limit = i64::from(throttle.count_up_to());
    let count = match throttle.measure {
        ThrottleMeasure::OpenOrders => store_settings::count_open_orders(tx, account, restaurant, limit)?,
        ThrottleMeasure::RecentOrders => {
            store_settings::count_recent_orders(tx, restaurant, now.minus(ThrottleMeasure::RECENT), limit)?
        }
    };
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

fn next(settings: &StoreSettings, count: u32, now: Timestamp) -> ThrottleState {
    match &settings.throttle {
        Some(throttle) => throttle.next(settings.throttle_state, count, now),
        None => ThrottleState::default(),
    }
}

fn apply(
    tx: &mut Tx<'_>,
    (account, restaurant): (AccountId, RestaurantId),
    settings: &mut StoreSettings,
    count: u32,
    now: Timestamp,
) -> Result<(), Fault> {
    let before = settings.throttle_state;
    let state = next(settings, count, now);
    settings.throttle_state = state;
    if state.level == before.level {
        return Ok(());
    }
    let desired = state.level.desired_state().map(|level| Desired {
        busy_minutes: settings.throttle.and_then(|it| it.busy_minutes),
        reason: Some(ReasonCode::KitchenBusy),
        ..Desired::new(level, now, StoreActor::Throttle, Requester::Service)
    });
    set_all(
        tx,
        (account, restaurant),
        StoreActor::Throttle,
        desired.as_ref(),
        now,
    )?;
    let detail = json!({ "level": state.level, "orders": count });
    let whose = (StoreActor::Throttle, Requester::Service);
    let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::ThrottleStep, detail);
    Ok(restaurant_history::record(tx, account, &[entry], now)?)
}
