//! Orders over the control API: placing, looking, cancelling, and what couriers do.

use serde::Deserialize;
use serde_json::json;

use super::input::{Answer, platform_of, read};
use crate::{
    call::Call,
    order::Order,
    placing::place_orders,
    platform::Platform,
    refusal::Refusal,
    registry,
    views::{OrderRequest, Step},
    world::World,
};

pub(super) fn answer(world: &mut World, call: &Call, parts: &[&str]) -> Answer {
    match (call.method.as_str(), parts) {
        ("POST", []) => {
            let request: OrderRequest = read(call)?;
            Ok(json!({"orders": place_orders(world, &request)?}))
        }
        ("GET", []) => {
            let platform = platform_of(call)?;
            let wanted = world
                .orders
                .iter()
                .filter(|order| platform.is_none_or(|one| one == order.platform));
            Ok(json!({"orders": wanted.map(Order::view).collect::<Vec<_>>()}))
        }
        ("GET", [platform, id]) => {
            let order = find(world, platform, id)?;
            Ok(json!(order.view()))
        }
        ("POST", [platform, id, event]) => {
            let number = find(world, platform, id)?.number;
            apply_event(world, call, number, event)?;
            Ok(json!(find(world, platform, id)?.view()))
        }
        (method, _) => Err(Refusal::NotFound(format!("no {method} {}", call.target))),
    }
}

fn find<'world>(world: &'world World, platform: &str, id: &str) -> Result<&'world Order, Refusal> {
    let platform: Platform = platform.parse().map_err(Refusal::NotFound)?;
    let found = world.orders.find(platform, id);
    found.ok_or_else(|| Refusal::NotFound(format!("no order {id} on {platform}")))
}

#[derive(Deserialize)]
struct CancelRequest {
    #[serde(default)]
    by: By,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    #[default]
    Customer,
    Platform,
    Restaurant,
}

#[derive(Deserialize)]
struct CourierRequest {
    step: Step,
}

fn apply_event(world: &mut World, call: &Call, number: u64, event: &str) -> Result<(), Refusal> {
    let Some(order) = world.orders.get(number) else {
        return Ok(());
    };
    let simulated = registry::of(order.platform);
    let store = world.store(order.platform, &order.remote_id);
    let store = store.ok_or_else(|| Refusal::NotFound("the order's store is gone".to_owned()))?;
    let done = match event {
        "cancel" => {
            let by = match read::<CancelRequest>(call)?.by {
                By::Customer => "customer",
                By::Platform => "platform",
                By::Restaurant => "restaurant",
            };
            simulated.cancel(world, &store, number, by)
        }
        "courier" => {
            let step = read::<CourierRequest>(call)?.step;
            simulated.courier(world, &store, number, step)
        }
        "remove-piece" => simulated.remove_piece(world, &store, number),
        "due" => simulated.due(world, &store, number),
        "push" => {
            simulated.announce(world, &store, number);
            Ok(())
        }
        _ => return Err(Refusal::NotFound(format!("orders have no {event}"))),
    };
    done.map_err(Refusal::Conflict)
}
