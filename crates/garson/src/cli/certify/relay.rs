//! The receiver that the temporary service knows: it passes events on to the POS and records the answers. Rules make it withhold,
//! repeat, change or delay events of an order.

use super::super::check_receiver::endpoint::Reply;
use super::evidence::{Delivery, EventHead};
use super::pos::Pos;
use crate::http::connection_registry::Timeouts;
use crate::server::{Limits, serve_connections};
use bytes::Bytes;
use garson_core::clock::{Clock, SystemClock};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Bounds the memory, together with the limit of a body.
const CONNECTIONS: usize = 64;
/// An event with an order of 500 items is far smaller.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// What the relay does with an event instead of passing it on once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Answers 503 without passing it on: the POS cannot be reached.
    Withhold,
    /// Passes it on and answers 503: the answer of the POS is lost.
    LoseAnswer,
    /// Passes it on and answers nothing until the service disconnects.
    HoldAnswer,
    /// Passes it on twice at the same time, and then once more.
    Repeat,
    /// Adds fields that no event has.
    AddFields,
    /// Sends the body in small pieces, over two seconds.
    SendSlowly,
}

/// The events that an action is for.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `veri.providerOrderId`
    pub number: String,
    /// All events of the order without it.
    pub olay: Option<&'static str>,
    pub action: Action,
    /// How many requests it is for.
    pub times: u32,
}

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    log: Vec<Delivery>,
}

pub struct Relay {
    pos: OnceLock<Pos>,
    state: Mutex<State>,
    /// The length of the log.
    changed: watch::Sender<usize>,
}

impl Relay {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            pos: OnceLock::new(),
            state: Mutex::default(),
            changed: watch::Sender::new(0),
        })
    }

    /// Sets the POS, once; `false` if there is one already.
    pub fn attach(&self, pos: Pos) -> bool {
        self.pos.set(pos).is_ok()
    }

    pub fn pos(&self) -> Option<&Pos> {
        self.pos.get()
    }

    pub fn add_rule(&self, rule: Rule) {
        self.state.lock().rules.push(rule);
    }

    pub fn clear_rules(&self) {
        self.state.lock().rules.clear();
    }

    /// Everything that matches, in the order in which the POS has answered.
    pub fn log(&self, matches: impl Fn(&EventHead) -> bool) -> Vec<Delivery> {
        let state = self.state.lock();
        state
            .log
            .iter()
            .filter(|entry| matches(&entry.head))
            .cloned()
            .collect()
    }

    /// Changes with each entry of the log.
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.changed.subscribe()
    }

    /// Serves until it is aborted.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        let service = service_fn(move |request| {
            let relay = Arc::clone(&self);
            async move { Ok::<_, Infallible>(relay.answer(request).await) }
        });
        let limits = Limits {
            connections: CONNECTIONS,
            connections_per_address: CONNECTIONS,
            timeouts: Timeouts::default(),
            drain: Duration::from_secs(1),
            proxies: Arc::default(),
            refusals: Arc::default(),
            tls: None,
        };
        serve_connections(listener, service, limits, std::future::pending()).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let body = match Limited::new(request.into_body(), MAX_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return response(StatusCode::PAYLOAD_TOO_LARGE),
        };
        let (Some(pos), Ok(text)) = (self.pos.get(), std::str::from_utf8(&body)) else {
            return response(StatusCode::SERVICE_UNAVAILABLE);
        };
        let head = EventHead::read(&body);
        let status = self.relay(pos, head, text).await;
        response(status)
    }

    /// Passes an event on; returns the status for the service.
    async fn relay(&self, pos: &Pos, head: EventHead, body: &str) -> StatusCode {
        let action = self.take_rule(&head);
        match action {
            Some(Action::Withhold) => {
                self.record(&head, body, "the POS is made unreachable", None, false);
                StatusCode::SERVICE_UNAVAILABLE
            }
            Some(Action::Repeat) => {
                let (first, second) = tokio::join!(pos.post(&head.id, body), pos.post(&head.id, body));
                self.record(&head, body, "first of two at once", Some(first), false);
                self.record(&head, body, "second of two at once", Some(second), false);
                let third = pos.post(&head.id, body).await;
                let status = status_of(&third.result);
                self.record(&head, body, "once more", Some(third), false);
                status
            }
            Some(Action::AddFields) => {
                let more = with_more_fields(body);
                let reply = pos.post(&head.id, &more).await;
                let status = status_of(&reply.result);
                self.record(&head, &more, "with unknown fields", Some(reply), false);
                status
            }
            Some(Action::SendSlowly) => {
                let (reply, is_early) = pos.post_slowly(&head.id, body).await;
                let status = status_of(&reply.result);
                self.record(&head, body, "in small pieces", Some(reply), is_early);
                status
            }
            Some(Action::LoseAnswer) => {
                let reply = pos.post(&head.id, body).await;
                self.record(&head, body, "its answer is lost", Some(reply), false);
                StatusCode::SERVICE_UNAVAILABLE
            }
            Some(Action::HoldAnswer) => {
                let reply = pos.post(&head.id, body).await;
                self.record(&head, body, "its answer is not read", Some(reply), false);
                // The connection ends with the service, and this task with it.
                std::future::pending().await
            }
            None => {
                let reply = pos.post(&head.id, body).await;
                let status = status_of(&reply.result);
                self.record(&head, body, "", Some(reply), false);
                status
            }
        }
    }

    fn take_rule(&self, head: &EventHead) -> Option<Action> {
        let mut state = self.state.lock();
        let rule = state.rules.iter_mut().find(|rule| {
            rule.times > 0 && rule.number == head.number && rule.olay.is_none_or(|olay| olay == head.olay)
        })?;
        rule.times -= 1;
        Some(rule.action)
    }

    fn record(&self, head: &EventHead, body: &str, note: &'static str, reply: Option<Reply>, is_early: bool) {
        let entry = Delivery {
            head: head.clone(),
            body: body.into(),
            at: SystemClock.now(),
            note,
            reply,
            is_early,
        };
        let mut state = self.state.lock();
        state.log.push(entry);
        self.changed.send_replace(state.log.len());
    }
}

