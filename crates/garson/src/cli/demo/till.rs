//! A sample till: it moves the orders of one restaurant along, as a POS program would.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::order_actions::act;
use crate::flow::read::order_detail::detail;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::{Courier, Order, Status};
use garson_store::tables::{integrations, orders};
use std::sync::Arc;
use std::time::Duration;

const LOOK: Duration = Duration::from_secs(1);
/// How long the kitchen cooks, and the courier rides.
const TAKES: Duration = Duration::from_secs(8);

/// Works until the demo ends.
pub async fn run(app: Arc<App>, account: AccountId, restaurant: RestaurantId) {
    loop {
        tokio::time::sleep(LOOK).await;
        if let Err(fault) = step(&app, account, restaurant).await {
            tracing::warn!(?fault, "the sample till could not look");
        }
    }
}

async fn step(app: &Arc<App>, account: AccountId, restaurant: RestaurantId) -> Result<(), Fault> {
    let before = app.now().minus(TAKES);
    let open: Vec<Order> = app
        .store
        .read(move |tx| {
            let mut open = Vec::new();
            for integration in integrations::of_restaurant(tx, restaurant)? {
                open.extend(orders::open_of_integration(tx, account, integration.id, 200)?);
            }
            Ok::<_, Fault>(open)
        })
        .await?;
    for order in open.into_iter().filter(|order| order.updated_at < before) {
        let id = order.id.to_string();
        let moved = match order.status {
            Status::Preparing if order.ready_at.is_none() => act::ready(app, account, id).await,
            Status::Preparing | Status::OnTheWay => match is_ours_to_carry(app, account, &id).await? {
                true => act::advance(app, account, id, None).await,
                false => continue,
            },
            _ => continue,
        };
        if let Err(fault) = moved {
            tracing::info!(order = %order.id, ?fault, "the sample till could not move an order");
        }
    }
    Ok(())
}

async fn is_ours_to_carry(app: &App, account: AccountId, id: &str) -> Result<bool, Fault> {
    let detail = detail(app, account, id.to_owned()).await?;
    Ok(detail.content.fulfilment.courier != Courier::Platform)
}
