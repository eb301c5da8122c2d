//! Sends an event by hand: again to a given address, or a test to the registered one.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::accounts::Actor;
use crate::flow::deliver::attempt::{AttemptOutcome, judge, post};
use crate::flow::fault::Thing;
use crate::flow::{find_order, manual_sends};
use crate::net::headers::check_headers;
use crate::net::{Log, SendError, Sent};
use garson_core::event::test_body;
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId, OrderId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::deliveries::{Outcome, Settlement};
use garson_store::tables::{accounts, attempts, deliveries, events, keys};
use http::{HeaderMap, HeaderValue, header};
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
pub async fn resend(app: &App, account: AccountId, actor: Actor, resend: Resend) -> Result<u16, Fault> {
    let mut headers = checked(&resend.headers)?;
    app.net
        .check_address(&resend.url)
        .map_err(|refusal| Fault::target("url", refusal))?;
    let vault = Arc::clone(&app.vault);
    let (wanted, url) = (resend.webhook_order_id, resend.url.clone());
    let (event, webhook, key) = app
        .store
        .read(move |tx| {
            let event = find_event(tx, account, &wanted)?;
            let webhook = accounts::webhook(tx, account)?;
            let is_registered = webhook.as_ref().is_some_and(|webhook| webhook.url == url);
            let key = match actor {
                Actor::Key(key) if !is_registered && !keys::is_primary(tx, account, key)? => {
                    keys::secret(tx, &vault, account, key)?
                }
                _ => keys::primary(tx, &vault, account)?,
            };
            Ok::<_, Fault>((event, webhook, key))
        })
        .await?;
    let form = webhook.as_ref().map(|w| w.authorization).unwrap_or_default();
    if let (false, Some(key)) = (headers.contains_key(header::AUTHORIZATION), key) {
        headers.insert(header::AUTHORIZATION, sensitive(&form.header(&key))?);
    }
    let manual = ManualSend {
        id: event.id,
        order_id: event.order_id,
        registered: webhook.map(|webhook| webhook.url),
        attempts: event.attempts,
    };
    let _slot = manual_sends::slot(app, account)?;
    let started = app.now();
    let sent = post(app, account, &resend.url, headers.clone(), event.body, Log::Every).await;
    note(app, account, &manual, (&resend.url, &headers), started, &sent).await?;
    status_of(sent)
}

/// Sends an event once more to the registered address; returns the target's status, whatever it is.
pub async fn again(app: &App, account: AccountId, event: EventId) -> Result<u16, Fault> {
    let webhook = crate::flow::admin::accounts::webhook(app, account).await?;
    let to_registered = Resend {
        webhook_order_id: event.to_string(),
        url: webhook.ok_or(Fault::NoWebhook)?.url,
        headers: Vec::new(),
    };
    resend(app, account, Actor::Owner, to_registered).await
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
pub async fn test(app: &App, account: AccountId) -> Result<u16, Fault> {
    let vault = Arc::clone(&app.vault);
    let (webhook, key) = app
        .store
        .read(move |tx| {
            Ok::<_, Fault>((
                accounts::webhook(tx, account)?,
                keys::primary(tx, &vault, account)?,
            ))
        })
        .await?;
    let webhook = webhook.ok_or(Fault::NoWebhook)?;
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        headers.insert(
            header::AUTHORIZATION,
            sensitive(&webhook.authorization.header(&key))?,
        );
    }
    let _slot = manual_sends::slot(app, account)?;
    let now = app.now();
    let body = test_body(EventId::at(now), now);
    status_of(post(app, account, &webhook.url, headers, body, Log::Every).await)
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

fn status_of(sent: Sent) -> Result<u16, Fault> {
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
