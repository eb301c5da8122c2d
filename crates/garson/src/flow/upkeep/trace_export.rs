//! Sends traces to the collector, in batches. Nothing waits for it: what it does not accept within some tries is dropped.

use crate::app::App;
use crate::net::{HeaderCase, Log, Outgoing};
use bytes::Bytes;
use garson_core::platform::Trust;
use http::{HeaderMap, HeaderValue, Method, header};
use std::sync::Arc;
use std::time::Duration;

/// How long spans wait for a whole batch.
const INTERVAL: Duration = Duration::from_secs(1);
const DEADLINE: Duration = Duration::from_secs(10);
/// The pauses before each further try.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
];
/// How much of an answer is read.
const MAX_ANSWER: usize = 16 * 1024;

/// Why the collector has not accepted a batch.
enum Rejection {
    /// It may accept it later.
    Temporary(String),
    Final(String),
}

/// Sends traces until the service stops.
pub async fn run(app: Arc<App>) {
    if !app.settings.traces.is_on() {
        return std::future::pending().await;
    }
    loop {
        // Either a whole batch is there, or what is there has waited long enough.
        let _ = tokio::time::timeout(INTERVAL, app.traces.wait_for_batch()).await;
        while let Some((body, spans)) = app.traces.take(&node(&app)) {
            match send_patiently(&app, Bytes::from(body)).await {
                Ok(()) => app.traces.count_sent(spans),
                Err(why) => {
                    app.traces.count_dropped(spans);
                    tracing::warn!(spans, why, "the collector did not accept traces");
                }
            }
        }
    }
}

/// Sends what waits at the end of the service, once.
pub async fn send_last(app: &App) {
    while let Some((body, spans)) = app.traces.take(&node(app)) {
        match send(app, Bytes::from(body)).await {
            Ok(()) => app.traces.count_sent(spans),
            Err(_) => app.traces.count_dropped(spans),
        }
    }
}

fn node(app: &App) -> String {
    app.store.node_id().map_or_else(String::new, |id| id.to_string())
}

async fn send_patiently(app: &App, body: Bytes) -> Result<(), String> {
    let mut pauses = PAUSES.iter();
    loop {
        match send(app, body.clone()).await {
            Ok(()) => return Ok(()),
            Err(Rejection::Final(why)) => return Err(why),
            Err(Rejection::Temporary(why)) => match pauses.next() {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(why),
            },
        }
    }
}

async fn send(app: &App, body: Bytes) -> Result<(), Rejection> {
    let settings = &app.settings.traces;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let authorization = settings.authorization.expose();
    if let Ok(mut value) = HeaderValue::from_str(authorization)
        && !authorization.is_empty()
    {
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    let sent = app
        .net
        .send(Outgoing {
            method: Method::POST,
            url: settings.url(),
            headers,
            header_case: HeaderCase::default(),
            body,
            trust: Trust::Operator,
            deadline: DEADLINE,
            keep_body: MAX_ANSWER,
            log: Log::Never,
            // A collector stores a repeated span once, or twice, which does no harm.
            may_repeat: true,
        })
        .await;
    match sent {
        Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
        Ok(answer) if matches!(answer.status, 429 | 502 | 503 | 504) => {
            Err(Rejection::Temporary(format!("it answered {}", answer.status)))
        }
        Ok(answer) => Err(Rejection::Final(format!("it answered {}", answer.status))),
        Err(error) => Err(Rejection::Temporary(error.to_string())),
    }
}
