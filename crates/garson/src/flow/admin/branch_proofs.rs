//! Tries the credentials of integrations that do not own their branch yet, in the background: if they work, the branch is theirs.
//!
//! Only on platforms for which the operator has credentials, since ownership decides nothing elsewhere, and that are not polled,
//! since a successful poll proves the same.

use super::{branches, connection_test};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::polled_platforms::is_polled;
use garson_core::id::IntegrationId;
use garson_core::platform::Platform;
use garson_store::tables;
use garson_store::tables::integrations;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const TRY_EVERY: Duration = Duration::from_secs(60);
/// After a change integrations are tried earlier, but not more often than this.
const TRY_AFTER_CHANGE: Duration = Duration::from_millis(500);
/// Integrations that are read at once, and tried at the same time.
const BATCH: i64 = 100;
const CONCURRENT: usize = 8;

pub async fn run(app: Arc<App>) {
    loop {
        let mut turn = Ok(());
        for platform in garson_platforms::all() {
            let terms = app.terms(platform.provider());
            if terms.credentials.is_empty() || is_polled(&app, *platform) {
                continue;
            }
            if let Err(fault) = try_all(&app, *platform).await {
                tracing::error!(?fault, provider = %platform.provider(), "branches could not be looked up");
                turn = Err(fault);
            }
        }
        app.workers.note_turn(&turn);
        let started_at = Instant::now();
        tokio::select! {
            () = app.branch_claims_changed.notified() => {
                tokio::time::sleep_until(started_at + TRY_AFTER_CHANGE).await;
            }
            () = tokio::time::sleep(TRY_EVERY) => {}
        }
    }
}

async fn try_all(app: &Arc<App>, platform: &'static dyn Platform) -> Result<(), Fault> {
    let mut after = None;
    loop {
        let provider = platform.provider();
        let found = app
            .store
            .read(move |tx| tables::branches::without_ownership(tx, provider, after, BATCH))
            .await?;
        for ids in found.chunks(CONCURRENT) {
            let mut running: JoinSet<()> = ids
                .iter()
                .map(|id| try_one(Arc::clone(app), platform, *id))
                .collect();
            while running.join_next().await.is_some() {}
        }
        match found.last() {
            Some(last) => after = Some(*last),
            None => return Ok(()),
        }
    }
}

/// Tries one integration. A failure changes nothing: users see it when they test the connection themselves.
async fn try_one(app: Arc<App>, platform: &'static dyn Platform, id: IntegrationId) {
    let vault = Arc::clone(&app.vault);
    let found = app
        .store
        .read(move |tx| integrations::by_id(tx, &vault, id))
        .await;
    match found {
        Ok(Some(connected)) if branches::can_prove(platform, &connected.credentials) => {
            if let Err(fault) = connection_test::try_in_background(&app, &connected).await {
                tracing::debug!(?fault, integration = %id, "an integration's branch could not be proven");
            }
        }
        Ok(_) => {}
        Err(error) => tracing::error!(%error, "an integration could not be read"),
    }
}
