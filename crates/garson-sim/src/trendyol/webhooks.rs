//! The webhooks that Trendyol sends.

use super::{
    credentials::TrendyolCredentials,
    packages,
    states::{CANCELLED, DELIVERED, SHIPPED, UNSUPPLIED},
};
use crate::{message::Message, store::Store, world::World};

/// Queues the webhook for the package's current state.
pub(super) fn announce(world: &mut World, store: &Store, number: u64) {
    let Some(order) = world.orders.get(number) else {
        return;
    };
    let event = match order.state.as_str() {
        SHIPPED => "shipped",
        DELIVERED => "delivered",
        CANCELLED => "cancelled",
        UNSUPPLIED => "unsupplied",
        _ => "created",
    };
    enqueue(world, store, number, event);
}

/// Queues the webhook of an event: with the whole package for a new one, else only with what has changed.
pub(super) fn enqueue(world: &mut World, store: &Store, number: u64, event: &'static str) {
    let (Some(order), Some(base)) = (world.orders.get(number), &store.hook_url) else {
        return;
    };
    let Some(credentials) = store.credentials.get::<TrendyolCredentials>() else {
        return;
    };
    let body = match event {
        "created" => packages::render(order, store),
        "unsupplied" if order.cancellation.is_none() => packages::partly_cancelled(order, world.now()),
        _ => packages::short(order, world.now()),
    };
    let mut push = Message::post(event, format!("{base}/hooks/trendyol/{event}"), &body);
    for (name, value) in &credentials.inbound_headers {
        push = push.with_header(name, value);
    }
    world.enqueue(number, push);
}