/// An answer of the POS, for the service.
fn status_of<E>(result: &Result<u16, E>) -> StatusCode {
    match result {
        Ok(status) => StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY),
        Err(_) => StatusCode::GATEWAY_TIMEOUT,
    }
}

fn with_more_fields(body: &str) -> String {
    // The service's own events always parse.
    let mut document: Value = serde_json::from_str(body).unwrap_or_default();
    document["garsonCertify"] = json!({ "since": "a later version" });
    document["veri"]["garsonCertify"] = json!([1, 2.5, { "deep": [null, true] }, "çığ"]);
    document.to_string()
}

fn response(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_is_for_its_order_and_event_and_ends() {
        let relay = Relay::new();
        relay.add_rule(Rule {
            number: "1".to_owned(),
            olay: Some("a"),
            action: Action::Withhold,
            times: 1,
        });
        let head = |number: &str, olay: &str| EventHead {
            number: number.to_owned(),
            olay: olay.to_owned(),
            ..EventHead::default()
        };
        assert_eq!(relay.take_rule(&head("2", "a")), None);
        assert_eq!(relay.take_rule(&head("1", "b")), None);
        assert_eq!(relay.take_rule(&head("1", "a")), Some(Action::Withhold));
        assert_eq!(relay.take_rule(&head("1", "a")), None);
    }

    #[test]
    fn added_fields_change_nothing_else() {
        let body = r#"{"olay":"a","veri":{"id":"1","sequence":2}}"#;
        let head = EventHead::read(with_more_fields(body).as_bytes());
        assert_eq!(
            (head.id.as_str(), head.olay.as_str(), head.sequence),
            ("1", "a", 2)
        );
        assert!(with_more_fields(body).contains("garsonCertify"));
    }
}
