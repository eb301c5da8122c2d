//! The account acts on an order: verify, advance, ready, cancel.

use super::{Fault, persist};
use crate::app::App;
use garson_core::id::AccountId;
use garson_core::order::{Action, Actor, Input, Order, OrderContent, Reason, Status, TimelineLine};
use garson_core::platform::Platform;
use garson_core::restaurant::matched_id;
use garson_store::idempotency::KeyedRequest;
use garson_store::{Tx, idempotency, integrations, orders, restaurants};
use std::sync::Arc;

/// The one order that an id in a path names.
pub fn find_one(tx: &mut Tx<'_>, account: AccountId, path_id: &str) -> Result<Order, Fault> {
    only_one(orders::find(tx, account, path_id)?, path_id)
}

pub(super) fn only_one(mut found: Vec<Order>, id: &str) -> Result<Order, Fault> {
    match (found.pop(), found.len()) {
        (None, _) => Err(Fault::not_found("order", id)),
        (Some(order), 0) => Ok(order),
        (Some(last), _) => {
            let candidates = found.iter().map(|order| order.id).chain([last.id]).collect();
            Err(Fault::AmbiguousOrder {
                id: id.to_owned(),
                candidates,
            })
        }
    }
}

fn platform_of(order: &Order) -> Result<&'static dyn Platform, Fault> {
    garson_platforms::of(order.provider).ok_or_else(|| Fault::UnknownProvider {
        provider: order.provider.to_string(),
    })
}

/// An order with everything that is known of it.
pub struct OrderDetail {
    pub order: Order,
    pub content: OrderContent,
    pub timeline: Vec<TimelineLine>,
    /// The POS's own id for the way of paying.
    pub matched_id: Option<String>,
}

pub async fn detail(app: &App, account: AccountId, path_id: String) -> Result<OrderDetail, Fault> {
    app.store
        .read(move |tx| {
            let order = find_one(tx, account, &path_id)?;
            let matches = restaurants::payment_matches(tx, order.restaurant_id)?;
            let matched = matched_id(
                &matches,
                order.provider,
                order.payment_type,
                order.payment_code.as_deref(),
            );
            Ok(OrderDetail {
                content: orders::content(tx, order.id)?,
                timeline: orders::timeline(tx, order.id)?,
                matched_id: matched.map(str::to_owned),
                order,
            })
        })
        .await
}

/// An order before and after something was done to it.
#[derive(Clone, Debug)]
pub struct Step {
    pub before: Status,
    pub after: Order,
}

pub async fn verify(app: &App, account: AccountId, path_id: String) -> Result<Step, Fault> {
    act(app, account, path_id, None, |_, _, _| Ok(Action::Verify)).await
}

/// One step forward. Under a client's key the step is taken once, whatever happens in between.
pub async fn advance(
    app: &App,
    account: AccountId,
    path_id: String,
    keyed: Option<Arc<KeyedRequest>>,
) -> Result<Step, Fault> {
    act(app, account, path_id, keyed, |_, _, _| Ok(Action::Advance)).await
}

pub async fn ready(app: &App, account: AccountId, path_id: String) -> Result<Step, Fault> {
    act(app, account, path_id, None, |_, _, _| Ok(Action::Ready)).await
}

/// Cancels with a reason that the platform accepts: the given one, the integration's usual one, or the first.
pub async fn cancel(
    app: &App,
    account: AccountId,
    path_id: String,
    reason: Option<String>,
    note: Option<String>,
) -> Result<Step, Fault> {
    act(app, account, path_id, None, move |order, platform, usual| {
        if order.status.is_cancelled() {
            // It stays as it was cancelled; a repeat is fine whatever reason it gives.
            return Ok(Action::Cancel {
                reason: None,
                note: None,
            });
        }
        let accepted = platform.fixed_reasons();
        let named = |id: &str| accepted.iter().find(|reason| reason.id == id).cloned();
        let chosen = match &reason {
            Some(given) => Some(named(given).ok_or_else(|| Fault::ReasonNotAccepted {
                accepted: accepted.clone(),
            })?),
            None => usual.and_then(named).or_else(|| accepted.first().cloned()),
        };
        Ok(Action::Cancel {
            reason: chosen,
            note: note.clone(),
        })
    })
    .await
}

async fn act<F>(
    app: &App,
    account: AccountId,
    path_id: String,
    keyed: Option<Arc<KeyedRequest>>,
    choose: F,
) -> Result<Step, Fault>
where
    F: Fn(&Order, &dyn Platform, Option<&str>) -> Result<Action, Fault> + Send + 'static,
{
    let vault = Arc::clone(&app.vault);
    let now = app.now();
    let step = app
        .store
        .write(account, move |tx| {
            let named = find_one(tx, account, &path_id)?;
            let before = orders::lock(tx, named.id)?.ok_or_else(|| Fault::not_found("order", &path_id))?;
            if let Some(status) = taken_before(tx, keyed.as_deref())? {
                return Ok(Step {
                    before: status,
                    after: before,
                });
            }
            let platform = platform_of(&before)?;
            // The integration may have been removed since; its order can still be brought to an end here.
            let connected = integrations::by_id(tx, &vault, before.integration_id)?;
            let usual = connected
                .as_ref()
                .and_then(|c| c.integration.default_cancel_reason.clone());
            let action = choose(&before, platform, usual.as_deref())?;
            let credentials = connected.map(|c| c.credentials).unwrap_or_default();
            let input = Input::Want(action, Actor::Account);
            let after = persist::apply_and_write(tx, platform, &credentials, &before, &input, now)?;
            if let Some(keyed) = &keyed {
                idempotency::note_acted(tx, keyed, before.status.code())?;
            }
            Ok::<_, Fault>(Step {
                before: before.status,
                after,
            })
        })
        .await?;
    app.wake_calls.notify_one();
    Ok(step)
}

/// The status from which a step has been taken under this key, by a run that did not live to answer.
fn taken_before(tx: &mut Tx<'_>, keyed: Option<&KeyedRequest>) -> Result<Option<Status>, Fault> {
    let Some(keyed) = keyed else { return Ok(None) };
    Ok(idempotency::acted(tx, keyed)?.and_then(Status::from_code))
}

/// The reasons with which an order can be cancelled now.
pub async fn reasons(app: &App, account: AccountId, path_id: String) -> Result<Vec<Reason>, Fault> {
    let order = app.store.read(move |tx| find_one(tx, account, &path_id)).await?;
    Ok(platform_of(&order)?.fixed_reasons())
}
