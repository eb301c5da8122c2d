//! Orders over the control API: placing, looking, cancelling, and what couriers do.

use serde::Deserialize;
use serde_json::json;

use super::{Answer, platform_of, read};
use crate::{
    call::Call,
    order::Order,
    platform::Platform,
    views::{OrderRequest, Step},
    world::{Refusal, World},
};

pub(super) fn answer(world: &mut World, call: &Call, parts: &[&str]) -> Answer {
    match (call.method.as_str(), parts) {
        ("POST", []) => {
            let request: OrderRequest = read(call)?;
            Ok(json!({"orders": world.place_orders(&request)?}))
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
            happen(world, call, number, event)?;
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

fn happen(world: &mut World, call: &Call, number: u64, event: &str) -> Result<(), Refusal> {
    let Some(order) = world.orders.get(number) else {
        return Ok(());
    };
    let side = order.platform.side();
    let store = world.store(order.platform, &order.remote_id);
    let store = store.ok_or_else(|| Refusal::NotFound("the order's store is gone".to_owned()))?;
    let done = match event {
        "cancel" => {
            let by = match read::<CancelRequest>(call)?.by {
                By::Customer => "customer",
                By::Platform => "platform",
                By::Restaurant => "restaurant",
            };
            side.cancel(world, &store, number, by)
        }
        "courier" => {
            let step = read::<CourierRequest>(call)?.step;
            side.courier(world, &store, number, step)
        }
        "remove-piece" => side.remove_piece(world, &store, number),
        "due" => side.due(world, &store, number),
        "push" => {
            side.announce(world, &store, number);
            Ok(())
        }
        _ => return Err(Refusal::NotFound(format!("orders have no {event}"))),
    };
    done.map_err(Refusal::Conflict)
}
