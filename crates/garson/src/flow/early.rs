//! Messages that come before their order, or while it is being committed.

use super::Fault;
use super::receive::{count, look_and_write};
use crate::app::App;
use crate::telemetry::Way;
use garson_core::id::IntegrationId;
use garson_core::platform::{HookRequest, Platform, Which};
use garson_store::{Tx, inbox, orders};
use std::sync::Arc;
use std::time::Duration;

/// By what the order of a message is known while it has not come.
pub(super) fn identity_of(which: &Which) -> String {
    match which {
        Which::Identity(identity) => identity.clone(),
        Which::Ours(id) => id.to_string(),
    }
}

/// Is an order known that a message may be about, which was not when it was read?
pub(super) fn is_known(
    tx: &mut Tx<'_>,
    platform: &dyn Platform,
    which: &Which,
    among: &[IntegrationId],
) -> Result<bool, Fault> {
    let found = match which {
        Which::Identity(identity) => orders::among(tx, platform.provider(), identity, among)?,
        Which::Ours(id) => orders::by_id(tx, *id)?.filter(|order| {
            order.provider == platform.provider()
                && (among.is_empty() || among.contains(&order.integration_id))
        }),
    };
    Ok(found.is_some())
}

/// When it is looked again for the order of a message that nobody's account was held for: longer than a transaction can take
/// that was under way when the message was kept.
const LOOK_LATER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

pub(super) fn begin_to_take_later(
    app: Arc<App>,
    platform: &'static dyn Platform,
    request: Arc<HookRequest>,
    which: Which,
    among: Vec<IntegrationId>,
) {
    tokio::spawn(take_later(app, platform, request, which, among));
}

/// A message that was kept may have missed its order, which was being committed: it is taken when that shows.
async fn take_later(
    app: Arc<App>,
    platform: &'static dyn Platform,
    request: Arc<HookRequest>,
    which: Which,
    among: Vec<IntegrationId>,
) {
    for pause in LOOK_LATER {
        tokio::time::sleep(pause).await;
        let (which, among) = (which.clone(), among.clone());
        let known = app
            .store
            .read(move |tx| {
                let is_waiting = inbox::is_waiting(tx, platform.provider(), &identity_of(&which))?;
                Ok::<_, Fault>(is_waiting && is_known(tx, platform, &which, &among)?)
            })
            .await;
        if matches!(known, Ok(true)) {
            let taken = look_and_write(&app, platform, &request).await;
            if let Err(fault) = &taken {
                tracing::warn!(?fault, "a message whose order has come could not be taken");
            }
            count(&app, platform.provider(), Way::Pushed, &taken);
            return;
        }
    }
}
