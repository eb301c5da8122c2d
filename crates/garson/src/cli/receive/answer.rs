//! One request to the receiver: checks key, body and event, and responds as the flags say.

use super::event::Event;
use super::history::{EventHistory, Totals};
use super::show::Show;
use bytes::Bytes;
use garson_core::account::AuthorizationForm;
use garson_core::secret::{Secret, same_bytes};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use parking_lot::Mutex;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

const MAX_BODY: usize = 1024 * 1024;
const MAX_DRAINED: usize = 16 * MAX_BODY;
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// How the receiver responds to events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    pub status: u16,
    pub delay: Duration,
    pub fail_first: u64,
    pub fail_percent: u8,
    /// Failures close the connection instead of a 500.
    pub closes: bool,
}

impl Behaviour {
    /// Does the event fail that follows this many others?
    fn fails(self, before: u64) -> bool {
        before < self.fail_first || self.fail_percent > percent()
    }
}

/// A random number below 100.
#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
fn percent() -> u8 {
    let mut random = [0; 2];
    // Without randomness no event fails by chance; `--fail-percent 100` needs none.
    match getrandom::fill(&mut random) {
        Ok(()) => u8::try_from(u16::from_le_bytes(random) % 100).unwrap_or(99),
        Err(_) => 99,
    }
}

/// The connection is closed without a response.
#[derive(Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("closed without an answer")
    }
}

impl std::error::Error for Closed {}

/// Why a request is rejected.
struct Refused {
    status: StatusCode,
    why: String,
}

fn refused(status: StatusCode, why: impl Into<String>) -> Refused {
    let why = why.into();
    Refused { status, why }
}

pub struct Receiver {
    behaviour: Behaviour,
    key: Option<Secret<String>>,
    form: AuthorizationForm,
    show: Show,
    history: Mutex<EventHistory>,
}

impl Receiver {
    pub fn new(
        behaviour: Behaviour,
        key: Option<Secret<String>>,
        form: AuthorizationForm,
        show: Show,
    ) -> Self {
        Self {
            behaviour,
            key,
            form,
            show,
            history: Mutex::default(),
        }
    }

    pub fn totals(&self) -> Totals {
        self.history.lock().totals
    }

    pub async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Closed> {
        match self.take(request).await? {
            Ok(status) => {
                tokio::time::sleep(self.behaviour.delay).await;
                status.map(reply).ok_or(Closed)
            }
            Err(Refused { status, why }) => {
                self.history.lock().totals.refused += 1;
                self.show.refused(&why, status.as_u16());
                Ok(reply(status))
            }
        }
    }

    /// Receives an event; returns the status of the response, or `None` for none.
    async fn take(&self, request: Request<Incoming>) -> Result<Result<Option<StatusCode>, Refused>, Closed> {
        let (head, body) = request.into_parts();
        if head.method != Method::POST {
            let why = format!("{} is not how events come", head.method);
            return Ok(Err(refused(StatusCode::METHOD_NOT_ALLOWED, why)));
        }
        // Read the body first, even of rejected requests: a sender that is still writing might miss the response.
        let body = match read(body).await? {
            Ok(body) => body,
            Err(refusal) => return Ok(Err(refusal)),
        };
        Ok(self.check_key(&head.headers).and_then(|()| self.note(&body)))
    }

    fn check_key(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let Some(key) = &self.key else {
            return Ok(());
        };
        let unauthorized = |why: &str| Err(refused(StatusCode::UNAUTHORIZED, why));
        let Some(given) = headers.get(header::AUTHORIZATION) else {
            return unauthorized("no key: there is no Authorization header");
        };
        let is = |form: AuthorizationForm| same_bytes(given.as_bytes(), form.header(key).expose().as_bytes());
        match self.form {
            form if is(form) => Ok(()),
            AuthorizationForm::Bearer if is(AuthorizationForm::Bare) => {
                unauthorized("the right key, but bare: this receiver wants `Bearer KEY`")
            }
            AuthorizationForm::Bare if is(AuthorizationForm::Bearer) => {
                unauthorized("the right key, but as Bearer: this receiver wants it bare")
            }
            AuthorizationForm::Bearer | AuthorizationForm::Bare => unauthorized("wrong key"),
        }
    }

    fn note(&self, body: &[u8]) -> Result<Option<StatusCode>, Refused> {
        let bad = |why: String| refused(StatusCode::BAD_REQUEST, why);
        let document: Value =
            serde_json::from_slice(body).map_err(|error| bad(format!("not JSON: {error}")))?;
        let event = Event::find(&document).map_err(|why| bad(format!("not an event: {why}")))?;
        let mut history = self.history.lock();
        let fails = self.behaviour.fails(history.totals.received);
        let status = match (fails, self.behaviour.closes) {
            (true, true) => None,
            (true, false) => Some(StatusCode::INTERNAL_SERVER_ERROR),
            (false, _) => StatusCode::from_u16(self.behaviour.status).ok(),
        };
        let remarks = history.record(&event, status.is_some_and(|status| status.is_success()));
        // Under the lock, so that the lines are printed in the order of the history.
        self.show.event(
            history.totals.received,
            body,
            &document,
            &event.line(&document, remarks),
            status.map(|status| status.as_u16()),
        );
        Ok(status)
    }
}

async fn read(body: Incoming) -> Result<Result<Vec<u8>, Refused>, Closed> {
    match tokio::time::timeout(BODY_DEADLINE, collect(body)).await {
        Ok(Ok(Some(body))) => Ok(Ok(body)),
        Ok(Ok(None)) => Ok(Err(refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is larger than 1 MiB",
        ))),
        // The sender has gone.
        Ok(Err(Gone)) => Err(Closed),
        Err(_) => Ok(Err(refused(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not come within 30 s",
        ))),
    }
}

/// The sender disconnected before its body was complete.
struct Gone;

/// The body, unless it is too large. Then some more is read and discarded, so that the sender receives the response.
async fn collect(mut body: Incoming) -> Result<Option<Vec<u8>>, Gone> {
    let mut kept = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Gone)?.into_data() else {
            continue;
        };
        length += data.len();
        if length <= MAX_BODY {
            kept.extend_from_slice(&data);
        } else if length > MAX_DRAINED {
            break;
        }
    }
    Ok((length <= MAX_BODY).then_some(kept))
}

fn reply(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response
            .headers_mut()
            .insert(header::ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_shares_are_certain() {
        let behaviour = |fail_first, fail_percent| Behaviour {
            status: 200,
            delay: Duration::ZERO,
            fail_first,
            fail_percent,
            closes: false,
        };
        for before in 0..1_000 {
            assert!(!behaviour(0, 0).fails(before));
            assert!(behaviour(0, 100).fails(before));
            assert_eq!(behaviour(3, 0).fails(before), before < 3);
        }
    }
}
