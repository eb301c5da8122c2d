//! A node follows the rotation of the master key: it learns the new key, seals with it when told to, and confirms both.

use crate::app::App;
use garson_core::id::NodeId;
use garson_store::tables::key_rotation::{self, Phase, Rotation};
use garson_store::vault::{KeyFingerprint, fingerprint};
use garson_store::{Partition, StoreError, vault};
use std::sync::Arc;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);

/// What this node has confirmed.
type Confirmed = (NodeId, Option<Phase>);

/// Follows it until the service stops.
pub async fn run(app: Arc<App>) {
    let own = fingerprint(&app.master_key);
    let mut confirmed = None;
    let mut seen = None;
    loop {
        let turn = step(&app, &own, &mut seen, &mut confirmed).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::error!(%error, "this node cannot follow the rotation of the master key");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn step(
    app: &App,
    own: &KeyFingerprint,
    seen: &mut Option<Rotation>,
    confirmed: &mut Option<Confirmed>,
) -> Result<(), StoreError> {
    let vault = Arc::clone(&app.vault);
    let rotation = app
        .store
        .read_without_snapshot(move |tx| match key_rotation::find(tx)? {
            Some(rotation) => Ok(Some(rotation)),
            None => {
                // A node that was cut off during a rotation must not go on with the old key.
                vault::verify_key(tx, &vault)?;
                Ok::<_, StoreError>(None)
            }
        })
        .await?;
    if rotation.is_some() && rotation != *seen {
        if let Some(rotation) = &rotation {
            rotation.apply(&app.vault, &app.master_key)?;
            tracing::info!(
                phase = rotation.phase.as_str(),
                "following the rotation of the master key"
            );
        }
        seen.clone_from(&rotation);
    }
    let Some(node) = app.store.node_id() else {
        return Ok(());
    };
    let now = (node, rotation.map(|rotation| rotation.phase));
    if *confirmed != Some(now) {
        let (own, phase) = (*own, now.1);
        app.store
            .write(Partition::COMMON, move |tx| {
                key_rotation::confirm(tx, node, &own, phase)
            })
            .await?;
        *confirmed = Some(now);
    }
    Ok(())
}
