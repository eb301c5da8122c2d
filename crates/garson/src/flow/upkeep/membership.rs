//! Cluster membership: which nodes share the database.
//!
//! A node is a row of `nodes` whose counter it raises every two seconds. A node whose counter has not changed for nine seconds, measured
//! on the observer's monotonic clock, is removed; no wall clocks are compared. A node that stops removes itself; a process that starts
//! where another ran (same boot id, network and address) removes that one.
//!
//! The row's id is the fencing token: `accounts.deliver_node`, `calls.node`, `integrations.poll_node` and `idempotency.node` count only
//! while that id is among the nodes, so removing the row frees all of its work at once. A node that could not raise its counter for seven
//! seconds starts nothing more. A node that was removed rejoins under a new id and without any work.

use crate::app::App;
use garson_core::id::NodeId;
use garson_store::publish::{HandoffMessage, NodeMessage};
use garson_store::tables::nodes;
use garson_store::tables::nodes::Node;
use garson_store::{Partition, StoreError};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval of heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// A node without a heartbeat for this time is dead.
const DEAD_AFTER: Duration = Duration::from_secs(9);
/// A node that has not observed the others for this time cannot tell which were silent.
const OBSERVATION_GAP: Duration = Duration::from_secs(5);
/// A node that could not send a heartbeat for this time starts no new work.
const LEASE: Duration = Duration::from_secs(7);

/// How long a stopping node tries to sign off.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// Joins the nodes, before the first request is accepted.
pub async fn join(app: &App, address: SocketAddr) -> Result<(), StoreError> {
    let id = NodeId::at(app.now());
    let began = Instant::now();
    let name = name(address);
    let is_shared = app.is_shared();
    let migrations = app.store.migrations();
    app.store
        .write(Partition::COMMON, move |tx| {
            nodes::join(tx, id, &name)?;
            nodes::declare_schema(tx, id, migrations)?;
            tx.notify_nodes(NodeMessage::NodeJoined);
            if is_shared {
                return Ok(());
            }
            // No other node uses this database: the work of earlier processes is ours.
            nodes::remove_others(tx, id)
        })
        .await?;
    // In this order: what was leased under an earlier id must not be sent under the new lease.
    app.store.node_identity().set(Some(id));
    app.node_lease.renew(is_shared.then(|| began + LEASE));
    // Polls that it held under another id are to be held under this one.
    app.poll_requests.integrations_changed();
    app.store_signals.integrations_changed();
    Ok(())
}

/// Leaves the nodes, so that the others need not detect it. It does not wait long for an unavailable database.
pub async fn leave(app: &App) {
    let Some(id) = app.store.node_id() else { return };
    app.store.node_identity().set(None);
    let leaving = app.store.write(Partition::COMMON, move |tx| {
        tx.notify_nodes(NodeMessage::NodeLeft);
        nodes::leave(tx, id)
    });
    match tokio::time::timeout(LEAVE_TIMEOUT, leaving).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            let error: StoreError = error;
            tracing::warn!(%error, "this node could not hand over its work");
        }
        Err(_) => tracing::warn!("this node could not hand over its work in time"),
    }
}

/// A name that only one live process can have: a process with the same name replaces the earlier one. Containers may have the
/// same host name and address, each in its own network.
fn name(address: SocketAddr) -> String {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let boot = read("/proc/sys/kernel/random/boot_id");
    let network = std::fs::read_link("/proc/self/ns/net").ok();
    let host = read("/proc/sys/kernel/hostname").unwrap_or_default();
    match boot.zip(network) {
        Some((boot, network)) => {
            let (host, boot, network) = (host.trim(), boot.trim(), network.display());
            format!("{host} {address} {network} {boot}")
        }
        None => format!("{host} {address} {}", uuid::Uuid::now_v7()),
    }
}

