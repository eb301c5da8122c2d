//! The dispatcher's database jobs.

use super::endpoint::{Address, Load, Wanted};
use super::message::{Loaded, PendingReceiver};
use super::receiver::Receiver;
use super::target::Target;
use crate::app::App;
use crate::flow::Fault;
use garson_core::delivery::UndeliveredReason;
use garson_core::id::{AccountId, EndpointId, NodeId};
use garson_core::webhook_endpoint::{EndpointState, RetryPlan};
use garson_store::publish::NodeMessage;
use garson_store::tables::deliveries;
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use garson_store::tables::webhook_endpoints::Verdict;
use garson_store::tables::{account_states, accounts, endpoint_deliveries, nodes, webhook_endpoints};
use garson_store::{Partition, StoreError, Tx};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Reads a receiver's due deliveries and its address; none when another node delivers for its account.
pub async fn load(
    app: &App,
    receiver: Receiver,
    node: NodeId,
    wanted: Wanted,
) -> Result<Option<Loaded>, Fault> {
    let Receiver { account, endpoint } = receiver;
    let vault = Arc::clone(&app.vault);
    let now = app.now();
    let read = move |tx: &mut Tx<'_>| {
        let state = deliveries::assignment(tx, account)?;
        let Some(state) = state.filter(|state| state.node == Some(node)) else {
            return Ok(None);
        };
        // Events of a disabled account wait; they are found when it is enabled.
        if !account_states::is_active(tx, account)? {
            return Ok(None);
        }
        let count = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
        let target = Target::load(tx, &vault, receiver)?;
        let address = target.map_or(Address::None, |target| Address::At(Arc::new(target)));
        let (mut late, mut next_late) = (Vec::new(), None);
        if wanted.late_limit > 0 {
            let limit = count(wanted.late_limit);
            (late, next_late) = if receiver.is_default() {
                (
                    deliveries::due_retries(tx, account, now, limit)?,
                    deliveries::next_retry_at(tx, account, now)?,
                )
            } else {
                (
                    endpoint_deliveries::due_retries(tx, account, endpoint, now, limit)?,
                    endpoint_deliveries::next_retry_at(tx, endpoint, now)?,
                )
            };
        }
        let (after, limit) = (wanted.after, count(wanted.limit));
        let fresh = if state.last_position <= after {
            Vec::new()
        } else if receiver.is_default() {
            deliveries::untried_after(tx, account, after, limit)?
        } else {
            endpoint_deliveries::untried_after(tx, account, endpoint, after, limit)?
        };
        let others = if receiver.is_default() && state.has_routes {
            endpoint_deliveries::pending_endpoints(tx, account)?
        } else {
            Vec::new()
        };
        let load = Load {
            after: wanted.after,
            limit: wanted.limit,
            fresh,
            late,
            late_limit: wanted.late_limit,
            next_late,
            now,
            last_place: state.last_position,
            version: state.version,
            erase_version: state.erase_version,
            address,
        };
        Ok::<_, Fault>(Some(Loaded { load, others }))
    };
    app.store.read(read).await
}

/// Stores results; returns deliveries that waited for them, or none when another node delivers for the account now.
pub async fn settle(
    app: &App,
    receiver: Receiver,
    node: NodeId,
    settlements: Arc<Vec<Settlement>>,
) -> Result<Option<Vec<Delivery>>, StoreError> {
    let Receiver { account, endpoint } = receiver;
    let now = app.now();
    let limit = Duration::from_secs(u64::from(app.settings.webhook.disable_after_hours) * 3600);
    let disable_before = now.minus(limit);
    let write = move |tx: &mut Tx<'_>| {
        if !nodes::lock_account(tx, account, node)? {
            return Ok::<_, StoreError>(None);
        }
        if receiver.is_default() {
            let released = deliveries::settle(tx, &settlements, now)?;
            return Ok(Some((released, None)));
        }
        let reason = skip_reason(tx, receiver, &settlements)?;
        let released = endpoint_deliveries::settle(tx, endpoint, &settlements, reason, now)?;
        let is_delivered = |it: &&Settlement| it.outcome == Outcome::Delivered;
        let accepted = settlements.iter().filter(is_delivered).count();
        let made = settlements.iter().filter(|it| it.attempt.is_some()).count();
        let verdict = match (made, accepted) {
            (0, _) => None,
            (_, 0) => Some(webhook_endpoints::note_failures(
                tx,
                account,
                endpoint,
                made,
                now,
                disable_before,
            )?),
            _ => {
                webhook_endpoints::note_accepted(tx, endpoint)?;
                None
            }
        };
        Ok(Some((released, verdict)))
    };
    let done = app.store.write(account, write).await?;
    Ok(done.map(|(released, verdict)| {
        if verdict == Some(Verdict::Disabled) {
            app.metrics.delivery.count_disabled_endpoint();
            tracing::warn!(%account, %endpoint, "an endpoint kept failing and is disabled");
        }
        released
    }))
}

