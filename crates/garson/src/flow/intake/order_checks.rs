//! Fetches an order from its platform when a message says that it has changed but not how, where the platform is not polled.

use super::fetch::{record_fetched, storage_trouble};
use super::message::Understood;
use super::order_lookup;
use super::record::{Recorded, record};
use crate::app::App;
use crate::app::order_checks::Admission;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, Share, read_order};
use crate::flow::polled_platforms::is_polled;
use crate::telemetry::CallOutcome;
use garson_core::id::OrderId;
use garson_core::order::Order;
use garson_core::platform::{HookRequest, News, Platform};
use garson_core::time::Timestamp;
use garson_store::tables::integrations::Connected;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const REQUEST_DEADLINE: Duration = Duration::from_secs(10);
/// The same, including the wait for a slot and for the platform's rate limits.
const DEADLINE: Duration = Duration::from_secs(120);

/// Records a message; if it says only that an order has changed, that order is fetched in the background.
pub(crate) async fn record_and_check(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    request: Arc<HookRequest>,
    message: Understood,
    now: Timestamp,
) -> Result<Recorded, Fault> {
    let to_check = order_to_check(app, platform, &message).await?;
    let recorded = record(app, platform, request, message, now).await?;
    if let Some((connected, order)) = to_check {
        check_soon(app, connected, order);
    }
    Ok(recorded)
}

async fn order_to_check(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    message: &Understood,
) -> Result<Option<(Connected, Order)>, Fault> {
    let Understood::Addressed(addressed) = message else {
        return Ok(None);
    };
    let News::Look { order } = &addressed.news else {
        return Ok(None);
    };
    if is_polled(app, platform) {
        return Ok(None);
    }
    let (integration, which) = (addressed.connected.integration.clone(), order.clone());
    let found = app
        .store
        .read(move |tx| order_lookup::find(tx, &integration, &which))
        .await?;
    Ok(found.map(|order| (addressed.connected.clone(), order)))
}

fn check_soon(app: &Arc<App>, connected: Connected, order: Order) {
    let Some(mut contact) = app.contact(&connected).filter(|c| c.platform.capability().look) else {
        return;
    };
    let account = connected.integration.account_id;
    match app.order_checks.admit(account, order.id) {
        Admission::Repeat => return,
        Admission::Full => {
            tracing::warn!(order = %order.id, "an order is not fetched from its platform: too many fetches are pending");
            return;
        }
        Admission::Start => {}
    }
    contact.share = Some(Share {
        slots: app.order_checks.slots(),
        account,
        is_failing: false,
        request_deadline: REQUEST_DEADLINE,
    });
    let pending = PendingCheck {
        app: Arc::clone(app),
        order: order.id,
    };
    tokio::spawn(check_until_settled(pending, connected, contact, order));
}

/// Removes a pending check when it ends, also if it panics.
struct PendingCheck {
    app: Arc<App>,
    order: OrderId,
}

impl Drop for PendingCheck {
    fn drop(&mut self) {
        self.app.order_checks.remove(self.order);
    }
}

async fn check_until_settled(pending: PendingCheck, connected: Connected, contact: Contact, order: Order) {
    let app = &pending.app;
    loop {
        check(app, &connected, &contact, &order).await;
        if !app.order_checks.must_repeat(order.id) {
            break;
        }
    }
}

async fn check(app: &Arc<App>, connected: &Connected, contact: &Contact, order: &Order) {
    let until = Instant::now() + DEADLINE;
    let checked = match read_order(app, contact, order, until).await {
        Ok(body) => record_fetched(app, connected, vec![body])
            .await
            .map_err(storage_trouble),
        Err(trouble) => Err(trouble),
    };
    if let Err(trouble) = checked {
        let outcome = CallOutcome::from(&trouble).as_str();
        tracing::warn!(order = %order.id, outcome, "an order could not be fetched from its platform");
    }
}
