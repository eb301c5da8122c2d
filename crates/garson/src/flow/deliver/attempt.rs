//! One attempt to deliver an event, and its outcome in plain words.

use super::response_text::response_text;
use super::target::Target;
use crate::app::App;
use crate::net::{HeaderCase, Log, Outgoing, SendError, Sent, Stage, Timing};
use bytes::Bytes;
use garson_core::delivery::UndeliveredReason;
use garson_core::explanation::{Explanation, NetworkFailure};
use garson_core::id::AccountId;
use garson_core::platform::Trust;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::EventBody;
use garson_store::tables::attempts::{Attempt, AttemptTiming};
use garson_store::tables::deliveries::Delivery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use std::time::Duration;

/// How much of a receiver's answer is read.
const MAX_ANSWER: usize = 16 * 1024;

/// The outcome of an attempt.
pub struct AttemptOutcome {
    pub attempt: Attempt,
    /// Why it failed, if it did.
    pub failure: Option<UndeliveredReason>,
    pub took: Duration,
}

/// Sends an event to a receiver once; none if its body cannot be read now.
pub async fn make(
    app: &App,
    account: AccountId,
    target: &Target,
    delivery: &Delivery,
    traceparent: Option<HeaderValue>,
) -> Option<AttemptOutcome> {
    let body = body(app, account, target, delivery).await?;
    let at = app.now();
    let mut headers = target.headers(delivery.id, &body, at);
    headers.extend(traceparent.map(|value| (HeaderName::from_static("traceparent"), value)));
    let sent = post(app, account, &target.url, headers.clone(), body, Log::Never).await;
    Some(judge(at, &target.url, &headers, &sent))
}

/// The body of an event for a target; none if its order cannot be read now.
pub async fn body(app: &App, account: AccountId, target: &Target, delivery: &Delivery) -> Option<String> {
    let order = delivery.order_id.filter(|_| target.body == EventBody::WithOrder);
    let (Some(order), Some(document)) = (order, app.order_document.get()) else {
        return Some(delivery.body.clone());
    };
    match document(app.store.clone(), account, order).await {
        Ok(Some(order)) => Some(with_order(&delivery.body, &order)),
        Ok(None) => Some(delivery.body.clone()),
        Err(()) => None,
    }
}

/// Adds an order to an event's body as `veri.order`.
fn with_order(body: &str, order: &str) -> String {
    match body.strip_suffix("}}") {
        Some(start) => format!("{start},\"order\":{order}}}}}"),
        None => body.to_owned(),
    }
}

/// Sends an event's body to an address that an account gave.
pub async fn post(
    app: &App,
    account: AccountId,
    url: &str,
    mut headers: HeaderMap,
    body: String,
    log: Log,
) -> Sent {
    headers
        .entry(header::CONTENT_TYPE)
        .or_insert(HeaderValue::from_static("application/json"));
    app.net
        .on_behalf_of(account)
        .send_timed(Outgoing {
            method: Method::POST,
            url: url.to_owned(),
            headers,
            header_case: HeaderCase::default(),
            body: Bytes::from(body),
            trust: Trust::Account,
            deadline: Duration::from_secs(u64::from(app.settings.webhook.attempt_seconds)),
            keep_body: MAX_ANSWER,
            // Receivers detect a repeated event by its id.
            may_repeat: true,
            log,
        })
        .await
}

/// What an exchange means for the event, as an entry of its log. `headers` were sent with it.
#[must_use]
pub fn judge(at: Timestamp, url: &str, headers: &HeaderMap, sent: &Sent) -> AttemptOutcome {
    let mut response = None;
    let (status, failure, mut explanation) = match &sent.outcome {
        Ok(answer) => {
            let (failure, explanation) = judge_status(answer.status);
            response = Some(response_text(answer, headers));
            (Some(i64::from(answer.status)), failure, explanation)
        }
        Err(error) => (None, Some(reason_of(error)), error.explanation()),
    };
    if sent.repeated {
        let result = Box::new(explanation);
        explanation = Explanation::SentAgain { result };
    }
    AttemptOutcome {
        attempt: Attempt {
            number: 0,
            at,
            url: url.to_owned(),
            status,
            duration_ms: i64::try_from(sent.timing.total.as_millis()).unwrap_or(i64::MAX),
            timing: split(&sent.timing),
            explanation,
            response,
        },
        failure,
        took: sent.timing.total,
    }
}

/// The outcome of an attempt that was cancelled because other events waited for its place.
#[must_use]
pub fn preempted(at: Timestamp, url: &str, took: Duration) -> AttemptOutcome {
    AttemptOutcome {
        attempt: Attempt {
            number: 0,
            at,
            url: url.to_owned(),
            status: None,
            duration_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            timing: AttemptTiming::default(),
            explanation: NetworkFailure::GivenUpForOthers { after: took }.into(),
            response: None,
        },
        failure: Some(UndeliveredReason::TimedOut),
        took,
    }
}

fn judge_status(status: u16) -> (Option<UndeliveredReason>, Explanation) {
    match status {
        200..300 => (None, Explanation::answered(status, None)),
        300..400 => (
            Some(UndeliveredReason::Redirect),
            Explanation::AnsweredRedirect { status },
        ),
        _ => (
            Some(UndeliveredReason::Status),
            Explanation::AnsweredNoSuccess { status },
        ),
    }
}

fn reason_of(error: &SendError) -> UndeliveredReason {
    match error {
        SendError::NotAllowed(_) => UndeliveredReason::NotAllowed,
        SendError::Unreachable { stage, .. } => match stage {
            Stage::Name => UndeliveredReason::Name,
            Stage::Connect => UndeliveredReason::Connect,
            Stage::Tls => UndeliveredReason::Tls,
            Stage::Exchange => UndeliveredReason::Broken,
        },
        SendError::Broken(_) => UndeliveredReason::Broken,
        SendError::TimedOut(_) => UndeliveredReason::TimedOut,
    }
}

/// The durations of the stages, as they are stored.
fn split(timing: &Timing) -> AttemptTiming {
    let micros =
        |stage: Option<Duration>| stage.map(|time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
    AttemptTiming {
        name: micros(timing.name),
        connect: micros(timing.connect),
        tls: micros(timing.tls),
        first_byte: micros(timing.first_byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_added_to_the_body_of_its_event() {
        let body = with_order(r#"{"olay":"a","veri":{"id":"1"}}"#, r#"{"id":"2"}"#);
        assert_eq!(body, r#"{"olay":"a","veri":{"id":"1","order":{"id":"2"}}}"#);
    }
}
