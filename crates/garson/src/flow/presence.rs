//! Which boards, streams, pollers and printers are connected for a restaurant, on all nodes.
//!
//! Each node knows its own connections. With several nodes, it also writes them to its rows, only when they change; other nodes
//! read these while the node is a member, so the entries of a killed node disappear when the others have declared it dead.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::{AccountId, KeyId, NodeId, RestaurantId};
use garson_core::presence::Presence;
use garson_store::tables::{keys, presence, restaurants};
use garson_store::{Partition, StoreError, Tx};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often changes are written for the other nodes.
const INTERVAL: Duration = Duration::from_secs(2);
/// How often rows of nodes that are gone are removed.
const CLEAN_INTERVAL: Duration = Duration::from_secs(60);
/// Accounts that one transaction writes.
const BATCH: usize = 200;

/// Writes changes until the service stops.
pub async fn run(app: Arc<App>) {
    let mut writer = PresenceWriter::default();
    loop {
        sleep(INTERVAL).await;
        let turn = writer.turn(&app).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, "connections could not be written for the other nodes");
        }
    }
}

/// Writes what has changed since the last turn.
#[derive(Default)]
struct PresenceWriter {
    /// The node under whose id the rows are written.
    node: Option<NodeId>,
    written: HashMap<AccountId, Vec<Presence>>,
    cleaned_at: Option<Instant>,
}

impl PresenceWriter {
    async fn turn(&mut self, app: &App) -> Result<(), StoreError> {
        let now = app.presence.snapshot();
        // No other process could read the rows.
        let Some(node) = app.store.node_id().filter(|_| app.is_shared()) else {
            return Ok(());
        };
        if self.node != Some(node) {
            // Rows under an earlier id do not count any more.
            self.written.clear();
            self.node = Some(node);
        }
        let gone = self.written.keys().filter(|account| !now.contains_key(*account));
        let mut changed: Vec<(AccountId, Vec<Presence>)> =
            gone.map(|account| (*account, Vec::new())).collect();
        let new = now.into_iter();
        changed.extend(new.filter(|(account, found)| self.written.get(account) != Some(found)));
        for batch in changed.chunks(BATCH) {
            let rows = batch.to_vec();
            let write = move |tx: &mut Tx<'_>| {
                for (account, found) in &rows {
                    presence::replace(tx, node, *account, found)?;
                }
                Ok::<_, StoreError>(())
            };
            app.store.write(Partition::COMMON, write).await?;
            for (account, found) in batch {
                if found.is_empty() {
                    self.written.remove(account);
                } else {
                    self.written.insert(*account, found.clone());
                }
            }
        }
        if self.cleaned_at.is_none_or(|at| at.elapsed() >= CLEAN_INTERVAL) {
            self.cleaned_at = Some(Instant::now());
            app.store
                .write(Partition::COMMON, presence::remove_of_gone_nodes)
                .await?;
        }
        Ok(())
    }
}

/// What is connected for an account, on all nodes.
pub async fn of_account(app: &App, account: AccountId) -> Result<Vec<Presence>, Fault> {
    let mut found = app.presence.of_account(account);
    if app.is_shared() {
        let own = app.store.node_id();
        let others = app
            .store
            .read(move |tx| presence::of_account(tx, account, own))
            .await?;
        found.extend(others);
    }
    found.sort_by_key(|it| (it.kind, it.since));
    Ok(found)
}

/// A connection with the name of its key.
#[derive(Clone, Debug)]
pub struct NamedPresence {
    pub presence: Presence,
    /// The label of the key, for a program.
    pub key: Option<String>,
}

/// What is connected for a restaurant, on all nodes.
pub async fn of_restaurant(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Vec<NamedPresence>, Fault> {
    let exists = app
        .store
        .read(move |tx| restaurants::exists(tx, account, restaurant))
        .await?;
    if !exists {
        return Err(Fault::not_found(Thing::Restaurant, restaurant));
    }
    let mut found = of_account(app, account).await?;
    found.retain(|it| it.concerns(restaurant));
    named(app, account, found).await
}

/// Adds the labels of the keys.
pub async fn named(app: &App, account: AccountId, found: Vec<Presence>) -> Result<Vec<NamedPresence>, Fault> {
    let labels: HashMap<KeyId, String> = app
        .store
        .read(move |tx| keys::list(tx, account))
        .await?
        .into_iter()
        .filter_map(|key| Some((key.id, key.label?)))
        .collect();
    let name = |presence: Presence| NamedPresence {
        key: presence.key.and_then(|key| labels.get(&key).cloned()),
        presence,
    };
    Ok(found.into_iter().map(name).collect())
}