/// Why deliveries to an endpoint are skipped, if any are.
fn skip_reason(
    tx: &mut Tx<'_>,
    receiver: Receiver,
    settlements: &[Settlement],
) -> Result<UndeliveredReason, StoreError> {
    if !settlements.iter().any(|it| it.outcome == Outcome::Skipped) {
        return Ok(UndeliveredReason::UrlRemoved);
    }
    let found = webhook_endpoints::find(tx, receiver.account, receiver.endpoint)?;
    Ok(match found.map(|it| it.state) {
        Some(EndpointState::Paused) => UndeliveredReason::EndpointPaused,
        Some(EndpointState::Disabled) => UndeliveredReason::EndpointDisabled,
        Some(EndpointState::Active) | None => UndeliveredReason::UrlRemoved,
    })
}

/// Accounts read at once.
const PAGE: usize = 100;

/// All receivers with undelivered events.
pub async fn scan(app: &App) -> Result<Vec<PendingReceiver>, StoreError> {
    let mut all: Vec<PendingReceiver> = Vec::new();
    loop {
        let after = all.last().map(|waiting| waiting.receiver.account);
        let page = app
            .store
            .read(move |tx| deliveries::pending_accounts(tx, after, PAGE))
            .await?;
        let is_last = page.len() < PAGE;
        all.extend(page.into_iter().map(|state| PendingReceiver {
            receiver: Receiver::default_of(state.account),
            state,
        }));
        if is_last {
            break;
        }
    }
    let mut after: Option<(AccountId, EndpointId)> = None;
    loop {
        let page = app
            .store
            .read(move |tx| endpoint_deliveries::pending_after(tx, after, PAGE))
            .await?;
        let is_last = page.len() < PAGE;
        for (endpoint, state) in page {
            let account = state.account;
            after = Some((account, endpoint));
            all.push(PendingReceiver {
                receiver: Receiver { account, endpoint },
                state,
            });
        }
        if is_last {
            return Ok(all);
        }
    }
}

/// Accounts that are claimed or released together: more would wait for each other's commits, fewer would need more commits.
pub const BATCH: usize = 64;

/// Claims accounts that no node delivers for; returns those that are now this node's.
pub async fn claim(app: &App, accounts: &[AccountId], node: NodeId) -> Result<Vec<AccountId>, StoreError> {
    each(app, accounts, move |tx, account| {
        nodes::claim_account(tx, account, node)
    })
    .await
}

/// Releases all accounts of this node, except those with attempts in flight or results to store.
pub async fn release_idle(app: &App, node: NodeId, busy: HashSet<AccountId>) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = app
            .store
            .read(move |tx| nodes::accounts_of(tx, node, after, BATCH))
            .await?;
        let Some(last) = page.last().copied() else { break };
        after = Some(last);
        let idle: Vec<AccountId> = page.into_iter().filter(|it| !busy.contains(it)).collect();
        release(app, node, &idle).await?;
    }
    app.store
        .write(Partition::COMMON, |tx| {
            tx.notify_nodes(NodeMessage::NodeLeft);
            Ok(())
        })
        .await
}

/// Releases accounts, so that other nodes can claim them.
pub async fn release(app: &App, node: NodeId, accounts: &[AccountId]) -> Result<(), StoreError> {
    let done = each(app, accounts, move |tx, account| {
        nodes::release_account(tx, account, node)
    })
    .await;
    done.map(drop)
}

/// Runs a job for each account concurrently; returns the accounts for which it returned true.
async fn each<F>(app: &App, accounts: &[AccountId], work: F) -> Result<Vec<AccountId>, StoreError>
where
    F: Fn(&mut Tx<'_>, AccountId) -> Result<bool, StoreError> + Copy + Send + 'static,
{
    let mut running = JoinSet::new();
    for account in accounts.iter().copied() {
        let store = app.store.clone();
        running.spawn(async move {
            let done = store.write(account, move |tx| work(tx, account)).await;
            done.map(|done| done.then_some(account))
        });
    }
    let mut all = Vec::new();
    while let Some(ended) = running.join_next().await {
        let ended = ended.map_err(|_| StoreError::internal("a job panicked"))?;
        all.extend(ended?);
    }
    Ok(all)
}

/// Brings forward retries that lie further ahead than their pause allows: the clock was set back since they were planned.
pub async fn bring_forward(app: &App, receiver: Receiver) -> Result<(), StoreError> {
    let Receiver { account, endpoint } = receiver;
    let now = app.now();
    let standard = app.schedule.clone();
    app.store
        .write(account, move |tx| {
            let stored = webhook_endpoints::find(tx, account, endpoint)?;
            let plan = stored.map_or(RetryPlan::Standard, |it| it.retries);
            let pauses = plan.schedule(&standard).longest_pauses();
            let mut moved = 0;
            for (failures, pause) in (1i64..).zip(&pauses) {
                let latest = now.plus(*pause + Duration::from_secs(1));
                moved += if receiver.is_default() {
                    deliveries::bring_forward_retries(tx, account, failures, latest, now)?
                } else {
                    endpoint_deliveries::bring_forward_retries(tx, endpoint, failures, latest, now)?
                };
            }
            match moved {
                0 => Ok(()),
                _ => accounts::wake_delivery(tx, account),
            }
        })
        .await
}
