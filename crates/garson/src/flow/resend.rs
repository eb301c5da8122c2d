//! Sending an event by hand: again to a given address, or a test to the registered one.

use super::{Fault, act};
use crate::app::App;
use crate::net::headers::check_headers;
use crate::net::{Log, Outgoing, SendError};
use garson_core::event::test_body;
use garson_core::id::{AccountId, EventId};
use garson_core::platform::Trust;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::events::{self, Attempt};
use garson_store::{Tx, accounts, keys};
use http::{HeaderMap, HeaderValue, Method, header};
use std::sync::Arc;
use std::time::Duration;

/// What to send where.
pub struct Resend {
    pub webhook_order_id: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// Sends an event once, now, to the given address; answers the target's status, whatever it is.
pub async fn resend(app: &App, account: AccountId, resend: Resend) -> Result<u16, Fault> {
    let mut headers = checked(&resend.headers)?;
    app.net
        .check_address(&resend.url)
        .map_err(|refusal| not_allowed(&refusal.to_string()))?;
    let vault = Arc::clone(&app.vault);
    let wanted = resend.webhook_order_id;
    let (event, authorization) = app
        .store
        .read(move |tx| {
            let event = find_event(tx, account, &wanted)?;
            let form = accounts::webhook(tx, account)?
                .map(|w| w.authorization)
                .unwrap_or_default();
            let key = keys::primary(tx, &vault, account)?;
            Ok::<_, Fault>((event, key.map(|key| form.header(&key))))
        })
        .await?;
    if let (false, Some(value)) = (headers.contains_key(header::AUTHORIZATION), authorization) {
        headers.insert(header::AUTHORIZATION, sensitive(&value)?);
    }
    let started = app.now();
    let sent = send(app, resend.url.clone(), headers, event.body).await;
    note(app, account, event.id, &resend.url, started, &sent).await?;
    status_of(sent)
}

/// The event of that id, or the newest one of the order of that id.
fn find_event(tx: &mut Tx<'_>, account: AccountId, id: &str) -> Result<events::StoredEvent, Fault> {
    if let Ok(event_id) = id.parse::<EventId>()
        && let Some(event) = events::find(tx, account, event_id)?
    {
        return Ok(event);
    }
    let order = match act::find_one(tx, account, id) {
        Err(Fault::NotFound { .. }) => return Err(Fault::not_found("webhook record", id)),
        other => other?,
    };
    events::of_order(tx, order.id)?
        .into_iter()
        .next()
        .ok_or_else(|| Fault::not_found("webhook record", id))
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
    let now = app.now();
    status_of(send(app, webhook.url, headers, test_body(EventId::at(now), now)).await)
}

fn checked(headers: &[(String, String)]) -> Result<HeaderMap, Fault> {
    check_headers(
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    )
    .map_err(|refusal| Fault::invalid(format!("headers.{}", refusal.name), refusal.reason))
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

fn not_allowed(reason: &str) -> Fault {
    Fault::TargetNotAllowed {
        field: "url",
        reason: reason.to_owned(),
    }
}

async fn send(app: &App, url: String, mut headers: HeaderMap, body: String) -> Result<u16, SendError> {
    headers
        .entry(header::CONTENT_TYPE)
        .or_insert(HeaderValue::from_static("application/json"));
    let outgoing = Outgoing {
        method: Method::POST,
        url,
        headers,
        body: body.into(),
        trust: Trust::Account,
        deadline: Duration::from_secs(u64::from(app.settings.webhook.attempt_seconds)),
        keep_body: 1024,
        log: Log::Every,
        may_repeat: false,
    };
    app.net.send(outgoing).await.map(|answer| answer.status)
}

fn status_of(sent: Result<u16, SendError>) -> Result<u16, Fault> {
    sent.map_err(|error| match error {
        SendError::NotAllowed(refusal) => not_allowed(&refusal.to_string()),
        other => Fault::TargetUnreachable {
            explanation: other.to_string(),
        },
    })
}

/// Puts the attempt into the event's log; one that never reached the wire is not an attempt.
async fn note(
    app: &App,
    account: AccountId,
    id: EventId,
    url: &str,
    started: Timestamp,
    sent: &Result<u16, SendError>,
) -> Result<(), Fault> {
    let explanation = match sent {
        Ok(status) => format!("sent by hand, answered {status}"),
        Err(SendError::NotAllowed(_)) => return Ok(()),
        Err(error) => format!("sent by hand: {error}"),
    };
    let attempt = Attempt {
        number: 0,
        at: started,
        url: url.to_owned(),
        status: sent.as_ref().ok().map(|status| i64::from(*status)),
        duration_ms: i64::try_from(app.now().since(started).as_millis()).unwrap_or(i64::MAX),
        explanation,
    };
    app.store
        .write(account, move |tx| Ok(events::note_attempt(tx, id, &attempt)?))
        .await
}
