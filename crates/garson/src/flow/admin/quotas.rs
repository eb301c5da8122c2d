//! Quotas: how much an account may have, as the operator has set it or as the settings say.

use crate::app::App;
use crate::config::QuotaSettings;
use crate::flow::Fault;
use garson_core::account_state::QuotaKind;
use garson_core::calendar::Calendar;
use garson_core::id::AccountId;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::log_throttle::Throttle;
use garson_store::tables::account_states;
use std::sync::Arc;
use std::time::Duration;

/// How long a quota of orders is remembered.
const REMEMBER: Duration = Duration::from_secs(5);

/// Fails if an account has as many of something as it may have. The caller holds the account's lock.
fn check(
    tx: &mut Tx<'_>,
    account: AccountId,
    defaults: &QuotaSettings,
    kind: QuotaKind,
    count: fn(&mut Tx<'_>, AccountId) -> garson_store::Result<i64>,
) -> Result<(), Fault> {
    let quotas = account_states::find(tx, account)?.quotas;
    match quotas.limit(kind, defaults.get(kind)) {
        Some(limit) if count(tx, account)? >= limit => Err(Fault::QuotaReached { kind, limit }),
        _ => Ok(()),
    }
}

/// May the account have another restaurant?
pub(crate) fn check_restaurants(
    tx: &mut Tx<'_>,
    account: AccountId,
    defaults: &QuotaSettings,
) -> Result<(), Fault> {
    check(
        tx,
        account,
        defaults,
        QuotaKind::Restaurants,
        account_states::restaurants,
    )
}

/// May the account have another API key?
pub(crate) fn check_keys(tx: &mut Tx<'_>, account: AccountId, defaults: &QuotaSettings) -> Result<(), Fault> {
    check(tx, account, defaults, QuotaKind::Keys, account_states::keys)
}

/// May the account have another webhook endpoint, besides those that `count` finds?
pub fn check_endpoints(
    tx: &mut Tx<'_>,
    account: AccountId,
    defaults: &QuotaSettings,
    count: fn(&mut Tx<'_>, AccountId) -> garson_store::Result<i64>,
) -> Result<(), Fault> {
    check(tx, account, defaults, QuotaKind::Endpoints, count)
}

/// The orders that an account may take in a day.
async fn order_limit(app: &App, account: AccountId) -> Result<Option<i64>, Fault> {
    if let Some(limit) = app.order_quotas.get(&account, REMEMBER) {
        return Ok(limit);
    }
    let quotas = app
        .store
        .read_without_snapshot(move |tx| account_states::find(tx, account))
        .await?
        .quotas;
    let kind = QuotaKind::OrdersPerDay;
    let limit = quotas.limit(kind, app.settings.quotas.get(kind));
    app.order_quotas.put(account, limit);
    Ok(limit)
}

/// When today began. Quotas count days in Istanbul's time.
fn today(now: Timestamp) -> Timestamp {
    let calendar = Calendar::istanbul();
    calendar.start_of_day(&calendar.day_of(now)).unwrap_or(now)
}

/// The account's quota of orders, if it is used up today.
async fn used_up(app: &App, account: AccountId) -> Result<Option<i64>, Fault> {
    let Some(limit) = order_limit(app, account).await? else {
        return Ok(None);
    };
    let since = today(app.now());
    let is_used_up = app
        .store
        .read_without_snapshot(move |tx| account_states::has_orders_since(tx, account, limit, since))
        .await?;
    Ok(is_used_up.then_some(limit))
}

/// Refuses an order that the account's own shop or a test places, if the quota of the day is used up. Orders that arrive at the same
/// time may exceed it by a few.
pub(crate) async fn check_order(app: &App, account: AccountId) -> Result<(), Fault> {
    match used_up(app, account).await? {
        Some(limit) => Err(Fault::OrderQuotaReached { limit }),
        None => Ok(()),
    }
}

static OVER_QUOTA: Throttle = Throttle::new(Duration::from_secs(60));

/// An order was recorded. An order of a platform is always accepted, since somebody has paid for it: the operator is notified
/// when it exceeds the quota.
pub(crate) fn note_order(app: &Arc<App>, account: AccountId) {
    if app.order_quotas.get(&account, REMEMBER) == Some(None) {
        return;
    }
    let app = Arc::clone(app);
    // Nobody waits for it.
    tokio::spawn(async move {
        let limit = match used_up_before(&app, account).await {
            Ok(Some(limit)) => limit,
            Ok(None) => return,
            Err(fault) => {
                tracing::debug!(?fault, "the quota of orders could not be checked");
                return;
            }
        };
        app.metrics.intake.count_over_quota();
        if let Some(suppressed) = OVER_QUOTA.pass() {
            tracing::warn!(%account, limit, suppressed, "an account takes more orders than its quota of the day");
        }
    });
}

/// Was the quota used up without the newest order?
async fn used_up_before(app: &App, account: AccountId) -> Result<Option<i64>, Fault> {
    let Some(limit) = order_limit(app, account).await? else {
        return Ok(None);
    };
    let since = today(app.now());
    let is_over = app
        .store
        .read_without_snapshot(move |tx| account_states::has_orders_since(tx, account, limit + 1, since))
        .await?;
    Ok(is_over.then_some(limit))
}
