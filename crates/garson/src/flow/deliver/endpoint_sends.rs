//! Sends to an endpoint by hand: a test message, or an event once more.

use super::attempt::{AttemptOutcome, body, judge, post};
use super::receiver::Receiver;
use super::resend;
use super::resend::status_of;
use super::target::Target;
use crate::app::App;
use crate::flow::admin::shown_url;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::manual_sends;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault};
use crate::net::{Log, SendError};
use garson_core::audit::{RecordKind, Verb};
use garson_core::delivery::UndeliveredReason;
use garson_core::event::test_body;
use garson_core::explanation::Explanation;
use garson_core::id::{EndpointId, EventId};
use garson_store::Tx;
use garson_store::lists;
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use garson_store::tables::{accounts, endpoint_deliveries, webhook_endpoints};
use serde_json::json;
use std::sync::Arc;

/// The target of an endpoint, also of one that gets no events now.
fn target(tx: &mut Tx<'_>, app: &App, receiver: Receiver) -> Result<Target, Fault> {
    let Receiver { account, endpoint } = receiver;
    if receiver.is_default() {
        return Target::load(tx, &app.vault, receiver)?.ok_or(Fault::NoWebhook);
    }
    let stored = webhook_endpoints::find(tx, account, endpoint)?;
    let stored = stored.ok_or_else(|| Fault::not_found(Thing::Endpoint, endpoint))?;
    Target::of_stored(tx, &app.vault, account, &stored)?.ok_or(Fault::NoWebhook)
}

/// Sends a test message to an endpoint; returns the target's status, whatever it is.
pub async fn test(app: &Arc<App>, by: By, endpoint: EndpointId) -> Result<u16, Fault> {
    let account = by.account;
    let receiver = Receiver { account, endpoint };
    let reader = Arc::clone(app);
    let target = app.store.read(move |tx| target(tx, &reader, receiver)).await?;
    let _slot = manual_sends::slot(app, account)?;
    let tested = Recorded::new(RecordKind::Webhook, Verb::Tested);
    record_action(app, by, tested.id(endpoint)).await?;
    let now = app.now();
    let id = EventId::at(now);
    let body = test_body(id, now);
    let headers = target.headers(id, &body, now);
    status_of(post(app, account, &target.url, headers, body, Log::Every).await)
}

/// Sends an event once more to an endpoint; returns the target's status, whatever it is. If the endpoint accepts it, the event is
/// delivered and its next retry is dropped.
pub async fn again(app: &Arc<App>, by: By, endpoint: EndpointId, event: EventId) -> Result<u16, Fault> {
    let account = by.account;
    let receiver = Receiver { account, endpoint };
    if receiver.is_default() {
        return resend::again(app, by, event).await;
    }
    let reader = Arc::clone(app);
    let (target, stored) = app
        .store
        .read(move |tx| {
            let found = lists::endpoint_deliveries::find(tx, account, endpoint, event)?;
            let found = found.ok_or_else(|| Fault::not_found(Thing::WebhookRecord, event))?;
            Ok::<_, Fault>((target(tx, &reader, receiver)?, found.event))
        })
        .await?;
    let _slot = manual_sends::slot(app, account)?;
    let action = Recorded::new(RecordKind::Event, Verb::Retried).id(event);
    let fields = json!({ "endpoint": endpoint, "url": shown_url(&app.vault, &target.url) });
    record_action(app, by, action.restaurant(stored.restaurant_id).after(fields)).await?;
    let delivery = Delivery {
        id: stored.id,
        order_id: stored.order_id,
        position: 0,
        failures: 0,
        attempts: stored.attempts,
        body: stored.body,
        created_at: stored.created_at,
    };
    let body = body(app, account, &target, &delivery).await;
    let body = body.unwrap_or_else(|| delivery.body.clone());
    let started = app.now();
    let headers = target.headers(delivery.id, &body, started);
    let sent = post(app, account, &target.url, headers.clone(), body, Log::Every).await;
    if !matches!(sent.outcome, Err(SendError::NotAllowed(_))) {
        let outcome = judge(started, &target.url, &headers, &sent);
        note(app, receiver, &delivery, outcome).await?;
    }
    status_of(sent)
}

/// Adds the attempt to the delivery's log.
async fn note(app: &App, receiver: Receiver, delivery: &Delivery, made: AttemptOutcome) -> Result<(), Fault> {
    let Receiver { account, endpoint } = receiver;
    let mut attempt = made.attempt;
    attempt.explanation = Explanation::SentByHand {
        result: Box::new(attempt.explanation),
    };
    let is_delivered = made.failure.is_none();
    let now = app.now();
    let settlement = Settlement {
        id: delivery.id,
        order_id: delivery.order_id,
        outcome: Outcome::Delivered,
        attempt: Some(attempt),
        attempts_before: delivery.attempts,
    };
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if is_delivered {
                let one = std::slice::from_ref(&settlement);
                let unused = UndeliveredReason::UrlRemoved;
                let released = endpoint_deliveries::settle(tx, endpoint, one, unused, now)?;
                webhook_endpoints::note_accepted(tx, endpoint)?;
                if !released.is_empty() {
                    accounts::wake_delivery(tx, account)?;
                }
            } else if let Some(attempt) = &settlement.attempt {
                endpoint_deliveries::record(tx, endpoint, settlement.id, attempt)?;
            }
            Ok(())
        })
        .await
}
