//! Finding the order that a message is about.

use crate::flow::Fault;
use garson_core::id::IntegrationId;
use garson_core::integration::Integration;
use garson_core::order::Order;
use garson_core::platform::{Provider, Which};
use garson_store::Tx;
use garson_store::tables::orders;

/// The order of one of these integrations; of any integration of the platform if none is given.
pub(crate) fn find_among(
    tx: &mut Tx<'_>,
    provider: Provider,
    which: &Which,
    among: &[IntegrationId],
) -> Result<Option<Order>, Fault> {
    Ok(match which {
        Which::Identity(identity) => orders::find_among(tx, provider, identity, among)?,
        Which::Ours(id) => orders::by_id(tx, *id)?.filter(|order| {
            order.provider == provider && (among.is_empty() || among.contains(&order.integration_id))
        }),
    })
}

pub(crate) fn find(
    tx: &mut Tx<'_>,
    integration: &Integration,
    which: &Which,
) -> Result<Option<Order>, Fault> {
    Ok(match which {
        Which::Identity(identity) => {
            orders::by_identity(tx, integration.account_id, integration.id, identity)?
        }
        Which::Ours(id) => orders::by_id(tx, *id)?.filter(|order| order.integration_id == integration.id),
    })
}

pub(crate) fn lock(
    tx: &mut Tx<'_>,
    integration: &Integration,
    which: &Which,
) -> Result<Option<Order>, Fault> {
    Ok(match which {
        Which::Identity(identity) => {
            orders::lock_by_identity(tx, integration.account_id, integration.id, identity, false)?
                .map(|known| known.order)
        }
        Which::Ours(id) => orders::lock(tx, *id)?.filter(|order| order.integration_id == integration.id),
    })
}

/// The identity under which a message waits for its order.
pub(crate) fn identity_of(which: &Which) -> String {
    match which {
        Which::Identity(identity) => identity.clone(),
        Which::Ours(id) => id.to_string(),
    }
}
