//! Applies the due items of one integration to its platform.

use super::ended::Ended;
use super::send::{Sending, read_first, send};
use crate::app::App;
use crate::flow::platform_client::Contact;
use crate::flow::products::record;
use garson_core::explanation::PlatformFailure;
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_core::item::Availability;
use garson_core::restaurant_history::HistoryAction;
use garson_core::time::Timestamp;
use garson_store::tables::desired_items::{
    Conclusion, DesiredItem, DesiredItemState, DesiredOrigin, NewDesiredItem, Timer,
};
use garson_store::tables::{desired_items, integrations, menus, platform_items, products};
use garson_store::{StoreError, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a task works on one integration before it yields to others.
const TASK_TIME: Duration = Duration::from_secs(60);
/// Items claimed at once where each needs its own request: this many are interrupted by a crash and must be read before they are
/// repeated.
const SINGLE_REQUESTS: usize = 4;
/// Items claimed at once where a request can contain many.
const MANY_ITEMS: usize = 100;
/// How long after the last change the platform's menu is read.
const READ_BACK_AFTER: Duration = Duration::from_secs(30);

/// The pause before an item of a switched-off integration is checked again.
const NOT_CONNECTED_PAUSE: Duration = Duration::from_secs(600);

/// Applies the due items of an integration until none are left or the time is up.
pub async fn apply_due(
    app: &Arc<App>,
    account: AccountId,
    integration: IntegrationId,
) -> Result<(), StoreError> {
    let vault = Arc::clone(&app.vault);
    let connected = app
        .store
        .read(move |tx| integrations::by_id(tx, &vault, integration))
        .await?
        .filter(|connected| connected.integration.is_active);
    let contact = connected
        .as_ref()
        .and_then(|connected| app.contact(connected))
        .map(|contact| Contact {
            has_more: true,
            ..contact
        });
    let began = Instant::now();
    while began.elapsed() < TASK_TIME && !*app.stopping.borrow() {
        let Some(node) = app.store.node_id().filter(|_| app.node_lease.is_valid()) else {
            return Ok(());
        };
        let (now, limit) = (app.now(), contact.as_ref().map_or(MANY_ITEMS, at_once));
        let claimed = app
            .store
            .write(account, move |tx| {
                desired_items::claim(tx, integration, node, now, limit)
            })
            .await?;
        if claimed.is_empty() {
            return Ok(());
        }
        apply_claimed(app, account, node, contact.as_ref(), claimed).await?;
        app.product_work.settled.notify_waiters();
    }
    Ok(())
}

fn at_once(contact: &Contact) -> usize {
    let items = contact.platform.capability().items;
    items.map_or(MANY_ITEMS, |items| {
        if items.per_call > 1 {
            items.per_call.min(MANY_ITEMS)
        } else {
            SINGLE_REQUESTS
        }
    })
}

async fn apply_claimed(
    app: &Arc<App>,
    account: AccountId,
    node: NodeId,
    contact: Option<&Contact>,
    claimed: Vec<DesiredItem>,
) -> Result<(), StoreError> {
    let Some(contact) = contact else {
        let later = app.now().plus(NOT_CONNECTED_PAUSE);
        let ended = |desired: &DesiredItem| match desired.state {
            // An item that has to become available again waits for the integration.
            DesiredItemState::Done => Ended::Released { due_at: later },
            _ => Ended::Concluded(not_connected()),
        };
        let ends = claimed
            .into_iter()
            .map(|desired| (desired.clone(), ended(&desired)))
            .collect();
        return conclude(app, account, node, ends, false).await;
    };
    let (expired, open): (Vec<DesiredItem>, Vec<DesiredItem>) = claimed
        .into_iter()
        .partition(|desired| desired.state == DesiredItemState::Done);
    if !expired.is_empty() {
        end_times(app, account, node, expired).await?;
    }
    // An interrupted request may have been carried out: the platform is read first.
    let (interrupted, clear): (Vec<DesiredItem>, Vec<DesiredItem>) =
        open.into_iter().partition(may_be_applied);
    let mut ends = Vec::new();
    let mut to_send = clear;
    if !interrupted.is_empty() {
        let (settled, unsettled) = read_first(app, contact, interrupted).await;
        ends.extend(settled);
        to_send.extend(unsettled);
    }
    conclude(app, account, node, ends, true).await?;
    for sending in Sending::plan(app, contact, to_send).await? {
        let ends = send(app, contact, sending).await;
        conclude(app, account, node, ends, contact.platform.capability().menu).await?;
    }
    Ok(())
}

/// Was it being sent, so that the platform may have applied it?
fn may_be_applied(desired: &DesiredItem) -> bool {
    desired.sending == Some(desired.version)
        || (desired.by == DesiredOrigin::Schedule && desired.timer == Some(Timer::Platform))
}

fn not_connected() -> Conclusion {
    Conclusion {
        state: DesiredItemState::Refused,
        message: Some(PlatformFailure::NotConnected.into()),
        accepted_at: None,
        confirmed_at: None,
        timer: None,
        attempts: 0,
        due_at: None,
    }
}

/// The time for which items were unavailable is over: they are now desired as available. Where the platform's own timer should have
/// done that, the platform is read first.
async fn end_times(
    app: &App,
    account: AccountId,
    node: NodeId,
    expired: Vec<DesiredItem>,
) -> Result<(), StoreError> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            for desired in &expired {
                if desired.ends_at().is_none_or(|at| at > now) {
                    // The end was moved in the meantime.
                    let due_at = desired.ends_at();
                    desired_items::conclude(
                        tx,
                        desired,
                        node,
                        &Conclusion {
                            due_at,
                            ..as_it_was(desired)
                        },
                    )?;
                    continue;
                }
                let new = NewDesiredItem {
                    account_id: desired.account_id,
                    restaurant_id: desired.restaurant_id,
                    integration_id: desired.integration_id,
                    key: &desired.key,
                    availability: Availability::Available,
                    by: DesiredOrigin::Schedule,
                    at: now,
                    state: DesiredItemState::Pending,
                    message: None,
                };
                desired_items::release(tx, desired, node, now)?;
                desired_items::end_time(tx, desired, &new)?;
            }
            Ok::<_, StoreError>(())
        })
        .await
}

