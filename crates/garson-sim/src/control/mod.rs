//! The control API: acts as customers, couriers and the operator of the simulator, and orders faults.

mod input;
mod orders;
mod shops;

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, StatusCode, header};
use serde_json::{Value, json};

use self::input::{Answer, platform_of, read};
use crate::{
    autopilot_plan::AutopilotPlan,
    call::{Call, Reply},
    refusal::Refusal,
    registry, sender,
    shared::Shared,
    store::Store,
    views::{Autopilot, FaultRequest, Health, StoreRequest},
    world::World,
};

pub(crate) fn answer(shared: &Arc<Shared>, call: &Call) -> Reply {
    let mut world = shared.world();
    let parts = call.parts();
    let method = call.method.as_str();
    let answer = match (method, parts.as_slice()) {
        ("GET", ["health"]) => Ok(health(&world)),
        ("PUT", ["stores"]) => put_store(&mut world, call),
        ("GET", ["stores"]) => Ok(list_stores(&world)),
        (_, ["stores", platform, remote_id, rest @ ..]) => {
            shops::answer(&mut world, call, platform, remote_id, rest)
        }
        ("GET", ["counts"]) => {
            platform_of(call).map(|platform| json!({"counts": world.journal.counts(platform)}))
        }
        ("POST", ["faults"]) => order_fault(&mut world, call),
        ("GET", ["faults"]) => Ok(json!({"faults": world.faults.list()})),
        ("DELETE", ["faults"]) => {
            world.faults.clear();
            drop(world);
            sender::release_held(shared, None);
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
    sender::start(shared, &mut world);
    match answer {
        Ok(body) => Reply::ok(&body),
        Err(refusal) => refused(refusal),
    }
}

/// Whether the request comes from a web page of another origin. Browsers send the page's origin; a DNS rebinding attack shows
/// in the host name.
pub(crate) fn is_foreign(headers: &HeaderMap, is_local: bool) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = text(header::HOST).unwrap_or_default();
    if let Some(origin) = text(header::ORIGIN) {
        let asked = origin.split_once("://").map(|(_, host)| host);
        if asked != Some(host) {
            return true;
        }
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    is_local && name != "localhost" && name.parse::<IpAddr>().is_err()
}

fn refused(refusal: Refusal) -> Reply {
    let (status, message) = match refusal {
        Refusal::Invalid(message) => (StatusCode::UNPROCESSABLE_ENTITY, message),
        Refusal::NotFound(message) => (StatusCode::NOT_FOUND, message),
        Refusal::Conflict(message) => (StatusCode::CONFLICT, message),
    };
    Reply::json(status, &json!({"error": message}))
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
    let simulated = registry::of(request.platform);
    let remote_id = simulated.store_id(&request.remote_id).to_owned();
    let credentials = simulated.credentials(request.credentials.clone());
    let store = credentials.and_then(|credentials| Store::new(request, remote_id, credentials));
    let store = store.map_err(Refusal::Invalid)?;
    let view = store.view();
    world.stores.insert(store.key(), Arc::new(store));
    Ok(json!(view))
}

fn list_stores(world: &World) -> Value {
    json!({"stores": world.stores.values().map(|store| store.view()).collect::<Vec<_>>()})
}

fn order_fault(world: &mut World, call: &Call) -> Answer {
    let request: FaultRequest = read(call)?;
    let known = registry::of(request.platform).operations();
    world
        .faults
        .order(request.clone(), known)
        .map_err(Refusal::Invalid)?;
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
    world.autopilot = (request.orders_per_minute > 0).then(|| AutopilotPlan::new(request, world.now()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_from_elsewhere_are_foreign_and_programs_are_not() {
        for (host, origin, is_local, foreign) in [
            ("127.0.0.1:8090", None, true, false),
            ("localhost:8090", None, true, false),
            ("[::1]:8090", None, true, false),
            ("127.0.0.1:8090", Some("http://127.0.0.1:8090"), true, false),
            ("127.0.0.1:8090", Some("https://evil.example"), true, true),
            ("127.0.0.1:8090", Some("null"), true, true),
            // DNS rebinding.
            ("evil.example:8090", None, true, true),
            ("evil.example:8090", Some("http://evil.example:8090"), true, true),
            // Beside other containers it has a name.
            ("sim:8090", None, false, false),
            ("sim:8090", Some("https://evil.example"), false, true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(is_foreign(&headers, is_local), foreign, "{host} {origin:?}");
        }
    }
}
