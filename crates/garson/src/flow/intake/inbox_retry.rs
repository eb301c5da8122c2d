//! Messages that were kept but could not be taken are taken again, after a fix or when their branch is connected.

use super::receive::{understand, write};
use super::take::kept_request;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::integrations as flow_integrations;
use garson_core::id::InboxId;
use garson_core::platform::{Platform, Reception, Verified};
use garson_store::tables::inbox::{InboxState, StoredMessage, open_message, set_state};
use garson_store::tables::integrations;
use garson_store::tables::integrations::InboundIntegration;
use garson_store::tables::packages;
use garson_store::{Lane, StoreErrorKind, Tx};
use std::sync::Arc;

/// Takes a kept message again; says what became of it.
pub async fn retry(app: &Arc<App>, id: InboxId) -> Result<Reception, Fault> {
    retry_for(app, id, Reach::OwnAccount).await
}

/// For which integrations beside its sender a kept message may speak.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of its own account that have its secret.
    OwnAccount,
    /// All that have its secret, as when it came.
    SameSecret,
}

pub(crate) async fn retry_for(app: &Arc<App>, id: InboxId, reach: Reach) -> Result<Reception, Fault> {
    match retry_once(app, id, reach).await {
        // What it was judged by has changed meanwhile, and nothing was written.
        Err(Fault::Store(error)) if error.kind == StoreErrorKind::Conflict => {
            retry_once(app, id, reach).await
        }
        other => other,
    }
}

async fn retry_once(app: &Arc<App>, id: InboxId, reach: Reach) -> Result<Reception, Fault> {
    let now = app.now();
    let message = app
        .store
        .read(move |tx| open_message(tx, id))
        .await?
        .ok_or_else(|| Fault::not_found("message", id))?;
    let platform = flow_integrations::platform(message.provider.as_str())?;
    let request = kept_request(platform, &message).ok_or_else(|| Fault::not_found("route", &message.kind))?;
    let request = Arc::new(request);
    let branch = message.branch.clone().unwrap_or_default();
    let (holder, asked) = (Arc::clone(app), Arc::clone(&request));
    let prepared = app
        .store
        .read(move |tx| {
            let Some(candidates) = candidates(tx, &holder, platform, &message, reach)? else {
                return Ok(None);
            };
            understand(tx, &holder, platform, &Verified::ours(&asked), candidates, now).map(Some)
        })
        .await?;
    let Some(prepared) = prepared else {
        return Ok(Reception::UnknownBranch { branch });
    };
    let reception = write(app, platform, request, prepared, now).await?.reception;
    let (state, order) = match &reception {
        Reception::Taken { order_id } => (InboxState::Taken, Some(*order_id)),
        Reception::Noted => (InboxState::Taken, None),
        // The row says already why not.
        _ => return Ok(reception),
    };
    // The message may have been kept under another sender's name.
    app.store
        .write(Lane::COMMON, move |tx| set_state(tx, id, state, order, None))
        .await?;
    Ok(reception)
}

/// Whoever sent it was checked when it came. It may speak for every branch of its own account that has its secret, also for
/// one that was connected since; for another account's only when it has just come and that had the secret then, and for none
/// when its integration is gone.
fn candidates(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &dyn Platform,
    message: &StoredMessage,
    reach: Reach,
) -> Result<Option<Vec<InboundIntegration>>, Fault> {
    let Some(restaurant) = message.restaurant_id else {
        return Ok(Some(Vec::new()));
    };
    let Some(connected) = integrations::find(tx, &app.vault, restaurant, message.provider)? else {
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
        let others = integrations::by_secret(tx, &app.vault, message.provider, secret.expose())?;
        all.extend(others.into_iter().filter(|it| {
            let integration = &it.connected.integration;
            // One that was changed since may have had another secret.
            let had_secret = reach == Reach::SameSecret && integration.updated_at <= message.received_at;
            (had_secret || integration.account_id == account) && integration.id != own
        }));
    }
    Ok(Some(all))
}