/// Sends heartbeats and observes the other nodes until the service stops.
pub async fn run(app: Arc<App>, address: SocketAddr) {
    let mut others = OtherNodes::default();
    let mut pause = HEARTBEAT;
    loop {
        tokio::time::sleep(pause).await;
        pause = HEARTBEAT;
        if !app.is_shared() {
            let turn = ensure_joined(&app, address).await;
            app.workers.note_turn(&turn);
            if let Err(error) = turn {
                tracing::warn!(%error, "this process could not check whether it is still a node");
            }
            continue;
        }
        let turn = heartbeat(&app, address).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, "this node could not send a heartbeat");
            continue;
        }
        match others.observe(&app).await {
            // A silent node is detected when its time is over, not at the next heartbeat.
            Ok(next) => pause = next.map_or(HEARTBEAT, |time| time.min(HEARTBEAT)),
            Err(error) => tracing::warn!(%error, "the other nodes could not be observed"),
        }
    }
}

/// A single process needs no heartbeat, only its row. The row may have been removed, for instance by a second server that was
/// started by mistake; without it nothing would be delivered.
async fn ensure_joined(app: &App, address: SocketAddr) -> Result<(), StoreError> {
    if let Some(id) = app.store.node_id() {
        if app
            .store
            .read_without_snapshot(move |tx| nodes::is_member(tx, id))
            .await?
        {
            return Ok(());
        }
        tracing::warn!("this process was removed from the nodes and joins again under a new id");
    }
    if *app.stopping.borrow() {
        return Ok(());
    }
    join(app, address).await
}

async fn heartbeat(app: &App, address: SocketAddr) -> Result<(), StoreError> {
    let Some(id) = app.store.node_id() else {
        return join(app, address).await;
    };
    let began = Instant::now();
    let is_there = app
        .store
        .write(Partition::COMMON, move |tx| nodes::heartbeat(tx, id))
        .await?;
    if is_there {
        app.node_lease.renew(Some(began + LEASE));
        return Ok(());
    }
    tracing::warn!("other nodes have declared this node dead after its silence");
    if *app.stopping.borrow() {
        // Its successor, perhaps the next process at the same address, must not be disturbed.
        return Ok(());
    }
    join(app, address).await
}

/// The other nodes' heartbeat counters, and since when each has not changed.
#[derive(Default)]
struct OtherNodes {
    seen: HashMap<NodeId, (i64, Instant)>,
    observed_at: Option<Instant>,
}

impl OtherNodes {
    /// Removes dead nodes; returns after what time the next one is dead if it stays silent.
    async fn observe(&mut self, app: &App) -> Result<Option<Duration>, StoreError> {
        let me = app.store.node_id();
        let all = app.store.read(nodes::list).await?;
        let now = Instant::now();
        // After a gap it cannot tell which nodes were silent: the database may have been unavailable to all.
        if self
            .observed_at
            .is_none_or(|at| now.duration_since(at) > OBSERVATION_GAP)
        {
            self.seen.clear();
        }
        self.observed_at = Some(now);
        let mut seen = HashMap::new();
        for node in all.into_iter().filter(|node| Some(node.id) != me) {
            let since = match self.seen.get(&node.id) {
                Some((beats, since)) if *beats == node.heartbeats => *since,
                _ => now,
            };
            if now.duration_since(since) >= DEAD_AFTER {
                remove_dead(app, node).await?;
            } else {
                seen.insert(node.id, (node.heartbeats, since));
            }
        }
        // A node that joins later announces itself.
        app.store.set_alone(seen.is_empty());
        self.seen = seen;
        let silent = self.seen.values().map(|(_, since)| *since + DEAD_AFTER).min();
        Ok(silent.map(|at| at.saturating_duration_since(Instant::now())))
    }
}

async fn remove_dead(app: &App, node: Node) -> Result<(), StoreError> {
    let (name, copy) = (node.name.clone(), node);
    let is_removed = app
        .store
        .write(Partition::COMMON, move |tx| {
            let is_removed = nodes::remove_silent(tx, &copy)?;
            if is_removed {
                tx.hand_off(HandoffMessage::NodeLeft);
                tx.notify_nodes(NodeMessage::NodeLeft);
            }
            Ok::<_, StoreError>(is_removed)
        })
        .await?;
    if is_removed {
        tracing::warn!(node = name, "removed a dead node; the others take over its work");
    }
    Ok(())
}
