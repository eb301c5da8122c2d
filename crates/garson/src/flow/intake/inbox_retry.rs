//! Retries messages from the inbox that could not be applied, after a fix or when their branch has been connected.

use super::identify::Identified;
use super::inbox::{InboxEntry, stored_request};
use super::order_checks::record_and_check;
use super::understand::understand;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::integrations as flow_integrations;
use crate::flow::fault::Thing;
use garson_core::id::InboxId;
use garson_core::platform::{IntakeOutcome, Platform, Verified};
use garson_store::tables::inbox::{InboxState, StoredMessage, open_message, set_state};
use garson_store::tables::integrations;
use garson_store::tables::integrations::InboundIntegration;
use garson_store::tables::packages;
use garson_store::{Partition, StoreErrorKind, Tx};
use std::sync::Arc;

/// Retries a stored message.
pub async fn retry(app: &Arc<App>, id: InboxId) -> Result<IntakeOutcome, Fault> {
    retry_for(app, id, RetryScope::OwnAccount).await
}

/// The integrations that a stored message may be for, beside its sender.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryScope {
    /// Those of the same account that have its secret.
    OwnAccount,
    /// All that have its secret, as when it was received.
    SameSecret,
}

pub(crate) async fn retry_for(
    app: &Arc<App>,
    id: InboxId,
    scope: RetryScope,
) -> Result<IntakeOutcome, Fault> {
    match retry_once(app, id, scope).await {
        // The data that it was understood by has changed, and nothing was written.
        Err(Fault::Store(error)) if error.kind == StoreErrorKind::Conflict => {
            retry_once(app, id, scope).await
        }
        other => other,
    }
}

async fn retry_once(app: &Arc<App>, id: InboxId, scope: RetryScope) -> Result<IntakeOutcome, Fault> {
    let now = app.now();
    let stored = app
        .store
        .read(move |tx| open_message(tx, id))
        .await?
        .ok_or_else(|| Fault::not_found(Thing::InboxMessage, id))?;
    let platform = flow_integrations::platform(stored.provider.as_str())?;
    let request =
        stored_request(platform, &stored).ok_or_else(|| Fault::not_found(Thing::HookRoute, &stored.kind))?;
    let request = Arc::new(request);
    let branch = stored.branch.clone().unwrap_or_default();
    let (reader, asked) = (Arc::clone(app), Arc::clone(&request));
    let message = app
        .store
        .read(move |tx| {
            let Some(candidates) = candidates(tx, &reader, platform, &stored, scope)? else {
                return Ok(None);
            };
            // It was verified when it was received.
            let verified = Verified::ours(&asked);
            let identified = Identified { verified, candidates };
            understand(tx, &reader, platform, identified, now).map(Some)
        })
        .await?;
    let Some(message) = message else {
        return Ok(IntakeOutcome::UnknownBranch { branch });
    };
    let outcome = record_and_check(app, platform, request, message, now)
        .await?
        .outcome;
    if let Some(entry) = InboxEntry::of(&outcome)
        && entry.state == InboxState::Taken
    {
        // The message may be stored under another sender than it was recorded for.
        let order = entry.order;
        app.store
            .write(Partition::COMMON, move |tx| {
                set_state(tx, id, InboxState::Taken, order, None)
            })
            .await?;
    }
    Ok(outcome)
}

/// The integrations that a stored message may be for: all of its sender's account that have the same secret, also those that
/// were connected since. Those of other accounts only if the message has just come and they had the secret then. `None` if its
/// integration has been deleted.
fn candidates(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &dyn Platform,
    stored: &StoredMessage,
    scope: RetryScope,
) -> Result<Option<Vec<InboundIntegration>>, Fault> {
    let Some(restaurant) = stored.restaurant_id else {
        return Ok(Some(Vec::new()));
    };
    let Some(connected) = integrations::find(tx, &app.vault, restaurant, stored.provider)? else {
        return Ok(None);
    };
    let (account, secret) = (
        connected.integration.account_id,
        platform.inbound_secret(&connected.credentials),
    );
    let own = connected.integration.id;
    let mut all = vec![InboundIntegration {
        connected,
        settings: packages::settings(tx, restaurant)?,
        version: None,
    }];
    if let Some(secret) = secret {
        let others = integrations::by_secret(tx, &app.vault, stored.provider, secret.expose())?;
        all.extend(others.into_iter().filter(|it| {
            let integration = &it.connected.integration;
            // One that has changed since may have had another secret.
            let had_secret = scope == RetryScope::SameSecret && integration.updated_at <= stored.received_at;
            (had_secret || integration.account_id == account) && integration.id != own
        }));
    }
    Ok(Some(all))
}
