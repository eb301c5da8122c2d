//! What the dispatcher asks of the database.

use super::attempt::Target;
use super::endpoint::{Address, Load, Wanted};
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, NodeId};
use garson_store::deliveries::{self, Delivery, Settlement, Waiting};
use garson_store::{StoreError, Tx, accounts, keys, nodes};
use std::sync::Arc;
use std::time::Duration;

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
        let Some(standing) = deliveries::standing(tx, account)?.filter(|it| it.node == Some(node)) else {
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
            late = deliveries::late(tx, account, now, count(wanted.late_limit))?;
            next_late = deliveries::next_late(tx, account, now)?;
        }
        Ok::<_, Fault>(Some(Load {
            after: wanted.after,
            limit: wanted.limit,
            fresh: match standing.last_place > wanted.after {
                true => deliveries::fresh_after(tx, account, wanted.after, count(wanted.limit))?,
                false => Vec::new(),
            },
            late,
            late_limit: wanted.late_limit,
            next_late,
            now,
            last_place: standing.last_place,
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
    let write = move |tx: &mut Tx<'_>| match nodes::hold(tx, account, node)? {
        true => deliveries::settle(tx, &settlements, now).map(Some),
        false => Ok(None),
    };
    app.store.write(account, write).await
}

/// Accounts that are looked at together.
const PAGE: usize = 100;

/// Every account that has something to deliver.
pub async fn look(app: &App) -> Result<Vec<Waiting>, StoreError> {
    let mut all: Vec<Waiting> = Vec::new();
    loop {
        let after = all.last().map(|waiting| waiting.account);
        let page = app
            .store
            .read(move |tx| deliveries::waiting(tx, after, PAGE))
            .await?;
        let is_last = page.len() < PAGE;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// Begins to deliver for accounts that nobody delivers for; answers those that it is now.
pub async fn claim(app: &App, accounts: Vec<AccountId>, node: NodeId) -> Result<Vec<AccountId>, StoreError> {
    let mut claimed = Vec::new();
    for account in accounts {
        if app
            .store
            .write(account, move |tx| nodes::claim(tx, account, node))
            .await?
        {
            claimed.push(account);
        }
    }
    Ok(claimed)
}

/// Brings forward what lies further ahead than its pause can be: the clock was set back since it was planned.
pub async fn pull_in(app: &App, account: AccountId) -> Result<(), StoreError> {
    let now = app.now();
    let pauses = app.schedule.longest_pauses();
    app.store
        .write(account, move |tx| {
            for (failures, pause) in (1i64..).zip(&pauses) {
                let latest = now.plus(*pause + Duration::from_secs(1));
                deliveries::pull_in(tx, account, failures, latest, now)?;
            }
            Ok(())
        })
        .await
}
