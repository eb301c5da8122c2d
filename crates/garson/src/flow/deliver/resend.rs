//! Sends an event by hand: again to a given address, or a test to the registered one.

use crate::app::App;
use crate::flow::admin::shown_url;
use crate::flow::by::{Recorded, Who};
use crate::flow::deliver::attempt;
use crate::flow::deliver::attempt::{AttemptOutcome, judge, post};
use crate::flow::deliver::receiver::Receiver;
use crate::flow::deliver::target::Target;
use crate::flow::fault::Thing;
use crate::flow::record_action::record_action;
use crate::flow::{By, Fault, find_order, manual_sends};
use crate::net::headers::check_headers;
use crate::net::{Log, SendError, Sent};
use garson_core::audit::{RecordKind, Verb};
use garson_core::event::test_body;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId, OrderId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use garson_store::tables::{accounts, attempts, deliveries, events, keys};
use http::{HeaderMap, HeaderValue, header};
use serde_json::json;
use std::sync::Arc;

/// Which event to send to which address.
pub struct Resend {
    pub webhook_order_id: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// An event that is sent by hand, and the registered address.
struct ManualSend {
    id: EventId,
    order_id: Option<OrderId>,
    registered: Option<String>,
    attempts: i64,
}

/// Sends an event once to the given address; returns the target's status, whatever it is. The request carries the primary key
/// if it goes to the registered address or the caller uses that key; otherwise it carries the caller's key.
pub async fn resend(app: &App, by: By, resend: Resend) -> Result<u16, Fault> {
    let account = by.account;
    let mut headers = checked(&resend.headers)?;
    app.net
        .check_address(&resend.url)
        .map_err(|refusal| Fault::target("url", refusal))?;
    let vault = Arc::clone(&app.vault);
    let (wanted, url, who) = (resend.webhook_order_id, resend.url.clone(), by.who.clone());
    let (event, webhook, target, key) = app
        .store
        .read(move |tx| {
            let event = find_event(tx, account, &wanted)?;
            let webhook = accounts::webhook(tx, account)?;
            let is_registered = webhook.as_ref().is_some_and(|webhook| webhook.url == url);
            let target = if is_registered {
                Target::load(tx, &vault, Receiver::default_of(account))?
            } else {
                None
            };
            let key = match who {
                Who::Key(key) if !is_registered && !keys::is_primary(tx, account, key)? => {
                    keys::secret(tx, &vault, account, key)?
                }
                _ => keys::primary(tx, &vault, account)?,
            };
            Ok::<_, Fault>((event, webhook, target, key))
        })
        .await?;
    let started = app.now();
    let mut body = event.body.clone();
    if let Some(target) = target {
        // As it is sent otherwise: with its order, its authorization and its signature.
        let delivery = Delivery {
            id: event.id,
            order_id: event.order_id,
            position: 0,
            failures: 0,
            attempts: event.attempts,
            body: event.body,
            created_at: event.created_at,
        };
        body = attempt::body(app, account, &target, &delivery)
            .await
            .unwrap_or(body);
        for (name, value) in &target.headers(event.id, &body, started) {
            headers.entry(name).or_insert_with(|| value.clone());
        }
    } else if let (false, Some(key)) = (headers.contains_key(header::AUTHORIZATION), key) {
        let form = webhook.as_ref().map(|w| w.authorization).unwrap_or_default();
        headers.insert(header::AUTHORIZATION, sensitive(&form.header(&key))?);
    }
    let manual = ManualSend {
        id: event.id,
        order_id: event.order_id,
        registered: webhook.map(|webhook| webhook.url),
        attempts: event.attempts,
    };
    let _slot = manual_sends::slot(app, account)?;
    let action = Recorded::new(RecordKind::Event, Verb::Retried).id(event.id);
    let fields = json!({ "url": shown_url(&app.vault, &resend.url) });
    record_action(app, by, action.restaurant(event.restaurant_id).after(fields)).await?;
    let sent = post(app, account, &resend.url, headers.clone(), body, Log::Every).await;
    note(app, account, &manual, (&resend.url, &headers), started, &sent).await?;
    status_of(sent)
}

/// Sends an event once more to the registered address; returns the target's status, whatever it is.
pub async fn again(app: &App, by: By, event: EventId) -> Result<u16, Fault> {
    let webhook = crate::flow::admin::accounts::webhook(app, by.account).await?;
    let to_registered = Resend {
        webhook_order_id: event.to_string(),
        url: webhook.ok_or(Fault::NoWebhook)?.url,
        headers: Vec::new(),
    };
    resend(app, by, to_registered).await
}

/// The same for an event of this order only.
pub async fn again_of_order(app: &App, by: By, order: String, event: EventId) -> Result<u16, Fault> {
    let account = by.account;
    app.store
        .read(move |tx| {
            let order = find_order::find_one(tx, account, &order)?;
            let found = events::find(tx, account, event)?;
            match found.filter(|found| found.order_id == Some(order.id)) {
                Some(_) => Ok(()),
                None => Err(Fault::not_found(Thing::WebhookRecord, event)),
            }
        })
        .await?;
    again(app, by, event).await
}

/// The event of that id, or the newest one of the order of that id.
fn find_event(tx: &mut Tx<'_>, account: AccountId, id: &str) -> Result<events::StoredEvent, Fault> {
    if let Ok(event_id) = id.parse::<EventId>()
        && let Some(event) = events::find(tx, account, event_id)?
    {
        return Ok(event);
    }
    let order = match find_order::find_one(tx, account, id) {
        Err(Fault::NotFound(_)) => return Err(Fault::not_found(Thing::WebhookRecord, id)),
        other => other?,
    };
    events::of_order(tx, order.id)?
        .into_iter()
        .next()
        .ok_or_else(|| Fault::not_found(Thing::WebhookRecord, id))
}

/// Sends a test message to the registered address.
pub async fn test(app: &App, by: By) -> Result<u16, Fault> {
    let account = by.account;
    let vault = Arc::clone(&app.vault);
    let receiver = Receiver::default_of(account);
    let target = app
        .store
        .read(move |tx| Ok::<_, Fault>(Target::load(tx, &vault, receiver)?))
        .await?;
    let target = target.ok_or(Fault::NoWebhook)?;
    let _slot = manual_sends::slot(app, account)?;
    record_action(app, by, Recorded::new(RecordKind::Webhook, Verb::Tested)).await?;
    let now = app.now();
    let id = EventId::at(now);
    let body = test_body(id, now);
    let headers = target.headers(id, &body, now);
    status_of(post(app, account, &target.url, headers, body, Log::Every).await)
}

fn checked(headers: &[(String, String)]) -> Result<HeaderMap, Fault> {
    check_headers(
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    )
    .map_err(|refusal| Fault::invalid(format!("headers.{}", refusal.name), refusal.problem))
}

fn sensitive(value: &Secret<String>) -> Result<HeaderValue, Fault> {
    let mut header = HeaderValue::from_str(value.expose()).map_err(|_| {
        Fault::Store(garson_store::StoreError::corrupt(
            "the account's key cannot be sent",
        ))
    })?;
    header.set_sensitive(true);
    Ok(header)
}

pub(super) fn status_of(sent: Sent) -> Result<u16, Fault> {
    match sent.outcome {
        Ok(answer) => Ok(answer.status),
        Err(SendError::NotAllowed(refusal)) => Err(Fault::target("url", refusal)),
        Err(other) => Err(Fault::TargetUnreachable {
            explanation: other.explanation(),
        }),
    }
}

/// Adds the attempt to the event's log; a request that was never sent is not an attempt. If the account's own receiver accepted
/// it, the event is delivered and its next retry is dropped; a retry in flight continues and is logged as well.
async fn note(
    app: &App,
    account: AccountId,
    event: &ManualSend,
    (url, headers): (&str, &HeaderMap),
    started: Timestamp,
    sent: &Sent,
) -> Result<(), Fault> {
    if matches!(sent.outcome, Err(SendError::NotAllowed(_))) {
        return Ok(());
    }
    let AttemptOutcome {
        mut attempt, failure, ..
    } = judge(started, url, headers, sent);
    attempt.explanation = Explanation::SentByHand {
        result: Box::new(attempt.explanation),
    };
    let is_delivered = failure.is_none() && event.registered.as_deref() == Some(url);
    let now = app.now();
    let settlement = Settlement {
        id: event.id,
        order_id: event.order_id,
        outcome: Outcome::Delivered,
        attempt: Some(attempt),
        attempts_before: event.attempts,
    };
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            if is_delivered {
                let released = deliveries::settle(tx, std::slice::from_ref(&settlement), now)?;
                if !released.is_empty() {
                    accounts::wake_delivery(tx, account)?;
                }
            } else if let Some(attempt) = &settlement.attempt {
                attempts::record(tx, settlement.id, attempt)?;
            }
            Ok(())
        })
        .await
}
