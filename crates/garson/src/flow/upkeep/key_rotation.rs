//! Rotates the master key while nodes run. Each step can be interrupted and repeated.
//!
//! 1. The new key is announced: both keys are stored, each sealed with the other. From here on either one opens the database.
//! 2. When every node knows it, they seal with it. When every node does, everything else is sealed again, until nothing is left.
//! 3. The old key is forgotten. Where the key is in the data folder, its file is replaced just before. Otherwise the operator gives
//!    the new key to every node first, and then finishes it.

use crate::app::{App, StartError, key_file, lock_data};
use crate::flow::admin::inbound_secrets;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::time::Timestamp;
use garson_store::tables::audit;
use garson_store::tables::key_rotation::{self, KeyPair, MasterKey, Phase};
use garson_store::tables::nodes::Node;
use garson_store::upkeep::reseal;
use garson_store::vault::fingerprint;
use garson_store::{Partition, StoreError, Tx, vault};
use serde_json::json;
use std::time::{Duration, Instant};

/// How long nodes may take to follow: they check every second, and a dead node is removed after nine.
const PATIENCE: Duration = Duration::from_secs(30);
/// A node without a heartbeat for this time is dead.
const DEAD_AFTER: Duration = Duration::from_secs(9);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Only the new key opens the database.
    Done { resealed: u64 },
    /// Both keys open it, until the operator has given the new key to every node.
    Resealed { resealed: u64 },
}

fn refused(text: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    StoreError::refused(text).into()
}

fn start(StartError(text): StartError) -> Fault {
    refused(text)
}

/// Rotates the key, or continues a rotation that was interrupted. `new` is the new key where the operator gives it; in the data
/// folder it is made here. `progress` is told what is being done.
pub async fn rotate(app: &App, new: Option<MasterKey>, progress: impl Fn(&str)) -> Result<Outcome, Fault> {
    let is_own = key_file::is_own(&app.settings);
    let keys = announce(app, new, is_own).await?;
    if current_phase(app).await? == Some(Phase::Announced) {
        progress("The new key is announced; waiting until every node knows it.");
        wait_for_nodes(app, Phase::Announced).await?;
        app.store
            .write(Partition::COMMON, |tx| {
                key_rotation::set_phase(tx, Phase::Sealing)
            })
            .await?;
    }
    app.vault.use_keys(&keys.new, &keys.old);
    progress("Waiting until every node seals with the new key.");
    wait_for_nodes(app, Phase::Sealing).await?;
    // What was sealed with the old key before the nodes confirmed may still be on its way to the disk.
    tokio::time::sleep(Duration::from_secs(u64::from(settle_seconds(app)))).await;
    progress("Sealing everything again.");
    let resealed = reseal_until_done(app).await?;
    if !is_own {
        return Ok(Outcome::Resealed { resealed });
    }
    key_file::replace(&app.settings, &keys.new).map_err(start)?;
    forget_old(app).await?;
    Ok(Outcome::Done { resealed })
}

/// A request waits at most so long for its write.
fn settle_seconds(app: &App) -> u32 {
    // Commands have a longer one than servers.
    app.settings.storage.answer_seconds.min(5) + 1
}

/// Stores both keys, or reads those of the rotation that was begun before.
async fn announce(app: &App, new: Option<MasterKey>, is_own: bool) -> Result<KeyPair, Fault> {
    let own = app.master_key.clone();
    let made = match (new, is_own) {
        (Some(_), true) => {
            return Err(refused(
                "the key is in the data folder, where a new one is made: --new-key-file is for keys that are set elsewhere",
            ));
        }
        (Some(new), false) if fingerprint(&new) == fingerprint(&own) => None,
        (Some(new), false) => Some(new),
        (None, true) => Some(key_file::random_key().map_err(start)?),
        (None, false) => None,
    };
    let now = app.now();
    app.store
        .write(Partition::COMMON, move |tx| {
            if let Some(rotation) = key_rotation::find(tx)? {
                let keys = rotation.keys(&own)?;
                if let (Some(made), false) = (&made, is_own)
                    && fingerprint(made) != fingerprint(&keys.new)
                {
                    return Err(refused(
                        "another rotation was begun and not finished: continue with its key first",
                    ));
                }
                return Ok(keys);
            }
            let Some(new) = made.clone() else {
                return Err(refused(
                    "the new key is required, and must be another one than the old: --new-key-file FILE",
                ));
            };
            let keys = KeyPair {
                old: own.clone(),
                new,
            };
            key_rotation::begin(tx, &keys, now)?;
            record(tx, "begun", now);
            Ok(keys)
        })
        .await
}

