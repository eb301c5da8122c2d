//! The control API: stands for customers, couriers, the operator of the simulator, and bad luck.

mod orders;

use std::sync::Arc;

use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    autopilot::Pilot,
    call::{Call, Reply},
    platform::Platform,
    push,
    server::Inner,
    store::Store,
    views::{Autopilot, FaultRequest, Health, StoreRequest},
    world::{Refusal, World},
};

type Answer = Result<Value, Refusal>;

pub(crate) fn answer(inner: &Arc<Inner>, call: &Call) -> Reply {
    let mut world = inner.world();
    let parts = call.parts();
    let method = call.method.as_str();
    let answer = match (method, parts.as_slice()) {
        ("GET", ["health"]) => Ok(health(&world)),
        ("PUT", ["stores"]) => put_store(&mut world, call),
        ("GET", ["stores"]) => Ok(list_stores(&world)),
        ("POST", ["faults"]) => order_fault(&mut world, call),
        ("GET", ["faults"]) => Ok(json!({"faults": world.faults.list()})),
        ("DELETE", ["faults"]) => {
            world.faults.clear();
            drop(world);
            push::release_held(inner, None);
            return Reply::ok(&json!({}));
        }
        ("GET", ["journal"]) => read_journal(&world, call),
        ("DELETE", ["journal"]) => {
            world.journal.clear();
            Ok(json!({}))
        }
        ("POST", ["autopilot"]) => set_autopilot(&mut world, call),
        ("POST", ["clock"]) => advance_clock(&mut world, call),
        (_, ["orders", rest @ ..]) => orders::answer(&mut world, call, rest),
        _ => Err(Refusal::NotFound(format!("no {method} {}", call.target))),
    };
    push::start(inner, &mut world);
    match answer {
        Ok(body) => Reply::ok(&body),
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: Refusal) -> Reply {
    let (status, message) = match refusal {
        Refusal::Invalid(message) => (StatusCode::UNPROCESSABLE_ENTITY, message),
        Refusal::NotFound(message) => (StatusCode::NOT_FOUND, message),
        Refusal::Conflict(message) => (StatusCode::CONFLICT, message),
    };
    Reply::json(status, &json!({"error": message}))
}

/// The body in its type; a `Content-Type` is not asked for here.
fn read<T: DeserializeOwned>(call: &Call) -> Result<T, Refusal> {
    let body = if call.body.is_empty() && call.method == Method::POST {
        b"{}"
    } else {
        call.body.as_ref()
    };
    serde_json::from_slice(body).map_err(|error| Refusal::Invalid(error.to_string()))
}

fn platform_of(call: &Call) -> Result<Option<Platform>, Refusal> {
    call.query("platform")
        .map(str::parse)
        .transpose()
        .map_err(Refusal::Invalid)
}

fn health(world: &World) -> Value {
    json!(Health {
        status: "ok".to_owned(),
        stores: world.stores.len(),
        orders: world.orders.len(),
        journal: world.journal.len(),
    })
}

fn put_store(world: &mut World, call: &Call) -> Answer {
    let request: StoreRequest = read(call)?;
    let store = Store::new(request).map_err(Refusal::Invalid)?;
    let view = store.view();
    world.stores.insert(store.key(), Arc::new(store));
    Ok(json!(view))
}

fn list_stores(world: &World) -> Value {
    json!({"stores": world.stores.values().map(|store| store.view()).collect::<Vec<_>>()})
}

fn order_fault(world: &mut World, call: &Call) -> Answer {
    let request: FaultRequest = read(call)?;
    world.faults.order(request.clone()).map_err(Refusal::Invalid)?;
    Ok(json!(request))
}

fn read_journal(world: &World, call: &Call) -> Answer {
    let platform = platform_of(call)?;
    let since = call.query("since").map(str::parse).transpose();
    let since = since.map_err(|_| Refusal::Invalid("since must be a number".to_owned()))?;
    Ok(json!({"lines": world.journal.read(platform, since.unwrap_or_default())}))
}

fn set_autopilot(world: &mut World, call: &Call) -> Answer {
    let request: Autopilot = read(call)?;
    if request.customers_cancel_percent > 100 || request.orders_per_minute > 60_000 {
        return Err(Refusal::Invalid(
            "percent ends at 100, orders at 60000 a minute".to_owned(),
        ));
    }
    world.pilot = (request.orders_per_minute > 0).then(|| Pilot::new(request, world.now()));
    Ok(json!(request))
}

fn advance_clock(world: &mut World, call: &Call) -> Answer {
    let body: Value = read(call)?;
    let seconds = body["advanceSeconds"]
        .as_u64()
        .and_then(|seconds| u32::try_from(seconds).ok());
    let seconds = seconds.ok_or_else(|| Refusal::Invalid("advanceSeconds must be a number".to_owned()))?;
    world.clock.advance(seconds);
    Ok(json!({"now": crate::clock::text(world.now())}))
}
