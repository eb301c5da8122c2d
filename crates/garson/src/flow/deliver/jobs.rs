//! The dispatcher's database jobs.

use super::attempt::Target;
use super::endpoint::{Address, Load, Wanted};
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, NodeId};
use garson_store::publish::NodeMessage;
use garson_store::tables::deliveries;
use garson_store::tables::deliveries::{Delivery, PendingAccount, Settlement};
use garson_store::tables::{account_states, accounts, keys, nodes};
use garson_store::{Partition, StoreError, Tx};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Reads an account's due deliveries and its address; none when another node delivers for it.
pub async fn load(
    app: &App,
    account: AccountId,
    node: NodeId,
    wanted: Wanted,
) -> Result<Option<Load>, Fault> {
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
        let address = match accounts::webhook(tx, account)? {
            None => Address::None,
            Some(webhook) => {
                let key = keys::primary(tx, &vault, account)?;
                Address::At(Arc::new(Target::new(&webhook, key.as_ref())))
            }
        };
        let (mut late, mut next_late) = (Vec::new(), None);
        if wanted.late_limit > 0 {
            late = deliveries::due_retries(tx, account, now, count(wanted.late_limit))?;
            next_late = deliveries::next_retry_at(tx, account, now)?;
        }
        Ok::<_, Fault>(Some(Load {
            after: wanted.after,
            limit: wanted.limit,
            fresh: if state.last_position > wanted.after {
                deliveries::untried_after(tx, account, wanted.after, count(wanted.limit))?
            } else {
                Vec::new()
            },
            late,
            late_limit: wanted.late_limit,
            next_late,
            now,
            last_place: state.last_position,
            version: state.version,
            address,
        }))
    };
    app.store.read(read).await
}

/// Stores results; returns deliveries that waited for them, or none when another node delivers for the account now.
pub async fn settle(
    app: &App,
    account: AccountId,
    node: NodeId,
    settlements: Arc<Vec<Settlement>>,
) -> Result<Option<Vec<Delivery>>, StoreError> {
    let now = app.now();
    let write = move |tx: &mut Tx<'_>| {
        if !nodes::lock_account(tx, account, node)? {
            return Ok(None);
        }
        deliveries::settle(tx, &settlements, now).map(Some)
    };
    app.store.write(account, write).await
}

/// Accounts read at once.
const PAGE: usize = 100;

/// All accounts with undelivered events.
pub async fn scan(app: &App) -> Result<Vec<PendingAccount>, StoreError> {
    let mut all: Vec<PendingAccount> = Vec::new();
    loop {
        let after = all.last().map(|waiting| waiting.account);
        let page = app
            .store
            .read(move |tx| deliveries::pending_accounts(tx, after, PAGE))
            .await?;
        let is_last = page.len() < PAGE;
        all.extend(page);
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
pub async fn bring_forward(app: &App, account: AccountId) -> Result<(), StoreError> {
    let now = app.now();
    let pauses = app.schedule.longest_pauses();
    app.store
        .write(account, move |tx| {
            let mut moved = 0;
            for (failures, pause) in (1i64..).zip(&pauses) {
                let latest = now.plus(*pause + Duration::from_secs(1));
                moved += deliveries::bring_forward_retries(tx, account, failures, latest, now)?;
            }
            match moved {
                0 => Ok(()),
                _ => accounts::wake_delivery(tx, account),
            }
        })
        .await
}
