//! The nodes that serve one database: each shows that it lives, and takes out those that do not.
//!
//! No clocks are compared. A node raises its own count; one whose count has stood still for long enough, by the watch of
//! whoever looks, is gone. A node that could not raise its count for nearly as long begins nothing more, and one that finds
//! itself taken out starts over under a new id.

use crate::app::App;
use garson_core::id::NodeId;
use garson_store::engine::{Handover, Word};
use garson_store::tables::nodes;
use garson_store::tables::nodes::Node;
use garson_store::{Lane, Location, StoreError};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a node shows that it lives.
const BEAT: Duration = Duration::from_secs(2);
/// A node that has not shown itself for this time is gone.
const GONE: Duration = Duration::from_secs(9);
/// A node that has not looked for this time has not seen whether others showed themselves.
const BLIND: Duration = Duration::from_secs(5);
/// A node that could not show itself for this time begins nothing more.
const UNSURE: Duration = Duration::from_secs(7);

/// How long a node that ends waits for others to know.
const LEAVING: Duration = Duration::from_secs(2);

/// Up to when this node may begin something.
#[derive(Debug, Default)]
pub struct Lease(Mutex<Option<Instant>>);

impl Lease {
    fn renew(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// May something be begun? A lease without an end is that of the only process.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| Instant::now() < until)
    }
}

/// Joins the nodes; before the first request is taken.
pub async fn join(app: &App, address: SocketAddr) -> Result<(), StoreError> {
    let id = NodeId::at(app.now());
    let began = Instant::now();
    let name = name(address);
    let is_shared = is_shared(app);
    app.store
        .write(Lane::COMMON, move |tx| {
            nodes::join(tx, id, &name)?;
            tx.ring(Word::Here);
            match is_shared {
                true => Ok(()),
                // Nobody else works on this database: what others have left is ours.
                false => nodes::remove_others(tx, id),
            }
        })
        .await?;
    app.lease.renew(is_shared.then(|| began + UNSURE));
    app.store.desk().set_node(Some(id));
    // What it asked platforms for under another id is to be held under this one.
    app.hurry.posts_changed();
    Ok(())
}

/// Leaves the nodes: others need not wait for this one to be missed. Nor does this one wait for a database that is away.
pub async fn leave(app: &App) {
    let Some(id) = app.store.desk().node() else { return };
    app.store.desk().set_node(None);
    let leaving = app.store.write(Lane::COMMON, move |tx| {
        tx.ring(Word::NodeGone);
        nodes::leave(tx, id)
    });
    match tokio::time::timeout(LEAVING, leaving).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            let error: StoreError = error;
            tracing::warn!(%error, "what this node did could not be handed over");
        }
        Err(_) => tracing::warn!("what this node did could not be handed over in time"),
    }
}

/// May other nodes work on the same database?
pub fn is_shared(app: &App) -> bool {
    matches!(app.settings.location(), Location::Postgres(_))
}

/// The place of this process, where there can be one at a time: whoever is there now, is there instead of the one before.
/// Containers may have the same host name and listen on the same address, each in a network of its own.
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

/// Shows that this node lives, and looks after the others, until the service ends.
pub async fn run(app: Arc<App>, address: SocketAddr) {
    let mut others = Others::default();
    let mut pause = BEAT;
    loop {
        tokio::time::sleep(pause).await;
        pause = BEAT;
        if !is_shared(&app) {
            let turn = stay(&app, address).await;
            app.workers.note_turn(&turn);
            if let Err(error) = turn {
                tracing::warn!(%error, "this process could not see whether it is among the nodes");
            }
            continue;
        }
        let turn = beat(&app, address).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, "this node could not show that it lives");
            continue;
        }
        match others.look(&app).await {
            // Whoever has been silent for long is missed at the moment, not at the next beat.
            Ok(next) => pause = next.map_or(BEAT, |time| time.min(BEAT)),
            Err(error) => tracing::warn!(%error, "no look at the other nodes"),
        }
    }
}

/// Where there is nobody else to be shown anything, it is enough to be among the nodes. Whoever has removed the row, a second
/// server for instance that was started by mistake, is gone; without it nothing would be delivered any more.
async fn stay(app: &App, address: SocketAddr) -> Result<(), StoreError> {
    if let Some(id) = app.store.desk().node() {
        if app.store.glance(move |tx| nodes::is_member(tx, id)).await? {
            return Ok(());
        }
        tracing::warn!("this process was taken out of the nodes; it comes back under a new id");
    }
    if *app.stopping.borrow() {
        return Ok(());
    }
    join(app, address).await
}

async fn beat(app: &App, address: SocketAddr) -> Result<(), StoreError> {
    let Some(id) = app.store.desk().node() else {
        return join(app, address).await;
    };
    let began = Instant::now();
    let is_there = app
        .store
        .write(Lane::COMMON, move |tx| nodes::heartbeat(tx, id))
        .await?;
    if is_there {
        app.lease.renew(Some(began + UNSURE));
        return Ok(());
    }
    tracing::warn!("this node was away for so long that others have given it up");
    if *app.stopping.borrow() {
        // Whoever took its place, perhaps the next process at the same address, is not to be disturbed.
        return Ok(());
    }
    join(app, address).await
}

/// What this node has seen of the others: their counts, and since when.
#[derive(Default)]
struct Others {
    seen: HashMap<NodeId, (i64, Instant)>,
    looked_at: Option<Instant>,
}

impl Others {
    /// Takes out those that are gone; says when the next one will be if it stays silent.
    async fn look(&mut self, app: &App) -> Result<Option<Duration>, StoreError> {
        let me = app.store.desk().node();
        let all = app.store.read(nodes::list).await?;
        let now = Instant::now();
        // Whoever could not look cannot tell who was silent: the database may have been away for everybody.
        if self.looked_at.is_none_or(|at| now.duration_since(at) > BLIND) {
            self.seen.clear();
        }
        self.looked_at = Some(now);
        let mut seen = HashMap::new();
        for node in all.into_iter().filter(|node| Some(node.id) != me) {
            let since = match self.seen.get(&node.id) {
                Some((beats, since)) if *beats == node.heartbeats => *since,
                _ => now,
            };
            if now.duration_since(since) >= GONE {
                give_up(app, node).await?;
            } else {
                seen.insert(node.id, (node.heartbeats, since));
            }
        }
        // As soon as another one comes, it is heard.
        app.store.set_alone(seen.is_empty());
        self.seen = seen;
        let silent = self.seen.values().map(|(_, since)| *since + GONE).min();
        Ok(silent.map(|at| at.saturating_duration_since(Instant::now())))
    }
}

async fn give_up(app: &App, node: Node) -> Result<(), StoreError> {
    let (name, copy) = (node.name.clone(), node);
    let gone = app
        .store
        .write(Lane::COMMON, move |tx| {
            let is_gone = nodes::remove_silent(tx, &copy)?;
            if is_gone {
                tx.hand_over(Handover::NodeGone);
                tx.ring(Word::NodeGone);
            }
            Ok::<_, StoreError>(is_gone)
        })
        .await?;
    if gone {
        tracing::warn!(node = name, "a node is gone: others take over what it delivered");
    }
    Ok(())
}