fn as_it_was(desired: &DesiredItem) -> Conclusion {
    Conclusion {
        state: desired.state,
        message: desired.message.clone(),
        accepted_at: None,
        confirmed_at: desired.confirmed_at,
        timer: desired.timer,
        attempts: desired.attempts,
        due_at: desired.due_at,
    }
}

/// Records results in one transaction, and plans the read-back.
async fn conclude(
    app: &App,
    account: AccountId,
    node: NodeId,
    ends: Vec<(DesiredItem, Ended)>,
    has_menu: bool,
) -> Result<(), StoreError> {
    if ends.is_empty() {
        return Ok(());
    }
    let now = app.now();
    app.store
        .write(account, move |tx| {
            let mut read_back = None;
            for (desired, ended) in &ends {
                match ended {
                    Ended::Released { due_at } => desired_items::release(tx, desired, node, *due_at)?,
                    Ended::Unclear { message, due_at } => {
                        desired_items::release_unclear(tx, desired, node, message, *due_at)?;
                    }
                    Ended::Concluded(end) => {
                        settle(tx, desired, node, end, now)?;
                        if end.accepted_at.is_some() && end.confirmed_at.is_none() {
                            read_back = Some(desired.integration_id);
                        }
                    }
                }
            }
            if let Some(integration) = read_back.filter(|_| has_menu) {
                menus::make_due(tx, integration, now.plus(READ_BACK_AFTER))?;
            }
            Ok::<_, StoreError>(())
        })
        .await
}

/// Records the result of one item.
fn settle(
    tx: &mut Tx<'_>,
    desired: &DesiredItem,
    node: NodeId,
    end: &Conclusion,
    now: Timestamp,
) -> Result<(), StoreError> {
    let is_current = desired_items::conclude(tx, desired, node, end)?;
    if !is_current || end.state == DesiredItemState::Pending {
        return Ok(());
    }
    let Some(item) = platform_items::find(tx, desired.restaurant_id, &desired.key)? else {
        return Ok(());
    };
    let name = item.item.name.as_str();
    if end.state != DesiredItemState::Done {
        let action = HistoryAction::ProductRefused;
        return record::of_item(tx, desired, action, end.message.as_ref(), name, now);
    }
    if desired.by == DesiredOrigin::Schedule {
        record::of_item(tx, desired, HistoryAction::ProductRestored, None, name, now)?;
    }
    let is_available = desired.availability.is_available();
    if platform_items::set_available(tx, desired.restaurant_id, &desired.key, is_available, now)? {
        products::refresh(tx, item.product_id, now)?;
        let news = (is_available, desired.ends_at(), desired.by.as_str());
        record::item_changed(tx, desired.account_id, desired.restaurant_id, &item, news, now)?;
    }
    Ok(())
}
