//! Sends one request to a platform over the network.

use super::contact::Contact;
use crate::app::App;
use crate::net::{HeaderCase, Log, Outgoing, SendError};
use bytes::Bytes;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::platform::{CallError, HttpRequest, HttpResponse, PlatformError, Trust};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use std::time::Duration;
use tokio::time::Instant;

pub(super) async fn send(
    app: &App,
    contact: &Contact,
    request: HttpRequest,
    until: Instant,
) -> Result<HttpResponse, CallError> {
    if request.climbs() {
        return Err(CallError::refused(PlatformFailure::DotSegment));
    }
    let left = until.saturating_duration_since(Instant::now());
    let time = contact
        .share
        .as_ref()
        .map_or(left, |share| left.min(share.request_deadline));
    let outgoing = outgoing(request, time, contact.log, contact.max_answer)
        .ok_or_else(|| CallError::refused(PlatformFailure::RequestNotWritable))?;
    // Host names that an account gives are resolved on its own share of threads, apart from those of platforms.
    let sent = match (outgoing.trust, contact.account) {
        (Trust::Account, Some(account)) => app.net.on_behalf_of(account).send(outgoing).await,
        _ => app.net.send(outgoing).await,
    };
    match sent {
        Ok(answer) => Ok(HttpResponse {
            status: answer.status,
            body: answer.body,
        }),
        Err(SendError::NotAllowed(refusal)) => {
            Err(CallError::refused(Explanation::TargetNotAllowed { refusal }))
        }
        Err(SendError::Unreachable { why, .. }) => Err(CallError::later(why)),
        Err(error @ (SendError::Broken(_) | SendError::TimedOut(_))) => {
            Err(CallError::unclear(error.explanation()))
        }
    }
}

/// A platform request as an HTTP request; none if it cannot be written as one.
#[must_use]
pub fn outgoing(request: HttpRequest, deadline: Duration, log: Log, max_answer: usize) -> Option<Outgoing> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(value.expose()).ok()?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_bytes(name.as_bytes()).ok()?, value);
    }
    let header_case = HeaderCase::new(request.headers.iter().map(|(name, _)| name.as_str()));
    Some(Outgoing {
        method: Method::from_bytes(request.method.as_bytes()).ok()?,
        url: request.url,
        headers,
        header_case,
        body: request.body.map(Bytes::from).unwrap_or_default(),
        trust: request.trust,
        deadline,
        keep_body: max_answer,
        log,
        may_repeat: false,
    })
}

/// A request that could not be built: nothing was sent.
pub(super) fn unwritten(error: PlatformError) -> CallError {
    match error {
        PlatformError::Answered(trouble) => trouble,
        other => CallError::refused(other.explanation()),
    }
}
