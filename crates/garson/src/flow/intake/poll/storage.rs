//! What polling reads from the database and writes to it.

use crate::app::App;
use crate::flow::Fault;
use crate::telemetry::CallOutcome;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_core::platform::{CallError, Provider};
use garson_core::time::Timestamp;
use garson_store::tables::integrations;
use garson_store::tables::integrations::{Connected, Polled, Unreadable};
use garson_store::{Partition, Tx};
use std::sync::Arc;

/// The integrations of a platform that this node polls, including those that it claims now. The single writer of SQLite is used
/// only if there is something to claim, and credentials are decrypted by a reader.
pub(super) async fn claim(
    app: &Arc<App>,
    provider: Provider,
    node: NodeId,
) -> Result<Vec<Result<Polled, Unreadable>>, Fault> {
    if app
        .store
        .read(move |tx| integrations::has_unclaimed(tx, provider))
        .await?
    {
        let claim = move |tx: &mut Tx<'_>| integrations::claim_polling(tx, provider, node);
        app.store.write(Partition::COMMON, claim).await?;
    }
    let vault = Arc::clone(&app.vault);
    let polled = move |tx: &mut Tx<'_>| integrations::polled_by(tx, &vault, provider, node);
    Ok(app.store.read(polled).await?)
}

/// Saves up to when integrations have been polled.
pub(super) async fn save_progress(app: &App, progress: Vec<(IntegrationId, Timestamp)>) -> Result<(), Fault> {
    let write = move |tx: &mut Tx<'_>| integrations::record_polled(tx, &progress);
    Ok(app.store.write(Partition::COMMON, write).await?)
}

pub(super) fn note_error(app: &Arc<App>, connected: &Connected, trouble: &CallError) {
    let (id, account) = (connected.integration.id, connected.integration.account_id);
    // The platform's message may contain a customer's name or a secret: it is shown with the integration, not logged.
    let outcome = CallOutcome::from(trouble).as_str();
    tracing::warn!(provider = %connected.integration.provider, integration = %id, outcome, "a platform could not be polled");
    write_trouble(app, id, account, trouble.explanation());
}

pub(super) fn note_unreadable(app: &Arc<App>, provider: Provider, row: Unreadable) {
    let Unreadable {
        id,
        account_id,
        error,
    } = row;
    tracing::error!(%provider, integration = %id, %error, "an integration cannot be read, and is not polled");
    write_trouble(app, id, account_id, PlatformFailure::CredentialsUnreadable.into());
}

/// Saves that an integration is in no trouble, unless another was noted after `since`.
pub(super) fn end_trouble(app: &Arc<App>, connected: &Connected, since: Timestamp) {
    let (id, account) = (connected.integration.id, connected.integration.account_id);
    tracing::info!(provider = %connected.integration.provider, integration = %id, "a platform is polled again");
    let (app, now) = (Arc::clone(app), app.now());
    tokio::spawn(async move {
        let write = move |tx: &mut Tx<'_>| integrations::end_trouble(tx, id, since, now);
        if let Err(error) = app.store.write(account, write).await {
            // The trouble is found with the integration again, and the next poll ends it.
            tracing::error!(%error, "the end of an integration's trouble could not be saved");
        }
    });
}

fn write_trouble(app: &Arc<App>, id: IntegrationId, account: AccountId, message: Explanation) {
    let (app, now) = (Arc::clone(app), app.now());
    tokio::spawn(async move {
        let write = move |tx: &mut Tx<'_>| integrations::record_trouble(tx, id, &message, now);
        if let Err(error) = app.store.write(account, write).await {
            tracing::error!(%error, "an integration's error could not be saved");
        }
    });
}
