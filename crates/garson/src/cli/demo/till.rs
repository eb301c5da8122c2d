//! A sample POS: advances the orders of one restaurant.

use crate::app::App;
use crate::flow::order_actions::act;
use crate::flow::read::operator;
use crate::flow::read::order_detail::detail;
use crate::flow::{By, Fault};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::order::{Courier, Status};
use std::sync::Arc;
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long preparation and delivery take.
const STEP_TIME: Duration = Duration::from_secs(8);

/// Runs until the demo ends.
pub async fn run(app: Arc<App>, account: AccountId, restaurant: RestaurantId) {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if let Err(fault) = step(&app, account, restaurant).await {
            tracing::warn!(?fault, "the sample POS could not read its orders");
        }
    }
}

async fn step(app: &Arc<App>, account: AccountId, restaurant: RestaurantId) -> Result<(), Fault> {
    let before = app.now().minus(STEP_TIME);
    let open = operator::open_orders(app, account, restaurant).await?;
    for order in open.into_iter().filter(|order| order.updated_at < before) {
        let id = order.id.to_string();
        let moved = match order.status {
            Status::Preparing if order.ready_at.is_none() => {
                act::ready(app, By::operator(account, "demo"), id).await
            }
            Status::Preparing | Status::OnTheWay => {
                if is_delivered_by_restaurant(app, account, &id).await? {
                    act::advance(app, By::operator(account, "demo"), id, None).await
                } else {
                    continue;
                }
            }
            _ => continue,
        };
        if let Err(fault) = moved {
            tracing::info!(order = %order.id, ?fault, "the sample POS could not advance an order");
        }
    }
    Ok(())
}

async fn is_delivered_by_restaurant(app: &App, account: AccountId, id: &str) -> Result<bool, Fault> {
    let detail = detail(app, account, id.to_owned()).await?;
    Ok(detail.content.fulfilment.courier != Courier::Platform)
}
