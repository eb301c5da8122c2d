//! What the dispatcher asks of the database.

use super::attempt::Target;
use super::endpoint::{Address, Load, Wanted};
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, NodeId};
use garson_store::engine::Word;
use garson_store::tables::deliveries;
use garson_store::tables::deliveries::{Delivery, PendingAccount, Settlement};
use garson_store::tables::{accounts, keys, nodes};
use garson_store::{Lane, StoreError, Tx};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Reads what is due for an account, and where it goes; nothing when it is not this node's to deliver.
pub async fn load(
    app: &App,
    account: AccountId,
    node: NodeId,
    wanted: Wanted,
) -> Result<Option<Load>, Fault> {
    let vault = Arc::clone(&app.vault);
    let now = app.now();
    let read = move |tx: &mut Tx<'_>| {
        let Some(standing) = deliveries::assignment(tx, account)?.filter(|it| it.node == Some(node)) else {
            return Ok(None);
        };
        let count = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
        let address = match accounts::webhook(tx, account)? {
            None => Address::Nowhere,
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
            fresh: match standing.last_position > wanted.after {
                true => deliveries::untried_after(tx, account, wanted.after, count(wanted.limit))?,
                false => Vec::new(),
            },
            late,
            late_limit: wanted.late_limit,
            next_late,
            now,
            last_place: standing.last_position,
            version: standing.version,
            address,
        }))
    };
    app.store.read(read).await
}

/// Writes results down; answers what need not wait any longer, or nothing when the account is not this node's any more.
pub async fn settle(
    app: &App,
    account: AccountId,
    node: NodeId,
    settlements: Arc<Vec<Settlement>>,
) -> Result<Option<Vec<Delivery>>, StoreError> {
    let now = app.now();
    let write = move |tx: &mut Tx<'_>| match nodes::lock_account(tx, account, node)? {
        true => deliveries::settle(tx, &settlements, now).map(Some),
        false => Ok(None),
    };
    app.store.write(account, write).await
}

/// Accounts that are looked at together.
const PAGE: usize = 100;

/// Every account that has something to deliver.
pub async fn look(app: &App) -> Result<Vec<PendingAccount>, StoreError> {
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

/// Accounts that change hands together: more would wait for each other's commits, fewer would make many of those.
pub const AT_ONCE: usize = 64;

/// Begins to deliver for accounts that nobody delivers for; answers those that it is now.
pub async fn claim(app: &App, accounts: &[AccountId], node: NodeId) -> Result<Vec<AccountId>, StoreError> {
    each(app, accounts, move |tx, account| {
        nodes::claim_account(tx, account, node)
    })
    .await
}

/// Lets accounts go that this node delivers for, but those that it still has something under way for.
pub async fn hand_on(app: &App, node: NodeId, busy: HashSet<AccountId>) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = app
            .store
            .read(move |tx| nodes::accounts_of(tx, node, after, AT_ONCE))
            .await?;
        let Some(last) = page.last().copied() else { break };
        after = Some(last);
        let idle: Vec<AccountId> = page.into_iter().filter(|it| !busy.contains(it)).collect();
        let_go(app, node, &idle).await?;
    }
    app.store
        .write(Lane::COMMON, |tx| {
            tx.ring(Word::NodeGone);
            Ok(())
        })
        .await
}

/// Lets accounts go that this node has nothing under way for.
pub async fn let_go(app: &App, node: NodeId, accounts: &[AccountId]) -> Result<(), StoreError> {
    let done = each(app, accounts, move |tx, account| {
        nodes::release_account(tx, account, node)
    })
    .await;
    done.map(drop)
}

/// Does something to each account, each in a job of its own but side by side; answers those for which it was done.
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
        let ended = ended.map_err(|_| StoreError::internal("a job ended badly"))?;
        all.extend(ended?);
    }
    Ok(all)
}

/// Brings forward what lies further ahead than its pause can be: the clock was set back since it was planned.
pub async fn pull_in(app: &App, account: AccountId) -> Result<(), StoreError> {
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
