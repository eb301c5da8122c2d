//! Orders that are open here, and that their platform no longer lists or lists as cancelled: each is fetched from the platform,
//! at growing intervals. An order that cannot be found there is finally flagged, or cancelled if the list says so.

use super::query::OrderQuery;
use crate::app::missing_orders::CheckResult;
use crate::flow::intake::fetch::storage_trouble;
use crate::flow::platform_client::read_order;
use crate::flow::{Fault, persist};
use crate::telemetry::CallOutcome;
use garson_core::order::{Actor, CallKind, Change, Flag, Input, Order, TimelineReason};
use garson_core::platform::{CallError, Page};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{order_flags, orders};
use std::collections::HashSet;
use std::time::Duration;

const MAX_OPEN: i64 = 500;
/// A new order may be missing from a list that was made before it.
const GRACE: Duration = Duration::from_secs(10);

/// What to do with an order that the platform finally does not find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IfNotFound {
    Flag,
    /// The platform lists it as cancelled.
    Cancel,
}

/// Checks the orders that are open here and missing in the platform's list of open orders: they have ended there.
pub(super) async fn check_missing(
    query: &OrderQuery<'_>,
    listed: &HashSet<String>,
    started_at: Timestamp,
) -> Result<(), CallError> {
    let open = open_orders(query).await?;
    unflag(query, &open, listed).await?;
    let is_missing = |order: &&Order| {
        !listed.contains(&order.identity) && !is_flagged(order) && order.created_at.plus(GRACE) < started_at
    };
    let missing: Vec<_> = open.iter().filter(is_missing).collect();
    check(query, &missing, IfNotFound::Flag).await
}

/// Checks the orders that are open here and that the platform lists as cancelled: the message that says so may be lost.
pub(super) async fn check_cancelled(query: &OrderQuery<'_>) -> Result<(), CallError> {
    let Page { orders, .. } = query.page(0).await?;
    let identity = |id: Vec<u8>| String::from_utf8(id).ok();
    let cancelled: HashSet<String> = orders.into_iter().filter_map(identity).collect();
    let open = open_orders(query).await?;
    // The platform knows what it lists.
    unflag(query, &open, &cancelled).await?;
    let is_cancelled = |order: &&Order| cancelled.contains(&order.identity);
    let missed: Vec<_> = open.iter().filter(is_cancelled).collect();
    check(query, &missed, IfNotFound::Cancel).await
}

async fn open_orders(query: &OrderQuery<'_>) -> Result<Vec<Order>, CallError> {
    let (account, integration) = (
        query.connected.integration.account_id,
        query.connected.integration.id,
    );
    let read = move |tx: &mut Tx<'_>| orders::open_of_integration(tx, account, integration, MAX_OPEN);
    let open = query.app.store.read(read).await;
    open.map_err(|error| storage_trouble(error.into()))
}

/// Fetches those of the orders that are due, and records their changes.
async fn check(
    query: &OrderQuery<'_>,
    missing: &[&Order],
    if_not_found: IfNotFound,
) -> Result<(), CallError> {
    let (app, integration) = (query.app, query.connected.integration.id);
    for order in app.missing_orders.due(integration, missing, app.now()) {
        let result = match read_order(app, query.contact, order, query.until).await {
            Ok(body) => {
                query.record(vec![body]).await?;
                CheckResult::Found
            }
            // The list was complete, so one unreadable order does not fail the round.
            Err(trouble) => {
                let outcome = CallOutcome::from(&trouble).as_str();
                tracing::info!(order = %order.id, outcome, "an open order could not be fetched from its platform");
                if trouble.is_refusal_of_order() {
                    CheckResult::NotFound
                } else {
                    CheckResult::Failed
                }
            }
        };
        if app.missing_orders.note(integration, order.id, result, app.now()) {
            match if_not_found {
                IfNotFound::Flag => {
                    let flag = Some(Flag::UnknownToPlatform);
                    set_flag(query, order, flag, TimelineReason::UnknownToPlatform).await?;
                }
                IfNotFound::Cancel => cancel(query, order).await.map_err(storage_trouble)?,
            }
        }
    }
    Ok(())
}

/// Cancels an order by the list alone, which gives neither the reason nor the actor.
async fn cancel(query: &OrderQuery<'_>, order: &Order) -> Result<(), Fault> {
    let (id, account, now) = (order.id, order.account_id, query.app.now());
    let contact = query.contact.clone();
    let word = contact.platform.word_after(CallKind::Cancel, order);
    let report = Input::Report(Change::Cancelled {
        by: Actor::Platform,
        reason: None,
        note: None,
        provider_status: word.map(str::to_owned),
    });
    let write = move |tx: &mut Tx<'_>| -> Result<(), Fault> {
        let Some(order) = orders::lock(tx, id)? else {
            return Ok(());
        };
        persist::apply_and_write(tx, &contact, &order, &report, None, now).map(drop)
    };
    query.app.store.write(account, write).await
}

/// Removes the flag from orders that the platform lists again.
async fn unflag(query: &OrderQuery<'_>, open: &[Order], listed: &HashSet<String>) -> Result<(), CallError> {
    let is_back = |order: &&Order| is_flagged(order) && listed.contains(&order.identity);
    for order in open.iter().filter(is_back) {
        set_flag(query, order, None, TimelineReason::KnownToPlatformAgain).await?;
    }
    Ok(())
}

async fn set_flag(
    query: &OrderQuery<'_>,
    order: &Order,
    flag: Option<Flag>,
    reason: TimelineReason,
) -> Result<(), CallError> {
    let (id, account, now) = (order.id, order.account_id, query.app.now());
    let write = move |tx: &mut Tx<'_>| order_flags::set(tx, id, flag, reason.clone(), now);
    let changed = query.app.store.write(account, write).await;
    if changed.map_err(|error| storage_trouble(error.into()))? {
        let is_known = flag.is_none();
        tracing::warn!(order = %id, is_known, "whether a platform knows an open order has changed");
    }
    Ok(())
}

/// Flagged orders are not checked.
fn is_flagged(order: &Order) -> bool {
    order.flag == Some(Flag::UnknownToPlatform)
}
