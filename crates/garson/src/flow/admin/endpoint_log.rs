//! The deliveries to an endpoint, with their attempts.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::accounts;
use crate::flow::admin::accounts::Delivery;
use crate::flow::fault::Thing;
use garson_core::delivery::DeliveryState;
use garson_core::id::{AccountId, EndpointId, EventId};
use garson_store::Tx;
use garson_store::lists::endpoint_deliveries;
use garson_store::lists::endpoint_deliveries::EndpointDelivery;
use garson_store::lists::events::EventFilter;
use garson_store::lists::feed::{Direction, Page, PageRequest};
use garson_store::tables::endpoint_deliveries::of_delivery;
use garson_store::tables::events;
use garson_store::tables::webhook_endpoints;

/// A page of the deliveries to an endpoint; those of one order are answered whole.
pub async fn list(
    app: &App,
    account: AccountId,
    endpoint: EndpointId,
    state: Option<DeliveryState>,
    order: Option<String>,
    request: PageRequest,
) -> Result<Page<Delivery>, Fault> {
    if endpoint.is_default_of(account) {
        let filter = EventFilter::with_state(state);
        return accounts::list_deliveries(app, account, filter, order, request).await;
    }
    app.store
        .read(move |tx| {
            if webhook_endpoints::find(tx, account, endpoint)?.is_none() {
                return Err(Fault::not_found(Thing::Endpoint, endpoint));
            }
            let page = match &order {
                None => page(tx, account, endpoint, state, request)?,
                Some(path_id) => {
                    let order = crate::flow::find_order::find_one(tx, account, path_id)?;
                    let mut items = endpoint_deliveries::of_order(tx, endpoint, order.id)?;
                    items.retain(|it| state.is_none_or(|state| it.event.state == state));
                    Page {
                        items,
                        ..Page::empty(request)
                    }
                }
            };
            let items = page
                .items
                .into_iter()
                .map(|it| with_attempts(tx, it))
                .collect::<Result<_, _>>()?;
            Ok(Page {
                items,
                next: page.next,
                prev: page.prev,
            })
        })
        .await
}

fn page(
    tx: &mut Tx<'_>,
    account: AccountId,
    endpoint: EndpointId,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<EndpointDelivery>, Fault> {
    let is_older = request.direction == Direction::Older;
    let between = match (is_older, request.cursor) {
        (true, cursor) => (-1, cursor.unwrap_or(i64::MAX)),
        (false, cursor) => (cursor.unwrap_or(-1), i64::MAX),
    };
    let limit = i64::try_from(request.limit).unwrap_or(i64::MAX - 1);
    let mut found = endpoint_deliveries::page(tx, (account, endpoint), state, between, is_older, limit + 1)?;
    let has_more = found.len() > request.limit;
    found.truncate(request.limit);
    if !is_older {
        found.reverse();
    }
    let Some((newest, oldest)) = found.first().zip(found.last()) else {
        return Ok(Page::empty(request));
    };
    let (newest, oldest) = (newest.position, oldest.position);
    Ok(Page {
        next: (has_more || !is_older).then_some(oldest),
        prev: Some(newest),
        items: found,
    })
}

fn with_attempts(tx: &mut Tx<'_>, it: EndpointDelivery) -> Result<Delivery, Fault> {
    let attempts = match it.event.attempts {
        0 => Vec::new(),
        _ => of_delivery(tx, it.endpoint, it.event.id)?,
    };
    Ok(Delivery {
        event: it.event,
        attempts,
    })
}

/// One delivery.
pub async fn find(
    app: &App,
    account: AccountId,
    endpoint: EndpointId,
    event: EventId,
) -> Result<Delivery, Fault> {
    if endpoint.is_default_of(account) {
        return accounts::delivery(app, account, event).await;
    }
    app.store
        .read(move |tx| {
            let found = endpoint_deliveries::find(tx, account, endpoint, event)?;
            let found = found.ok_or_else(|| Fault::not_found(Thing::WebhookRecord, event))?;
            with_attempts(tx, found)
        })
        .await
}

/// The other endpoints of an account that an event is delivered to, and how that stands. The default one comes first.
pub async fn elsewhere(
    app: &App,
    account: AccountId,
    endpoint: EndpointId,
    event: EventId,
) -> Result<Vec<(EndpointId, DeliveryState)>, Fault> {
    app.store
        .read(move |tx| {
            let mut all = Vec::new();
            if let Some(of_default) = events::find(tx, account, event)? {
                all.push((EndpointId::default_of(account), of_default.state));
            }
            let others = endpoint_deliveries::of_event(tx, account, event)?;
            all.extend(others.into_iter().map(|it| (it.endpoint, it.event.state)));
            // Without other endpoints there is nothing to compare.
            if all.len() < 2 {
                all.clear();
            }
            all.retain(|(id, _)| *id != endpoint);
            Ok(all)
        })
        .await
}
