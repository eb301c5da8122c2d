//! What happens by itself: deadlines that pass, and, when switched on, customers who order and couriers who ride.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::{
    clock,
    order::Order,
    platform::Platform,
    push,
    server::Inner,
    views::{Autopilot, Courier, OrderRequest, Step},
    world::World,
};

const TICK: Duration = Duration::from_millis(100);
/// A customer who thinks better of it does so within this time.
const REGRET_SECONDS: i64 = 60;

/// Something that is going to happen to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    Expire,
    Regret,
    Courier,
}

#[derive(Debug)]
pub(crate) struct Pilot {
    settings: Autopilot,
    next_order: Timestamp,
}

impl Pilot {
    pub(crate) fn new(settings: Autopilot, now: Timestamp) -> Self {
        Self {
            settings,
            next_order: now,
        }
    }

    fn pause(&self) -> SignedDuration {
        SignedDuration::from_millis(60_000 / i64::from(self.settings.orders_per_minute.max(1)))
    }

    /// When the platform's courier does the next thing, if it is the courier's turn.
    pub(crate) fn courier_comes(&self, order: &Order, now: Timestamp) -> Option<Timestamp> {
        let turn = order.courier == Courier::Platform && order.platform.side().is_ready(&order.state);
        turn.then(|| clock::add_seconds(now, self.settings.courier_seconds))
    }
}

/// Looks at the clock until the simulator ends.
pub(crate) async fn run(inner: Arc<Inner>) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        let mut world = inner.world();
        order_meals(&mut world);
        ring_alarms(&mut world);
        push::start(&inner, &mut world);
    }
}

fn order_meals(world: &mut World) {
    let now = world.now();
    while let Some(pilot) = &mut world.pilot
        && pilot.next_order <= now
    {
        pilot.next_order = clock::add(pilot.next_order, pilot.pause());
        let percent = pilot.settings.customers_cancel_percent;
        let open: Vec<_> = Platform::ALL
            .into_iter()
            .filter(|one| world.stores_of(*one).next().is_some())
            .collect();
        let Some(&platform) = world.content.pick(&open) else {
            return;
        };
        let Ok(placed) = world.place_orders(&OrderRequest::new(platform)) else {
            return;
        };
        if !world.content.percent(percent) {
            continue;
        }
        let seconds = world.content.between(5, REGRET_SECONDS).unsigned_abs();
        let numbers = placed
            .iter()
            .filter_map(|order| world.orders.find(platform, &order.provider_order_id));
        let numbers: Vec<_> = numbers.map(|order| order.number).collect();
        for number in numbers {
            world
                .alarms
                .insert((clock::add_seconds(now, seconds), number, Alarm::Regret));
        }
    }
}

fn ring_alarms(world: &mut World) {
    let now = world.now();
    while let Some(&(at, number, alarm)) = world.alarms.first()
        && at <= now
    {
        world.alarms.pop_first();
        ring(world, number, alarm);
    }
}

fn ring(world: &mut World, number: u64, alarm: Alarm) {
    let Some(order) = world.orders.get(number) else {
        return;
    };
    if order.is_final() {
        return;
    }
    let (side, step) = (order.platform.side(), order.courier_step);
    let Some(store) = world.store(order.platform, &order.remote_id) else {
        return;
    };
    let done = match alarm {
        Alarm::Expire => {
            side.expire(world, &store, number);
            Ok(())
        }
        Alarm::Regret => side.cancel(world, &store, number, "customer"),
        Alarm::Courier => side.courier(world, &store, number, after(step)),
    };
    if let Err(error) = done {
        tracing::debug!(number, ?alarm, error, "too late");
        return;
    }
    let next = |pilot: &Pilot| clock::add_seconds(world.now(), pilot.settings.courier_seconds);
    if alarm == Alarm::Courier
        && let Some(at) = world.pilot.as_ref().map(next)
        && world.orders.get(number).is_some_and(|order| !order.is_final())
    {
        world.alarms.insert((at, number, Alarm::Courier));
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