/// Records a step in the installation's own audit log.
fn record(tx: &mut Tx<'_>, step: &'static str, now: Timestamp) {
    let by = By::operator(audit::INSTALLATION, "key rotate");
    let action = Recorded::new(RecordKind::MasterKey, Verb::Changed);
    by.record(tx, action.after(json!({ "step": step })), now);
}

async fn current_phase(app: &App) -> Result<Option<Phase>, Fault> {
    let rotation = app
        .store
        .read(|tx| Ok::<_, Fault>(key_rotation::find(tx)?))
        .await?;
    Ok(rotation.map(|rotation| rotation.phase))
}

/// Waits until every node acts as a phase requires.
async fn wait_for_nodes(app: &App, phase: Phase) -> Result<(), Fault> {
    let waiting = wait_for_none(app, PATIENCE, move |tx| key_rotation::unconfirmed(tx, phase)).await?;
    if waiting.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "these nodes do not follow the rotation; stop them if they run an older version, and run the same command again: {}",
        waiting.join("; ")
    )))
}

/// Waits until no node is found any more; returns the names of those that are left. Rows of dead nodes do not count: nobody may
/// be there to remove them.
async fn wait_for_none<F>(app: &App, patience: Duration, find: F) -> Result<Vec<String>, Fault>
where
    F: Fn(&mut Tx<'_>) -> Result<Vec<Node>, StoreError> + Copy + Send + 'static,
{
    let began = Instant::now();
    let mut first: Option<Vec<Node>> = None;
    loop {
        let mut found = app.store.read(move |tx| Ok::<_, Fault>(find(tx)?)).await?;
        if app.is_shared() {
            // A live node sends heartbeats.
            let before = first.get_or_insert_with(|| found.clone());
            if began.elapsed() > DEAD_AFTER {
                found.retain(|node| !before.contains(node));
            }
        } else if !found.is_empty() && lock_data(&app.settings).is_ok() {
            // No server holds the lock: the row is that of one that was killed.
            found.clear();
        }
        if found.is_empty() || began.elapsed() >= patience {
            return Ok(found.into_iter().map(|node| node.name).collect());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn reseal_until_done(app: &App) -> Result<u64, Fault> {
    let mut resealed = 0;
    loop {
        let pass = reseal::reseal_all(&app.store, &app.vault).await?;
        let hashes = inbound_secrets::rehash_rotated(app).await?;
        resealed += pass.resealed;
        if pass.resealed == 0 && hashes == 0 {
            return Ok(resealed);
        }
    }
}

/// Ends a rotation after every node was started with the new key.
pub async fn finish(app: &App) -> Result<u64, Fault> {
    let Some(phase) = current_phase(app).await? else {
        return Err(refused("the master key is not being rotated"));
    };
    if phase != Phase::Sealing {
        return Err(refused(
            "the rotation has only begun: run garson key rotate again first",
        ));
    }
    let own = app.master_key.clone();
    let keys = app
        .store
        .read(move |tx| match key_rotation::find(tx)? {
            Some(rotation) => Ok::<_, Fault>(Some(rotation.keys(&own)?)),
            None => Ok(None),
        })
        .await?;
    let Some(keys) = keys else {
        return Err(refused("the master key is not being rotated"));
    };
    if fingerprint(&keys.new) != fingerprint(&app.master_key) {
        return Err(refused(
            "the settings still have the old key: set the new one here and on every node first",
        ));
    }
    let new = fingerprint(&keys.new);
    let others = wait_for_none(app, DEAD_AFTER + POLL_INTERVAL * 2, move |tx| {
        key_rotation::started_with_another(tx, &new)
    })
    .await?;
    if !others.is_empty() {
        return Err(refused(format!(
            "these nodes were started with the old key: set the new one and restart them first: {}",
            others.join("; ")
        )));
    }
    let resealed = reseal_until_done(app).await?;
    forget_old(app).await?;
    Ok(resealed)
}

/// From now on only the new key opens the database.
async fn forget_old(app: &App) -> Result<(), Fault> {
    let (checked, now) = ((*app.vault).clone(), app.now());
    app.store
        .write(Partition::COMMON, move |tx| {
            vault::renew_check(tx, &checked)?;
            key_rotation::end(tx)?;
            record(tx, "finished", now);
            Ok(())
        })
        .await
}
