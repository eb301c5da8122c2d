//! What happens without a request: deadlines pass and, while the autopilot is on, customers order and couriers ride.

use std::{sync::Arc, time::Duration};

use crate::{
    autopilot_plan::AutopilotPlan,
    clock,
    placing::place_orders,
    platform::Platform,
    registry, sender,
    shared::Shared,
    views::{OrderRequest, Step},
    world::{TimedEvent, World},
};

const TICK: Duration = Duration::from_millis(100);
/// Customers who cancel do so within this time.
const CANCEL_WITHIN_SECONDS: i64 = 60;

/// Runs until the simulator stops.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        let mut world = shared.world();
        place_due_orders(&mut world);
        run_due_events(&mut world);
        sender::start(&shared, &mut world);
    }
}

fn place_due_orders(world: &mut World) {
    let now = world.now();
    while let Some(autopilot) = &mut world.autopilot
        && autopilot.take_due_order(now)
    {
        let percent = autopilot.settings.customers_cancel_percent;
        let open: Vec<_> = Platform::ALL
            .into_iter()
            .filter(|one| world.stores_of(*one).next().is_some())
            .collect();
        let Some(&platform) = world.content.pick(&open) else {
            return;
        };
        let Ok(placed) = place_orders(world, &OrderRequest::new(platform)) else {
            return;
        };
        if !world.content.percent(percent) {
            continue;
        }
        let seconds = world.content.between(5, CANCEL_WITHIN_SECONDS).unsigned_abs();
        let numbers = placed
            .iter()
            .filter_map(|order| world.orders.find(platform, &order.provider_order_id));
        let numbers: Vec<_> = numbers.map(|order| order.number).collect();
        for number in numbers {
            world.timed_events.insert((
                clock::add_seconds(now, seconds),
                number,
                TimedEvent::CustomerCancels,
            ));
        }
    }
}

fn run_due_events(world: &mut World) {
    let now = world.now();
    while let Some(&(at, number, event)) = world.timed_events.first()
        && at <= now
    {
        world.timed_events.pop_first();
        run_event(world, number, event);
    }
}

fn run_event(world: &mut World, number: u64, event: TimedEvent) {
    let Some(order) = world.orders.get(number) else {
        return;
    };
    if order.is_final() {
        return;
    }
    let (simulated, step) = (registry::of(order.platform), order.courier_step);
    let Some(store) = world.store(order.platform, &order.remote_id) else {
        return;
    };
    let done = match event {
        TimedEvent::Expire => {
            simulated.expire(world, &store, number);
            Ok(())
        }
        TimedEvent::CustomerCancels => simulated.cancel(world, &store, number, "customer"),
        TimedEvent::Courier => simulated.courier(world, &store, number, after(step)),
    };
    if let Err(error) = done {
        tracing::debug!(number, ?event, error, "timed event refused");
        return;
    }
    let next = |autopilot: &AutopilotPlan| autopilot.courier_after(world.now());
    if event == TimedEvent::Courier
        && let Some(at) = world.autopilot.as_ref().map(next)
        && world.orders.get(number).is_some_and(|order| !order.is_final())
    {
        world.timed_events.insert((at, number, TimedEvent::Courier));
    }
}

fn after(step: Option<Step>) -> Step {
    match step {
        None => Step::Assigned,
        Some(Step::Assigned) => Step::Arrived,
        Some(Step::Arrived) => Step::PickedUp,
        Some(Step::PickedUp | Step::Delivered) => Step::Delivered,
    }
}
