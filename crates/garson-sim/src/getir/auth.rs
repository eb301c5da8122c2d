//! Getir's login, its token header, and how often a token may call.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use super::{
    credentials::GetirCredentials,
    errors::{Answer, Refusal},
};
use crate::{call::Call, clock, limits::Limit, platform::Platform, store::Store, world::World};

const CONFIGURATION: Limit = Limit {
    calls: 2,
    seconds: 60,
    block_seconds: 30,
};
const CANCEL_OPTIONS: Limit = Limit {
    calls: 40,
    seconds: 600,
    block_seconds: 60,
};
/// For each item; sources differ on it.
const ITEM: Limit = Limit {
    calls: 3,
    seconds: 60,
    block_seconds: 20,
};
const OTHER: Limit = Limit {
    calls: 300,
    seconds: 60,
    block_seconds: 20,
};

pub(super) fn login(world: &mut World, call: &Call) -> Answer {
    let store = store_of_keys(world, &read(call)?)?;
    if !world.allow(format!("getir/login/{}", store.remote_id), OTHER) {
        return Err(Refusal::too_many());
    }
    let now = world.now();
    let until = clock::add_seconds(now, world.settings.getir_token_seconds);
    let token = format!("{}.{}", world.ids.hex(40), world.ids.hex(40));
    world
        .tokens
        .issue(Platform::Getir, &token, &store.remote_id, until, now);
    Ok(json!({"restaurantId": store.remote_id, "token": token}))
}

/// Reads or writes whether the restaurant takes orders over its integration. No token is asked for.
pub(super) fn pos_status(world: &mut World, call: &Call) -> Answer {
    let body = read(call)?;
    let store = store_of_keys(world, &body)?;
    if call.method == Method::PUT {
        let status = body["posStatus"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok());
        let status = status.filter(|status| [100, 200].contains(status));
        let status = status.ok_or_else(|| Refusal::invalid("posStatus must be 100 or 200"))?;
        let mut changed = Store::clone(&store);
        changed.quirks.pos_status = status;
        world.stores.insert(store.key(), Arc::new(changed));
        return Ok(json!({"posStatus": status}));
    }
    Ok(json!({"posStatus": store.quirks.pos_status}))
}

fn read(call: &Call) -> Result<Value, Refusal> {
    call.json().map_err(Refusal::invalid)
}

fn store_of_keys(world: &World, body: &Value) -> Result<Arc<Store>, Refusal> {
    let field = |name: &str| {
        let text = body[name].as_str().filter(|text| !text.trim().is_empty());
        text.map(str::trim)
            .ok_or_else(|| Refusal::invalid(format!("{name} is required")))
    };
    let (app, restaurant) = (field("appSecretKey")?, field("restaurantSecretKey")?);
    let has_keys = |store: &&Arc<Store>| {
        let keys = store.credentials.get::<GetirCredentials>();
        keys.is_some_and(|keys| keys.app_secret_key == app && keys.restaurant_secret_key == restaurant)
    };
    world
        .stores_of(Platform::Getir)
        .find(has_keys)
        .cloned()
        .ok_or_else(Refusal::app_not_found)
}

/// The restaurant that the token belongs to.
pub(super) fn check(world: &World, call: &Call) -> Result<(String, Arc<Store>), Refusal> {
    let token = call
        .header("token")
        .map(str::trim)
        .filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| Refusal::unauthorized("the header token is missing"))?;
    let owner = world.tokens.owner(Platform::Getir, token, world.now());
    let store = owner.and_then(|remote_id| world.store(Platform::Getir, &remote_id));
    let store = store.ok_or_else(|| Refusal::unauthorized("the token is not valid"))?;
    Ok((token.to_owned(), store))
}

/// Counts the call against the token's limits; the moves of an order are exempt.
pub(super) fn count(world: &mut World, token: &str, operation: &str, call: &Call) -> Result<(), Refusal> {
    if operation.ends_with("item-status") || operation == "set-option-status" {
        let path = call.segments.join("/");
        if !world.allow(format!("getir/{path}/{token}"), ITEM) {
            return Err(Refusal::too_many());
        }
    }
    let (bucket, limit) = match operation {
        "unapproved" | "cancelled" | "verify" | "prepare" | "handover" | "deliver" | "cancel" => {
            return Ok(());
        }
        "open" | "close" => ("status", CONFIGURATION),
        "working-hours" | "set-working-hours" => ("working-hours", CONFIGURATION),
        "menu" | "option-products" | "restaurant" | "busyness" => (operation, CONFIGURATION),
        "cancel-options" => (operation, CANCEL_OPTIONS),
        _ => ("other", OTHER),
    };
    if world.allow(format!("getir/{bucket}/{token}"), limit) {
        Ok(())
    } else {
        Err(Refusal::too_many())
    }
}
