//! One request to a platform and its answer, with a session where the platform needs one.

use super::contact::Contact;
use super::limits::{hold_back, wait_for_limit};
use super::send::{send, unwritten};
use super::session::{discard_session, session_token};
use crate::app::App;
use crate::telemetry::{CallOutcome, Topic};
use garson_core::explanation::{Explanation, PlatformFailure, PlatformTask};
use garson_core::order::Order;
use garson_core::platform::{CallError, HttpRequest, HttpResponse, Link, PlatformError};
use tokio::time::Instant;

/// The status of an answer to too many requests.
const TOO_MANY: u16 = 429;

/// Sends a request to a platform and reads the answer; logs in first, and once more when the session has ended.
pub async fn converse<T>(
    app: &App,
    contact: &Contact,
    topic: Topic,
    until: Instant,
    write: impl Fn(&Link<'_>) -> Result<HttpRequest, PlatformError>,
    read: impl Fn(&Link<'_>, &HttpResponse) -> Result<T, CallError>,
) -> Result<T, CallError> {
    converse_if(app, contact, topic, until, || Ok(()), write, read).await
}

/// The same, with a check directly before the request is sent: it may have waited until then.
pub async fn converse_if<T>(
    app: &App,
    contact: &Contact,
    topic: Topic,
    until: Instant,
    check: impl Fn() -> Result<(), CallError>,
    write: impl Fn(&Link<'_>) -> Result<HttpRequest, PlatformError>,
    read: impl Fn(&Link<'_>, &HttpResponse) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let began = Instant::now();
    let answered = converse_uncounted(app, contact, until, check, write, read).await;
    let (provider, outcome) = (contact.platform.provider(), CallOutcome::from(&answered));
    app.metrics.calls.count(provider, topic, outcome, began.elapsed());
    answered
}

async fn converse_uncounted<T>(
    app: &App,
    contact: &Contact,
    until: Instant,
    check: impl Fn() -> Result<(), CallError>,
    write: impl Fn(&Link<'_>) -> Result<HttpRequest, PlatformError>,
    read: impl Fn(&Link<'_>, &HttpResponse) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let token = session_token(app, contact, until).await?;
        let link = contact.link(token.as_ref());
        let request = write(&link).map_err(unwritten)?;
        let counted = wait_for_limit(app, contact, &request, until).await?;
        // The slot is taken last: a request that waits for its own rate limit must not block others.
        let slot = contact.slot(until).await?;
        check()?;
        let response = send(app, contact, request, until).await?;
        drop(slot);
        if response.status == TOO_MANY && contact.has_more {
            hold_back(app, &counted);
        }
        match read(&link, &response) {
            Err(CallError::SessionOver) if tries == 1 && token.is_some() => {
                discard_session(app, contact, &token).await;
            }
            Err(CallError::SessionOver) => {
                return Err(CallError::later(PlatformFailure::SessionNotAccepted));
            }
            other => return other,
        }
    }
}

/// Notifies a platform that it can send orders, if it wants to be notified.
pub async fn enlist(app: &App, contact: &Contact, until: Instant) -> Result<(), CallError> {
    let platform = contact.platform;
    if platform.enlist(&contact.link(None)).map_err(unwritten)?.is_none() {
        return Ok(());
    }
    let nothing = PlatformError::Unsupported {
        what: PlatformTask::Enlist,
    };
    converse(
        app,
        contact,
        Topic::Enlist,
        until,
        |link| platform.enlist(link)?.ok_or(nothing.clone()),
        |_, response| match response.status {
            200..=299 => Ok(()),
            status => Err(CallError::later(Explanation::NotEnlisted { status })),
        },
    )
    .await
}

/// Reads an order from its platform, as the platform's document.
pub async fn read_order(
    app: &App,
    contact: &Contact,
    order: &Order,
    until: Instant,
) -> Result<Vec<u8>, CallError> {
    let platform = contact.platform;
    converse(
        app,
        contact,
        Topic::Look,
        until,
        |link| platform.look(order, link),
        |link, response| platform.looked(link, response),
    )
    .await
}
