//! Sends traces to the collector, in batches. Nothing waits for it: what it does not accept within some tries is dropped.

use crate::app::App;
use crate::net::{HeaderCase, Log, Outgoing};
use bytes::Bytes;
use garson_core::platform::Trust;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::Value;
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

/// The longest pause that a collector may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why the collector has not accepted a batch.
enum Rejection {
    /// It may accept it later; perhaps it says when.
    Temporary(String, Option<Duration>),
    Final(String),
}

/// What the collector answers to a batch that it has accepted.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Accepted {
    partial_success: Option<PartialSuccess>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    /// A number, or a string with one.
    rejected_spans: Value,
    error_message: String,
}

impl Accepted {
    /// How many spans it has left out after all.
    fn rejected(&self) -> u64 {
        let count = self.partial_success.as_ref().map(|it| &it.rejected_spans);
        let count = count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
        count.unwrap_or_default()
    }
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
                Ok(accepted) => count(&app, spans, &accepted),
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
            Ok(accepted) => count(app, spans, &accepted),
            Err(_) => app.traces.count_dropped(spans),
        }
    }
}

fn count(app: &App, spans: u64, accepted: &Accepted) {
    let rejected = accepted.rejected().min(spans);
    app.traces.count_sent(spans - rejected);
    app.traces.count_dropped(rejected);
    if let Some(partial) = accepted.partial_success.as_ref().filter(|_| rejected > 0) {
        let plain = partial.error_message.chars().filter(|c| !c.is_control());
        let why: String = plain.take(200).collect();
        tracing::warn!(rejected, why, "the collector left out spans");
    }
}

fn node(app: &App) -> String {
    app.store.node_id().map_or_else(String::new, |id| id.to_string())
}

async fn send_patiently(app: &App, body: Bytes) -> Result<Accepted, String> {
    let mut pauses = PAUSES.iter();
    loop {
        match send(app, body.clone()).await {
            Ok(accepted) => return Ok(accepted),
            Err(Rejection::Final(why)) => return Err(why),
            Err(Rejection::Temporary(why, asked)) => match pauses.next() {
                Some(pause) => {
                    let asked = asked.unwrap_or_default().min(LONGEST_PAUSE);
                    tokio::time::sleep(asked.max(*pause)).await;
                }
                None => return Err(why),
            },
        }
    }
}

async fn send(app: &App, body: Bytes) -> Result<Accepted, Rejection> {
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
        // Some collectors answer with nothing.
        Ok(answer) if (200..300).contains(&answer.status) => {
            Ok(serde_json::from_slice(&answer.body).unwrap_or_default())
        }
        Ok(answer) if matches!(answer.status, 429 | 502 | 503 | 504) => {
            let header = answer.headers.get(header::RETRY_AFTER);
            let seconds = header.and_then(|value| value.to_str().ok()?.trim().parse().ok());
            let why = format!("it answered {}", answer.status);
            Err(Rejection::Temporary(why, seconds.map(Duration::from_secs)))
        }
        Ok(answer) => Err(Rejection::Final(format!("it answered {}", answer.status))),
        Err(error) => Err(Rejection::Temporary(error.to_string(), None)),
    }
}
