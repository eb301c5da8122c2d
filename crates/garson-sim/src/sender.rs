//! Sends the platforms' messages to the service: those of one order in sequence, with retries.

use std::{sync::Arc, time::Duration};

use crate::{
    clock,
    message::{Message, REMOTE_ORDER_ID},
    platform::Platform,
    registry,
    shared::Shared,
    views::{Fault, PushLine},
    world::World,
};

/// Starts a task for each order that has messages and no task that sends them.
pub(crate) fn start(shared: &Arc<Shared>, world: &mut World) {
    for number in std::mem::take(&mut world.to_push) {
        shared.spawn(send_all(Arc::clone(shared), number));
    }
    for (platform, message) in std::mem::take(&mut world.reports) {
        shared.spawn(report(Arc::clone(shared), platform, message));
    }
}

/// Sends a message that is not about an order, as often as those that are.
async fn report(shared: Arc<Shared>, platform: Platform, message: Message) {
    let (first, factors) = registry::of(platform).push_pauses();
    let first = shared.world().settings.push_retry_millis.unwrap_or(first);
    let wait = Duration::from_millis(shared.world().settings.push_timeout_millis);
    for factor in factors.iter().map(Some).chain([None]) {
        let answer = match (message.request(false), shared.pushes.acquire().await) {
            (Ok(request), Ok(_permit)) => shared.client.send(request, wait).await,
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(error.to_string()),
        };
        let status = answer.as_ref().ok().map(|(status, _)| status.as_u16());
        tracing::debug!(%platform, kind = message.kind, ?status, "reported");
        if !registry::of(platform).retries_push(status) {
            return;
        }
        if let Some(factor) = factor {
            tokio::time::sleep(Duration::from_millis(first.saturating_mul(*factor))).await;
        }
    }
}

async fn send_all(shared: Arc<Shared>, number: u64) {
    while let Some((platform, message)) = next(&shared, number) {
        send(&shared, platform, number, message).await;
    }
}

fn next(shared: &Shared, number: u64) -> Option<(Platform, Message)> {
    let mut world = shared.world();
    let order = world.orders.get_mut(number)?;
    let Some(mut message) = order.queue.pop_front() else {
        order.is_pushing = false;
        return None;
    };
    if let Some(id) = &order.remote_order_id {
        message.url = message.url.replace(REMOTE_ORDER_ID, &crate::call::encode(id));
    }
    Some((order.platform, message))
}

async fn send(shared: &Arc<Shared>, platform: Platform, number: u64, message: Message) {
    if message.url.contains(REMOTE_ORDER_ID) {
        return note(
            shared,
            number,
            message.kind,
            None,
            "the service never said its id for the order",
        );
    }
    let (first, factors) = registry::of(platform).push_pauses();
    let first = shared.world().settings.push_retry_millis.unwrap_or(first);
    for factor in factors.iter().map(Some).chain([None]) {
        let fault = shared.world().faults.on_push(platform);
        match &fault {
            Some(Fault::Drop) => return note(shared, number, message.kind, None, "fault: drop"),
            Some(Fault::Reorder) if hold(shared, platform, number, &message) => {
                return note(shared, number, message.kind, None, "fault: reorder");
            }
            Some(Fault::Latency { ms }) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            _ => {}
        }
        let status = attempt(shared, platform, number, &message, fault.as_ref()).await;
        if fault == Some(Fault::Duplicate) {
            attempt(shared, platform, number, &message, None).await;
        }
        release_held(shared, Some(platform));
        if !registry::of(platform).retries_push(status) || has_newer_end(shared, number) {
            return;
        }
        if let Some(factor) = factor {
            tokio::time::sleep(Duration::from_millis(first.saturating_mul(*factor))).await;
        }
    }
}

/// Whether a message about the end of the order is waiting, which makes retries of earlier ones pointless.
fn has_newer_end(shared: &Shared, number: u64) -> bool {
    shared
        .world()
        .orders
        .get(number)
        .is_none_or(|order| order.is_final() && !order.queue.is_empty())
}

async fn attempt(
    shared: &Arc<Shared>,
    platform: Platform,
    number: u64,
    message: &Message,
    fault: Option<&Fault>,
) -> Option<u16> {
    let half = fault == Some(&Fault::Malformed);
    let wait = Duration::from_millis(shared.world().settings.push_timeout_millis);
    let answer = match (message.request(half), shared.pushes.acquire().await) {
        (Ok(request), Ok(_permit)) => shared.client.send(request, wait).await,
        (Err(error), _) => Err(error),
        (_, Err(error)) => Err(error.to_string()),
    };
    let (status, text) = match &answer {
        Ok((status, _)) => (Some(status.as_u16()), ""),
        Err(error) => (None, error.as_str()),
    };
    let text = if half { "fault: malformed" } else { text };
    note(shared, number, message.kind, status, text);
    if let Ok((status, body)) = answer {
        let mut world = shared.world();
        registry::of(platform).acknowledged(&mut world, number, message.kind, status.as_u16(), &body);
    }
    status
}

/// Holds a message back until the platform's next one. Only one is held at a time.
fn hold(shared: &Shared, platform: Platform, number: u64, message: &Message) -> bool {
    let mut world = shared.world();
    if message.was_held || world.held.iter().any(|(held, _, _)| *held == platform) {
        return false;
    }
    world.held.push((
        platform,
        number,
        Message {
            was_held: true,
            ..message.clone()
        },
    ));
    true
}

/// Queues the held messages again.
pub(crate) fn release_held(shared: &Arc<Shared>, only: Option<Platform>) {
    let mut world = shared.world();
    let (free, kept) = std::mem::take(&mut world.held)
        .into_iter()
        .partition(|(held, _, _)| only.is_none_or(|one| one == *held));
    world.held = kept;
    for (_, number, message) in free {
        world.enqueue(number, message);
    }
    start(shared, &mut world);
}

fn note(shared: &Shared, number: u64, kind: &str, status: Option<u16>, note: &str) {
    let mut world = shared.world();
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
