//! Orders that customers place.

use std::sync::Arc;

use crate::{
    clock,
    generate::basket::Basket,
    order::Order,
    refusal::Refusal,
    registry,
    store::Store,
    views::{Courier, OrderRequest, PlacedOrder},
    world::{TimedEvent, World},
};

const ORDERS_AT_ONCE: usize = 10_000;

/// Places orders of customers.
pub(crate) fn place_orders(world: &mut World, request: &OrderRequest) -> Result<Vec<PlacedOrder>, Refusal> {
    if !(1..=ORDERS_AT_ONCE).contains(&request.count) {
        return Err(Refusal::Invalid(format!("count must be 1 to {ORDERS_AT_ONCE}")));
    }
    (0..request.count).map(|_| place_order(world, request)).collect()
}

fn place_order(world: &mut World, request: &OrderRequest) -> Result<PlacedOrder, Refusal> {
    let simulated = registry::of(request.platform);
    let store = store_for(world, request)?;
    let mut random_courier = || {
        if world.content.percent(60) {
            Courier::Platform
        } else {
            Courier::Restaurant
        }
    };
    let courier = request.courier.unwrap_or_else(&mut random_courier);
    simulated
        .supports(courier, request.scheduled_in_minutes.is_some())
        .map_err(Refusal::Invalid)?;
    let now = world.now();
    let basket = Basket::of(&mut world.content, &store.menu, request.payment, courier);
    let mut order = Order::new(
        request.platform,
        simulated.states(),
        &store.remote_id,
        courier,
        basket,
        now,
    );
    order.scheduled_for = request
        .scheduled_in_minutes
        .map(|minutes| clock::add_seconds(now, u64::from(minutes) * 60));
    simulated.place(world, &mut order);
    let placed = order.placed();
    let expires_at = order.expires_at;
    let number = world.orders.add(order);
    if let Some(at) = expires_at {
        world.timed_events.insert((at, number, TimedEvent::Expire));
    }
    if request.push {
        simulated.announce(world, &store, number);
    }
    Ok(placed)
}

fn store_for(world: &mut World, request: &OrderRequest) -> Result<Arc<Store>, Refusal> {
    let platform = request.platform;
    if let Some(remote_id) = &request.remote_id {
        let found = world.store(platform, registry::of(platform).store_id(remote_id));
        return found.ok_or_else(|| Refusal::NotFound(format!("no store {remote_id} on {platform}")));
    }
    let stores: Vec<_> = world.stores_of(platform).cloned().collect();
    let chosen = world.content.pick(&stores).cloned();
    chosen.ok_or_else(|| Refusal::Invalid(format!("no store is registered on {platform}")))
}
