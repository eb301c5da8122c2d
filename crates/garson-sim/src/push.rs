//! Sends the platforms' messages to the service: one order's in their order, again when they fail.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request};

use crate::{
    clock,
    platform::Platform,
    server::Inner,
    views::{Fault, PushLine},
    world::World,
};

/// One message to the service.
#[derive(Clone, Debug)]
pub(crate) struct Push {
    pub kind: &'static str,
    pub method: Method,
    /// The address; `{remoteOrderId}` in it is filled in when the message goes.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// A fault has kept it back once; that is enough.
    pub was_held: bool,
}

const REMOTE_ORDER_ID: &str = "{remoteOrderId}";

impl Push {
    pub(crate) fn post(kind: &'static str, url: String, body: &serde_json::Value) -> Self {
        Self {
            kind,
            method: Method::POST,
            url,
            headers: Vec::new(),
            body: body.to_string(),
            was_held: false,
        }
    }

    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn request(&self, half: bool) -> Result<Request<Bytes>, String> {
        let mut request = Request::builder().method(self.method.clone()).uri(&self.url);
        request = request
            .header("content-type", "application/json")
            .header("user-agent", "garson-sim");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut body = self.body.clone().into_bytes();
        if half {
            body.truncate(body.len() / 2);
        }
        request.body(Bytes::from(body)).map_err(|error| error.to_string())
    }
}

/// Starts senders for the orders that have messages and nobody to send them.
pub(crate) fn start(inner: &Arc<Inner>, world: &mut World) {
    for number in std::mem::take(&mut world.to_push) {
        inner.spawn(send_all(Arc::clone(inner), number));
    }
}

async fn send_all(inner: Arc<Inner>, number: u64) {
    while let Some((platform, push)) = next(&inner, number) {
        send(&inner, platform, number, push).await;
    }
}

fn next(inner: &Inner, number: u64) -> Option<(Platform, Push)> {
    let mut world = inner.world();
    let order = world.orders.get_mut(number)?;
    let Some(mut push) = order.queue.pop_front() else {
        order.is_pushing = false;
        return None;
    };
    if let Some(id) = &order.remote_order_id {
        push.url = push.url.replace(REMOTE_ORDER_ID, &crate::call::encode(id));
    }
    Some((order.platform, push))
}

async fn send(inner: &Arc<Inner>, platform: Platform, number: u64, push: Push) {
    if push.url.contains(REMOTE_ORDER_ID) {
        return note(
            inner,
            number,
            push.kind,
            None,
            "the service never said its id for the order",
        );
    }
    let (first, factors) = platform.side().push_pauses();
    let first = inner.world().settings.push_retry_millis.unwrap_or(first);
    for factor in factors.iter().map(Some).chain([None]) {
        let fault = inner.world().faults.on_push(platform);
        match &fault {
            Some(Fault::Drop) => return note(inner, number, push.kind, None, "fault: drop"),
            Some(Fault::Reorder) if hold(inner, platform, number, &push) => {
                return note(inner, number, push.kind, None, "fault: reorder");
            }
            Some(Fault::Latency { ms }) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            _ => {}
        }
        let status = attempt(inner, platform, number, &push, fault.as_ref()).await;
        if fault == Some(Fault::Duplicate) {
            attempt(inner, platform, number, &push, None).await;
        }
        release_held(inner, Some(platform));
        if !platform.side().push_again(status) || has_newer_end(inner, number) {
            return;
        }
        if let Some(factor) = factor {
            tokio::time::sleep(Duration::from_millis(first.saturating_mul(*factor))).await;
        }
    }
}

/// Nobody goes on trying to tell of an order when what tells of its end is waiting behind.
fn has_newer_end(inner: &Inner, number: u64) -> bool {
    inner
        .world()
        .orders
        .get(number)
        .is_none_or(|order| order.is_final() && !order.queue.is_empty())
}

async fn attempt(
    inner: &Arc<Inner>,
    platform: Platform,
    number: u64,
    push: &Push,
    fault: Option<&Fault>,
) -> Option<u16> {
    let half = fault == Some(&Fault::Malformed);
    let wait = Duration::from_millis(inner.world().settings.push_timeout_millis);
    let answer = match (push.request(half), inner.pushes.acquire().await) {
        (Ok(request), Ok(_permit)) => inner.client.send(request, wait).await,
        (Err(error), _) => Err(error),
        (_, Err(error)) => Err(error.to_string()),
    };
    let (status, text) = match &answer {
        Ok((status, _)) => (Some(status.as_u16()), ""),
        Err(error) => (None, error.as_str()),
    };
    let text = if half { "fault: malformed" } else { text };
    note(inner, number, push.kind, status, text);
    if let Ok((status, body)) = answer {
        let mut world = inner.world();
        platform
            .side()
            .acknowledged(&mut world, number, push.kind, status.as_u16(), &body);
    }
    status
}

/// Keeps a push back, unless one of the platform's is kept back already: that one has waited for this.
fn hold(inner: &Inner, platform: Platform, number: u64, push: &Push) -> bool {
    let mut world = inner.world();
    if push.was_held || world.held.iter().any(|(held, _, _)| *held == platform) {
        return false;
    }
    world.held.push((
        platform,
        number,
        Push {
            was_held: true,
            ..push.clone()
        },
    ));
    true
}

/// Lets those go that had to wait for another one to overtake them.
pub(crate) fn release_held(inner: &Arc<Inner>, only: Option<Platform>) {
    let mut world = inner.world();
    let (free, kept) = std::mem::take(&mut world.held)
        .into_iter()
        .partition(|(held, _, _)| only.is_none_or(|one| one == *held));
    world.held = kept;
    for (_, number, push) in free {
        world.enqueue(number, push);
    }
    start(inner, &mut world);
}

fn note(inner: &Inner, number: u64, kind: &str, status: Option<u16>, note: &str) {
    let mut world = inner.world();
    let at = clock::text(world.now());
    if let Some(order) = world.orders.get_mut(number) {
        order.note_push(PushLine {
            at,
            kind: kind.to_owned(),
            status,
            note: note.to_owned(),
        });
    }
}
